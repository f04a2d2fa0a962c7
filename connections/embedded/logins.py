"""The database logins of the embedded PostgreSQL and their stored passwords."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict

from connections.embedded.errors import EmbeddedError

DATABASE = "fabric"
DEMO_DATABASE = "fabric_demo"
NAMES = {
    "superuser": "fabric_superuser",
    "owner": "fabric_owner",
    "app": "fabric_app",
    "reader": "fabric_reader",
}


@dataclass(frozen=True, slots=True)
class Login:
    """A database user and its password, which `repr` leaves out."""

    name: str
    password: str = field(repr=False)


class Logins(TypedDict):
    """Who may log in: `superuser` prepares, `owner` migrates, `app` serves."""

    superuser: Login
    owner: Login
    app: Login
    reader: Login


def generate() -> dict[str, str]:
    """Return a new random password for every login."""
    return {role: secrets.token_urlsafe(32) for role in NAMES}


def load(passwords: Path) -> Logins:
    """Return the stored logins; the file lies beside the data, readable by us alone."""
    try:
        stored = json.loads(passwords.read_text())
        return Logins(
            superuser=Login(NAMES["superuser"], stored["superuser"]),
            owner=Login(NAMES["owner"], stored["owner"]),
            app=Login(NAMES["app"], stored["app"]),
            reader=Login(NAMES["reader"], stored["reader"]),
        )
    except (FileNotFoundError, ValueError, KeyError, TypeError) as error:
        raise EmbeddedError(
            f"{passwords} is missing or damaged, and without its passwords the data "
            f"beside it cannot be read: restore it, or move {passwords.parent} away to "
            "begin empty."
        ) from error
