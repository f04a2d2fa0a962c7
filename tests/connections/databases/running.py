"""What tests of runs share: statements as the guard writes them, and what is left."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from connections.databases.base import Cell, Guarded, Rows
from connections.databases.runner import run
from connections.models import Database
from tests.targets import Target


def guarded(sql: str, *, limit: int = 1000, **fields: object) -> Guarded:
    """Return `sql` as if a guard had let it through: it has none here."""
    return Guarded(sql=sql, original=sql, limit=limit, **fields)


def ask(
    database: Database, sql: str, *, values: Sequence[Cell] = (), **fields: object
) -> Rows:
    """Return what `sql` gives; `fields` are the guard's."""
    return run(database, guarded(sql, **fields), user=None, values=values)


def sessions(target: Target, user: str) -> int:
    """Return how many sessions of a login the server has."""
    return len(session_ids(target, user))


def session_ids(target: Target, user: str) -> list[int]:
    connection = target.admin()
    cursor = connection.cursor()
    try:
        if target.engine == "postgres":
            cursor.execute(
                "SELECT pid FROM pg_stat_activity WHERE usename = %s"
                " AND pid <> pg_backend_pid() AND datname = current_database()",
                (user,),
            )
        else:
            cursor.execute(
                "SELECT id FROM information_schema.processlist WHERE user = %s"
                " AND id <> CONNECTION_ID()",
                (user,),
            )
        return [row[0] for row in cursor.fetchall()]
    finally:
        connection.close()


def await_no_sessions(target: Target, user: str, seconds: float = 5) -> None:
    """Fail unless all sessions of a login end by themselves soon."""
    deadline = time.monotonic() + seconds
    while (left := sessions(target, user)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left == 0, f"{left} sessions of {user} were left on {target.engine}"


@contextmanager
def within(seconds: float) -> Iterator[None]:
    started = time.monotonic()
    yield
    took = time.monotonic() - started
    assert took < seconds, f"it took {took:.2f} s, not under {seconds} s"
