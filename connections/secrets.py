"""Secrets at rest: encrypted for one row each, shown to nobody, keys rotated by a ring.

A value is JSON, encrypted by AES-256-CBC with an HMAC under a key derived from a key of
the ring and from the place of the value (tenant, table, column, row): copied to another
row it is worth nothing. Stored is `keyid:base64`.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django import forms
from django.apps import apps
from django.conf import settings
from django.core import checks
from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.core.signing import BadSignature
from django.db import models
from django.db.models.query_utils import DeferredAttribute
from django_cryptography.core.signing import FernetSigner
from django_cryptography.utils.crypto import FernetBytes, InvalidToken

from connections.records import JSON

KEY_BYTES = 32
SEALED = re.compile(r"[A-Za-z0-9_-]{1,32}:[A-Za-z0-9+/]+={0,2}")


class SecretError(Exception):
    """A secret that cannot be read or written; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a secret is stored; only there can it be read."""

    tenant: int
    table: str
    column: str
    row: str

    @property
    def info(self) -> bytes:
        return f"{self.tenant}|{self.table}|{self.column}|{self.row}".encode()

    def __str__(self) -> str:
        return f"{self.table}.{self.column} of row {self.row}"


@lru_cache(maxsize=4)
def _ring(entries: tuple[str, ...]) -> dict[str, bytes]:
    """Return the keys by their id, the one that encrypts first."""
    keys: dict[str, bytes] = {}
    for number, entry in enumerate(entries, start=1):
        name, _, encoded = entry.partition(":")
        try:
            key = base64.b64decode(encoded, validate=True)
        except (binascii.Error, ValueError):
            key = b""
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,32}", name) or len(key) != KEY_BYTES:
            raise ImproperlyConfigured(
                f"FIELD_ENCRYPTION_KEYS, entry {number}: expected "
                f"keyid:base64({KEY_BYTES} bytes)."
            )
        if name in keys:
            raise ImproperlyConfigured(
                f"FIELD_ENCRYPTION_KEYS names the key {name} twice."
            )
        keys[name] = key
    if not keys:
        raise ImproperlyConfigured("FIELD_ENCRYPTION_KEYS holds no key.")
    return keys


def ring() -> dict[str, bytes]:
    """Return the keys of the settings by their id; the first one encrypts."""
    return _ring(tuple(settings.FIELD_ENCRYPTION_KEYS))


def newest_key() -> str:
    """Return the id of the key that encrypts."""
    return next(iter(ring()))


def _cipher(master: bytes, place: Place) -> FernetBytes:
    derived = HKDF(SHA256(), 2 * KEY_BYTES, salt=None, info=place.info).derive(master)
    return FernetBytes(derived[:KEY_BYTES], FernetSigner(derived[KEY_BYTES:]))


def encrypt(value: JSON, place: Place) -> str:
    """Return `value` as ciphertext that can be read at `place` only."""
    name, master = next(iter(ring().items()))
    sealed = _cipher(master, place).encrypt(json.dumps(value).encode())
    return f"{name}:{base64.b64encode(sealed).decode()}"


def decrypt(sealed: str, place: Place) -> JSON:
    """Return what `encrypt` was given, or raise `SecretError`."""
    name, _, encoded = sealed.partition(":")
    if (master := ring().get(name)) is None:
        raise SecretError(
            f"The secret in {place} was encrypted with the key {name}, which "
            "FIELD_ENCRYPTION_KEYS no longer holds: put it back, or enter the secret "
            "anew."
        )
    try:
        raw = _cipher(master, place).decrypt(base64.b64decode(encoded, validate=True))
    except (BadSignature, InvalidToken, ValueError) as error:
        raise SecretError(
            f"The secret in {place} does not open with the key {name}: the key is "
            "another one of that name, or the secret was copied from elsewhere or "
            "damaged. Enter it anew."
        ) from error
    value: JSON = json.loads(raw)
    return value


class Secret:
    """A value that only `reveal()` shows: no text, repr, JSON or pickle of it holds it."""

    __slots__ = ("_place", "_plain", "_sealed")

    def __init__(self, value: JSON) -> None:
        self._plain: tuple[JSON] | None = (value,)
        self._sealed: str = ""
        self._place: Place | None = None

    @classmethod
    def stored(cls, sealed: str, place: Place | None = None) -> Secret:
        """Return a secret as it lies in the database."""
        secret = cls(None)
        secret._plain, secret._sealed, secret._place = None, sealed, place
        return secret

    def at(self, place: Place) -> Secret:
        """Return this secret as one of that place."""
        return self if self._plain is not None else Secret.stored(self._sealed, place)

    def reveal(self) -> Any:
        """Return the value, or raise `SecretError`."""
        if self._plain is not None:
            return self._plain[0]
        if self._place is None:
            raise SecretError("Load the whole row: a secret is read from its row.")
        return decrypt(self._sealed, self._place)

    def sealed(self, place: Place) -> str:
        """Return the ciphertext for `place`; a stored one stays as it is."""
        return encrypt(self._plain[0], place) if self._plain else self._sealed

    @property
    def ciphertext(self) -> str:
        """Return the ciphertext; a value that was never stored has none."""
        if self._plain is not None:
            raise SecretError("This secret was not stored yet: save its row.")
        return self._sealed

    @property
    def key_id(self) -> str:
        return self.ciphertext.partition(":")[0]

    def __repr__(self) -> str:
        return "<a secret>"

    def __reduce__(self) -> Any:
        raise TypeError("A secret is not pickled: send the id of its row.")


class _SecretAttribute(DeferredAttribute):
    """The attribute of an encrypted field: a `Secret` that knows its row, or None."""

    def __get__(self, instance: Any, cls: Any = None) -> Any:
        if instance is None:
            return self
        field: EncryptedField = self.field  # type: ignore[assignment] # its own
        if field.attname not in instance.__dict__:
            super().__get__(instance, cls)
        secret = instance.__dict__[field.attname]
        is_secret = isinstance(secret, Secret)
        return secret.at(field.place_of(instance)) if is_secret else secret

    def __set__(self, instance: Any, value: Any) -> None:
        instance.__dict__[self.field.attname] = value


class SecretFormField(forms.CharField):
    """A secret to enter: what is set is never shown, what is left empty is kept."""

    widget = forms.PasswordInput(render_value=False)

    def prepare_value(self, value: object) -> str:
        return ""

    def has_changed(self, initial: object, data: object) -> bool:
        return bool(data)


class EncryptedField(models.TextField):
    """A `Secret` of a row that has a UUID and a tenant; "" and None are no secret.

    It is written by saving its row, and not filtered by. Forms never show it, and
    exports hold its ciphertext.
    """

    description = "An encrypted value"
    descriptor_class = _SecretAttribute

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "null": True, "blank": True})

    def deconstruct(self) -> Any:
        name, path, args, kwargs = super().deconstruct()
        del kwargs["null"], kwargs["blank"]
        return name, path, args, kwargs

    def check(self, **kwargs: Any) -> list[checks.CheckMessage]:
        fields = {field.name for field in self.model._meta.get_fields()}
        is_bound = isinstance(self.model._meta.pk, models.UUIDField)
        if is_bound and "tenant" in fields:
            return super().check(**kwargs)
        wrong = "An encrypted value needs a row with a UUID and a tenant."
        return [
            *super().check(**kwargs),
            checks.Error(wrong, obj=self, id="connections.E001"),
        ]

    def place_of(self, instance: models.Model) -> Place:
        return Place(
            instance.tenant_id,  # type: ignore[attr-defined] # checked above
            instance._meta.db_table,
            str(self.column),
            str(instance.pk),
        )

    def from_db_value(self, value: str | None, *_: Any) -> Secret | None:
        return Secret.stored(value) if value else None

    def to_python(self, value: Any) -> Secret | None:
        if value is None or value == "" or isinstance(value, Secret):
            return value or None
        # What an export holds; anything else would be a plain text in a file.
        if isinstance(value, str) and SEALED.fullmatch(value):
            return Secret.stored(value)
        raise ValidationError("A secret is exported and imported as its ciphertext.")

    def pre_save(self, model_instance: models.Model, add: bool) -> Any:
        secret = getattr(model_instance, self.attname)
        if not isinstance(secret, Secret):
            return secret
        place = self.place_of(model_instance)
        stored = Secret.stored(secret.sealed(place), place)
        setattr(model_instance, self.attname, stored)
        return stored

    def get_prep_value(self, value: Any) -> str | None:
        if value is None or value == "":
            return None
        if not isinstance(value, Secret):
            raise TypeError(f"{self.name} takes a Secret, so that no text slips in.")
        return value.ciphertext

    def get_lookup(self, lookup_name: str) -> Any:
        """Only whether there is one can be asked."""
        return super().get_lookup(lookup_name) if lookup_name == "isnull" else None

    def value_to_string(self, obj: models.Model) -> str:
        return self.get_prep_value(self.value_from_object(obj)) or ""

    def save_form_data(self, instance: models.Model, data: Any) -> None:
        """Take a new secret; an empty field leaves the one that is there."""
        if data:
            setattr(instance, self.attname, Secret(data))

    def formfield(self, **kwargs: Any) -> Any:
        return SecretFormField(
            required=False,
            label=kwargs.get("label", self.verbose_name),
            help_text=kwargs.get("help_text", self.help_text),
            **({"widget": kwargs["widget"]} if "widget" in kwargs else {}),
        )


def encrypted_fields() -> Iterator[tuple[type[models.Model], EncryptedField]]:
    """Yield every encrypted field of the installation with its model."""
    for model in apps.get_models():
        for field in model._meta.get_fields():
            if isinstance(field, EncryptedField):
                yield model, field
