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
    return [int(session[0]) for session in sessions_of(target, user)]


def sessions_of(target: Target, user: str) -> list[tuple[object, ...]]:
    """Return the sessions of a login: their numbers first, then what they are at."""
    connection = target.admin()
    cursor = connection.cursor()
    try:
        if target.engine == "postgres":
            cursor.execute(
                "SELECT pid, state, wait_event, backend_type, left(query, 80),"
                " clock_timestamp() - state_change FROM pg_stat_activity"
                " WHERE usename = %s"
                " AND pid <> pg_backend_pid() AND datname = current_database()",
                (user,),
            )
        else:
            cursor.execute(
                "SELECT id, command, state, time, left(info, 80)"
                " FROM information_schema.processlist WHERE user = %s"
                " AND id <> CONNECTION_ID()",
                (user,),
            )
        return [tuple(row) for row in cursor.fetchall()]
    finally:
        connection.close()


def await_no_sessions(target: Target, user: str, seconds: float = 5) -> None:
    """Fail unless all sessions of a login end by themselves soon."""
    deadline = time.monotonic() + seconds
    while (left := sessions_of(target, user)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left == [], f"left on {target.engine} after {seconds} s: {left}"


@contextmanager
def within(seconds: float) -> Iterator[None]:
    started = time.monotonic()
    yield
    took = time.monotonic() - started
    assert took < seconds, f"it took {took:.2f} s, not under {seconds} s"
