"""Connections to databases that are asked: opened as their rows say, never pooled.

Only the keyword arguments built here reach a driver, and only addresses that were
checked are connected to.
"""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.views.decorators.debug import sensitive_variables

from connections.databases import opening
from connections.databases.base import DatabaseError, Flavour
from connections.databases.failures import NotOpened, Unfit, Unreachable
from connections.databases.fields import check_fields
from connections.databases.serving import Serving, mysql_serving, postgres_serving
from connections.databases.targets import checked_addresses
from connections.models import Database
from connections.secrets import Secret, SecretError

CONNECT_SECONDS = 5
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Opened:
    """A connection by the engine's own driver, and what the server says it is."""

    raw: Any
    flavour: Flavour
    version: str

    def read(
        self, statement: str, values: Mapping[str, Any] | Sequence[Any] = ()
    ) -> list[tuple[Any, ...]]:
        """Return the rows of a statement of our own, such as one over a catalogue."""
        cursor = self.raw.cursor()
        try:
            cursor.execute(statement, values or None)
            return [tuple(row) for row in cursor.fetchall()]
        finally:
            cursor.close()

    def close(self) -> None:
        self.raw.close()


def open_connection(database: Database, *, seconds: float = CONNECT_SECONDS) -> Opened:
    """Return a new connection; whoever asks for it closes it.

    Raises `DatabaseError`, whose message holds no address and no secret: one that could
    not be reached (`Unreachable`), lets nobody in, does not encrypt, or is `Unfit`,
    which is a superuser's login too. What the server is is noted in the row.
    """
    try:
        opened = reach(database, seconds=seconds)
        try:
            serving = serving_of(database, opened, seconds=seconds)
            refuse_unfit(database, serving)
        except BaseException:
            opened.close()
            raise
    except NotOpened as error:
        log.warning("Database %s: %s", database.pk, error.why or error)
        raise
    note(database, opened, serving)
    return opened


def reach(database: Database, *, seconds: float = CONNECT_SECONDS) -> Opened:
    """Return a connection, whatever its login may do: only to look at that.

    Everything but a login that may too much is refused here as in `open_connection`.
    """
    deadline = time.monotonic() + seconds
    check_fields(
        {name: getattr(database, name) for name in ("host", "database", "user")}
    )
    secret_of(database)
    failed: NotOpened | None = None
    for address in checked_addresses(database, seconds=seconds):
        left = deadline - time.monotonic()
        if left <= 0:
            break
        try:
            raw = _open(database, address, left)
        except Unreachable as error:
            failed = error
            continue
        return Opened(raw, *_self_description(database, raw))
    raise failed or Unreachable(database, "It did not answer in time.")


def secret_of(database: Database) -> None:
    """Raise `DatabaseError` where the stored password cannot be read."""
    reason = ""
    try:
        password_of(database)
    except SecretError as error:
        reason = str(error)
    if reason:
        raise DatabaseError(reason)


@sensitive_variables()
def password_of(database: Database) -> str:
    """Return the login's password; empty where there is none."""
    secret: Secret | None = database.password  # type: ignore[assignment] # its field
    return str(secret.reveal()) if secret else ""


def serving_of(database: Database, opened: Opened, *, seconds: float) -> Serving:
    """Return how the server serves this connection."""
    with cut_after(opened.raw, seconds) as cut:
        try:
            if opened.flavour == "postgres":
                return postgres_serving(opened.read)
            return mysql_serving(opened.read, flavour=opened.flavour)
        except opening.driver_errors(database.engine) as error:
            why = "It stopped answering." if cut.is_set() else str(error)[:300]
    raise Unreachable(database, why)


def refuse_unfit(database: Database, serving: Serving) -> None:
    """Raise `Unfit` for settings that change how SQL reads, and for superusers."""
    if serving.unusual:
        raise Unfit(
            f"{database} is set so that SQL reads differently there: "
            f"{' '.join(serving.unusual)} Nothing is asked of it until that is changed."
        )
    was_found = bool(database.test_report.get("is_superuser"))
    if (serving.is_superuser or was_found) and not may_be_superuser(database):
        raise Unfit(
            f"The login of {database} may do everything on its server. Give Fabric one "
            "that only reads; the connection's test shows the statements."
        )


def may_be_superuser(database: Database) -> bool:
    """Return whether the row and the operator both allow a superuser's login."""
    return database.superuser_allowed and bool(settings.FABRIC["DATABASE_SUPERUSERS"])


def note(database: Database, opened: Opened, serving: Serving) -> None:
    """Write what the server is into the database's row, where that changed."""
    now = {
        "flavour": opened.flavour,
        "version": opened.version[:64],
        "default_schema": serving.schema[:128],
    }
    if all(getattr(database, name) == value for name, value in now.items()):
        return
    for name, value in now.items():
        setattr(database, name, value)
    Database.objects.filter(pk=database.pk).update(**now)


@contextmanager
def cut_after(raw: Any, seconds: float) -> Iterator[threading.Event]:
    """Cut a connection that is still waited for after `seconds`; the event says so.

    Drivers wait for an answer as long as the other side keeps the connection open.
    """
    is_cut = threading.Event()
    with socket.socket(fileno=opening.duplicate(raw)) as line:

        def cut() -> None:
            is_cut.set()
            with suppress(OSError):  # the other side was quicker
                line.shutdown(socket.SHUT_RDWR)

        timer = threading.Timer(seconds, cut)
        timer.daemon = True
        timer.start()
        try:
            yield is_cut
        finally:
            timer.cancel()
            timer.join()


def _open(database: Database, address: str, seconds: float) -> Any:
    if database.engine == Database.Engine.POSTGRES:
        return opening.open_postgres(database, address, seconds, password_of)
    return opening.open_mysql(database, address, seconds, password_of)


def _self_description(database: Database, raw: Any) -> tuple[Flavour, str]:
    if database.engine == Database.Engine.POSTGRES:
        version = raw.info.server_version
        return "postgres", f"{version // 10000}.{version % 10000}"
    said = raw.get_server_info()
    # MariaDB before 11 calls itself 5.5.5-10.x so that old replicas take it.
    version = said.removeprefix("5.5.5-").partition("-")[0]
    return ("mariadb" if "mariadb" in said.lower() else "mysql"), version
