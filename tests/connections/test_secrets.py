"""Secrets at rest: readable in their row alone, shown nowhere, rotated by a ring."""

from __future__ import annotations

import base64
import json
import logging
import pickle
from io import StringIO

import pytest
from django.core import serializers
from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from hypothesis import given
from hypothesis import strategies as st
from rest_framework.serializers import ModelSerializer

from connections import rotation
from connections.api import serializers as api  # noqa: F401 - registers the field
from connections.models import Audit, ModelCredential
from connections.secrets import (
    Place,
    Secret,
    SecretError,
    decrypt,
    encrypt,
    encrypted_fields,
)

OLD = f"old:{base64.b64encode(b'o' * 32).decode()}"
NEW = f"new:{base64.b64encode(b'n' * 32).decode()}"
HERE = Place(1, "things", "key", "8d0f0f5e-0000-4000-8000-000000000001")
PLAIN = "sk-very-secret-text"


@pytest.fixture(autouse=True)
def _keys(settings):
    settings.FIELD_ENCRYPTION_KEYS = (OLD,)


def make_credential(project, **fields):
    fields = {"provider": "anthropic", "key": Secret(PLAIN), **fields}
    return ModelCredential.objects.create(
        **{"tenant": project.tenant, "project": project, **fields}
    )


def stored(credential) -> str:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.key FROM model_credentials c WHERE c.id = %s", [credential.pk]
        )
        return cursor.fetchone()[0]


class TestCiphers:
    @given(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
            max_leaves=8,
        )
    )
    def test_any_json_comes_back(self, value):
        sealed = encrypt(value, HERE)
        assert sealed.startswith("old:")
        assert decrypt(sealed, HERE) == value

    def test_the_same_value_is_never_stored_alike(self):
        assert encrypt(PLAIN, HERE) != encrypt(PLAIN, HERE)

    @pytest.mark.parametrize(
        "elsewhere",
        [
            Place(2, HERE.table, HERE.column, HERE.row),
            Place(1, "others", HERE.column, HERE.row),
            Place(1, HERE.table, "password", HERE.row),
            Place(1, HERE.table, HERE.column, HERE.row[:-1] + "2"),
        ],
    )
    def test_it_opens_in_its_own_place_alone(self, elsewhere):
        with pytest.raises(SecretError, match="copied from elsewhere"):
            decrypt(encrypt(PLAIN, HERE), elsewhere)

    def test_a_changed_letter_does_not_open(self):
        name, _, encoded = encrypt(PLAIN, HERE).partition(":")
        raw = bytearray(base64.b64decode(encoded))
        for place in (0, 20, len(raw) // 2, len(raw) - 1):
            changed = raw.copy()
            changed[place] ^= 1
            with pytest.raises(SecretError):
                decrypt(f"{name}:{base64.b64encode(changed).decode()}", HERE)

    def test_another_key_of_that_name_does_not_open(self, settings):
        sealed = encrypt(PLAIN, HERE)
        settings.FIELD_ENCRYPTION_KEYS = (NEW.replace("new", "old"),)
        with pytest.raises(SecretError, match="another one of that name"):
            decrypt(sealed, HERE)

    def test_a_key_that_is_gone_is_named(self, settings):
        sealed = encrypt(PLAIN, HERE)
        settings.FIELD_ENCRYPTION_KEYS = (NEW,)
        with pytest.raises(SecretError, match="the key old, which FIELD_ENC"):
            decrypt(sealed, HERE)

    def test_it_outlives_the_secret_key_of_the_site(self, settings):
        sealed = encrypt(PLAIN, HERE)
        settings.SECRET_KEY = "another"
        assert decrypt(sealed, HERE) == PLAIN

    @pytest.mark.parametrize(
        "keys",
        [
            (),
            ("nothing",),
            ("a:short",),
            ("a:" + base64.b64encode(b"x" * 31).decode(),),
            ("a b:" + base64.b64encode(b"x" * 32).decode(),),
            (OLD, OLD),
        ],
    )
    def test_a_ring_that_is_none_says_so(self, settings, keys):
        settings.FIELD_ENCRYPTION_KEYS = keys
        with pytest.raises(
            ImproperlyConfigured, match="FIELD_ENCRYPTION_KEYS"
        ) as error:
            encrypt(PLAIN, HERE)
        assert base64.b64encode(b"x" * 31).decode() not in str(error.value)


@pytest.mark.django_db
class TestFields:
    def test_a_row_keeps_a_secret_and_gives_it_back(self, project):
        credential = make_credential(project)
        assert PLAIN not in stored(credential)
        again = ModelCredential.objects.get()
        assert again.key.reveal() == credential.key.reveal() == PLAIN
        assert again.access.key == PLAIN

    def test_saving_it_again_leaves_the_ciphertext(self, project):
        credential = make_credential(project)
        before = stored(credential)
        again = ModelCredential.objects.get()
        again.chat_model = "other"
        again.save()
        assert stored(credential) == before

    def test_no_secret_is_null(self, project):
        credential = make_credential(project, key=None)
        assert stored(credential) is None
        assert ModelCredential.objects.get().key is None

    def test_a_ciphertext_copied_to_another_row_does_not_open(
        self, project, other_project
    ):
        one, other = make_credential(project), make_credential(other_project)
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE model_credentials SET key = %s WHERE id = %s",
                [stored(one), other.pk],
            )
        with pytest.raises(SecretError, match=str(other.pk)):
            ModelCredential.objects.get(pk=other.pk).key.reveal()

    def test_it_is_nowhere_to_be_read(self, project, caplog):
        credential = make_credential(project)
        fresh = Secret(PLAIN)
        for secret in (credential.key, fresh, ModelCredential.objects.get().key):
            logging.getLogger("x").error("%s %r", secret, {"key": secret})
            said = f"{secret} {secret!r} {vars(credential)}"
            assert PLAIN not in said + caplog.text
            with pytest.raises(TypeError):
                json.dumps(secret)
            with pytest.raises(TypeError, match="send the id of its row"):
                pickle.dumps(secret)
        assert PLAIN not in repr(credential.access)

    @pytest.mark.parametrize("how", ["json", "python", "xml"])
    def test_an_export_holds_ciphertext_and_comes_back(self, project, how):
        credential = make_credential(project)
        exported = serializers.serialize(how, [credential])
        assert PLAIN not in str(exported)
        assert stored(credential) in str(exported)
        credential.delete()
        for row in serializers.deserialize(how, exported):
            row.save()
        assert ModelCredential.objects.get().key.reveal() == PLAIN

    def test_a_plain_text_does_not_slip_in(self, project):
        credential = make_credential(project)
        with pytest.raises(TypeError, match="takes a Secret"), transaction.atomic():
            ModelCredential.objects.update(key=PLAIN)
        with pytest.raises(SecretError, match="save its row"), transaction.atomic():
            ModelCredential.objects.update(key=Secret(PLAIN))
        credential.key = PLAIN
        with pytest.raises(TypeError), transaction.atomic():
            credential.save()
        with pytest.raises(ValidationError, match="as its ciphertext"):
            credential.full_clean()
        assert ModelCredential.objects.get().key.reveal() == PLAIN

    def test_the_api_takes_it_and_never_gives_it(self, project):
        class Credentials(ModelSerializer):
            class Meta:
                model = ModelCredential
                fields = ("provider", "key")

        credential = make_credential(project)
        assert Credentials(credential).data == {"provider": "anthropic"}
        sent = Credentials(credential, {"key": "sk-new"}, partial=True)
        assert sent.is_valid()
        assert "sk-new" not in repr(sent.validated_data)
        sent.save()
        assert ModelCredential.objects.get().key.reveal() == "sk-new"
        assert sent.data == {"provider": "anthropic"}

    def test_only_whether_there_is_one_can_be_asked(self, project):
        make_credential(project)
        assert ModelCredential.objects.filter(key__isnull=False).count() == 1
        with pytest.raises(Exception, match="Unsupported lookup"):
            ModelCredential.objects.filter(key__contains="a")

    def test_a_value_without_its_row_says_so(self, project):
        make_credential(project)
        (secret,) = ModelCredential.objects.values_list("key", flat=True)
        with pytest.raises(SecretError, match="Load the whole row"):
            secret.reveal()


@pytest.mark.django_db
class TestRotation:
    def rotate(self) -> str:
        out = StringIO()
        call_command("rotate_keys", stdout=out, stderr=out)
        return out.getvalue()

    def test_every_encrypted_field_is_found(self):
        assert (ModelCredential, "key") in [
            (model, field.name) for model, field in encrypted_fields()
        ]

    def test_the_newest_key_takes_over_and_the_old_one_may_go(
        self, project, other_project, settings, monkeypatch
    ):
        monkeypatch.setattr(rotation, "BATCH", 2)
        made = [
            make_credential(project, enabled=False, key=Secret(f"{PLAIN} {n}"))
            for n in range(5)
        ]
        make_credential(other_project, key=None)
        settings.FIELD_ENCRYPTION_KEYS = (NEW, OLD)
        assert self.rotate() == "Encrypted anew with the key new: 5.\n"
        assert self.rotate() == "Encrypted anew with the key new: 0.\n"
        settings.FIELD_ENCRYPTION_KEYS = (NEW,)
        for n, credential in enumerate(made):
            again = ModelCredential.objects.get(pk=credential.pk)
            assert (again.key.reveal(), again.key.key_id) == (f"{PLAIN} {n}", "new")
        assert Audit.objects.filter(verb="secrets.rotated").count() == 2

    def test_a_new_key_is_made_for_the_ring(self, settings):
        out = StringIO()
        call_command("rotate_keys", "--make-key", stdout=out)
        settings.FIELD_ENCRYPTION_KEYS = (out.getvalue().strip(), OLD)
        assert decrypt(encrypt(PLAIN, HERE), HERE) == PLAIN
        assert not Audit.objects.exists()

    def test_killed_in_between_it_goes_on(self, project, settings, monkeypatch):
        monkeypatch.setattr(rotation, "BATCH", 1)
        for _ in range(3):
            make_credential(project, enabled=False)
        settings.FIELD_ENCRYPTION_KEYS = (NEW, OLD)
        next(rotation.rotate())
        left = [c.key.key_id for c in ModelCredential.objects.all()]
        assert sorted(left) == ["new", "old", "old"]
        assert [why for _, why in rotation.rotate()] == ["", ""]

    def test_what_does_not_open_is_named_and_the_rest_goes_on(self, project, settings):
        bad = make_credential(project, enabled=False)
        good = make_credential(project)
        other = make_credential(project, enabled=False)
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE model_credentials SET key = %s WHERE id = %s",
                [stored(other), bad.pk],
            )
        settings.FIELD_ENCRYPTION_KEYS = (NEW, OLD)
        with pytest.raises(CommandError, match="1 could not be read"):
            self.rotate()
        assert ModelCredential.objects.get(pk=good.pk).key.key_id == "new"
        assert stored(bad).startswith("old:")
