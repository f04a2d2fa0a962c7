"""The keys of an installation: generated once, kept in `var/secrets.env`."""

from __future__ import annotations

import base64
import os
import secrets
from collections.abc import Callable
from pathlib import Path

from connections.embedded.errors import EmbeddedError
from connections.embedded.paths import Place, make_open, var_folder
from connections.embedded.processes import exclusive, explained, say


def field_key() -> str:
    """Return one `keyid:base64(32 random bytes)`."""
    key = base64.b64encode(secrets.token_bytes(32)).decode()
    return f"{secrets.token_hex(4)}:{key}"


GENERATED: dict[str, Callable[[], str]] = {
    "SECRET_KEY": lambda: secrets.token_urlsafe(50),
    "FIELD_ENCRYPTION_KEYS": field_key,
}


def ensure_secrets(path: Path | None = None) -> dict[str, str]:
    """Return SECRET_KEY and FIELD_ENCRYPTION_KEYS; what is missing is generated once.

    Variables of the environment win; with both set, no file is read or made.
    """
    given = {name: value for name in GENERATED if (value := os.environ.get(name))}
    if len(given) == len(GENERATED):
        return given
    path = path or var_folder() / "secrets.env"
    with explained(Place(path, None)):
        return {**_stored(path, set(GENERATED) - set(given)), **given}


def _stored(path: Path, wanted: set[str]) -> dict[str, str]:
    stored = _read(path)
    if wanted <= set(stored):
        return stored
    make_open(path.parent)
    with exclusive(path.with_suffix(".lock")):
        stored = _read(path)
        made = {name: GENERATED[name]() for name in GENERATED if name not in stored}
        made = {name: value for name, value in made.items() if name in wanted}
        if made:
            stored |= made
            _write(path, stored)
            say(
                f"{path} now holds the keys of this installation: whoever loses it "
                "loses the stored credentials. Keep a copy, apart from the database."
            )
    return stored


def _read(path: Path) -> dict[str, str]:
    try:
        lines = path.read_text().splitlines()
    except FileNotFoundError:
        return {}
    pairs = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith("#"):
            continue
        name, equals, value = line.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise EmbeddedError(f"{path}, line {number}: expected NAME=VALUE.")
        pairs[name.strip()] = value.strip()
    return pairs


def _write(path: Path, pairs: dict[str, str]) -> None:
    aside = path.with_suffix(".new")
    aside.unlink(missing_ok=True)
    aside.touch(mode=0o600)
    with aside.open("w") as file:
        file.writelines(f"{name}={value}\n" for name, value in pairs.items())
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)
