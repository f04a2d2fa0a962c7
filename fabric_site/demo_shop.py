"""The demo company's database, loaded and connected to the demo project."""

from __future__ import annotations

from typing import Any

from django.conf import settings

from connections import embedded
from connections.databases.changing import keep_database, public_audience
from connections.demo.generate import script_text
from connections.demo.loading import load_script
from connections.models import Database, Project
from connections.secrets import Secret, SecretError

NAME = "shop"


def connect_demo(demo: Project) -> Database | None:
    """Return the connection `shop`, made, or repaired where the server has moved.

    On a PostgreSQL of one's own there is no demo database, and None is returned.
    """
    reader: dict[str, Any] | None = settings.FABRIC["DEMO_DATABASE"]
    if reader is None:
        return None
    owner = {**settings.DATABASES["owner"], "NAME": embedded.DEMO_DATABASE}
    load_script(owner, script_text(), reader=reader["USER"])
    before = Database.objects.filter(project=demo, name=NAME).first()
    wanted = {
        "engine": Database.Engine.POSTGRES,
        "host": reader["HOST"],
        "port": int(reader["PORT"]),
        "database": reader["NAME"],
        "user": reader["USER"],
    }
    if before and _is_as(before, wanted) and _opens(before, reader["PASSWORD"]):
        return before
    database = before or Database(
        tenant_id=demo.tenant_id,
        project=demo,
        audience=public_audience(demo),
        name=NAME,
        title="Tarnwick's shop",
        encryption=Database.Encryption.OFF,
    )
    for name, value in wanted.items():
        setattr(database, name, value)
    database.password = Secret(reader["PASSWORD"])  # type: ignore[assignment] # its field
    keep_database(database, before, by=None, fields=(*wanted, "password"))
    return database


def _is_as(database: Database, wanted: dict[str, Any]) -> bool:
    return all(getattr(database, name) == value for name, value in wanted.items())


def _opens(database: Database, password: str) -> bool:
    secret: Any = database.password
    try:
        return secret is not None and bool(secret.reveal() == password)
    except SecretError:
        return False
