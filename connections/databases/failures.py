"""How a run may fail; each message says what to do, and none holds an address."""

from __future__ import annotations

from connections.databases.base import DatabaseError

MESSAGE_MOST = 600


class TimedOut(DatabaseError):
    """The statement was ended, for it took longer than the database allows."""

    code = "database_timed_out"
    status_code = 504


class Cancelled(DatabaseError):
    """The statement was ended, for somebody asked for that."""

    code = "database_cancelled"
    status_code = 409


class Busy(DatabaseError):
    """As many statements as may run at once are running; later it goes."""

    code = "database_busy"
    status_code = 429


class Paused(DatabaseError):
    """The database failed again and again, and is left alone for a while."""

    code = "database_paused"
    status_code = 503


class RunFailed(DatabaseError):
    """The server refused the statement, in its own words, trimmed."""

    code = "database_run_failed"
    status_code = 422


class Lost(RunFailed):
    """The connection ended while the statement ran."""

    code = "database_lost"
    status_code = 502


def trimmed(message: str) -> str:
    """Return what a server said without its control characters, and not all of it."""
    text = "".join(c if c.isprintable() else " " for c in message)
    text = " ".join(text.split())
    is_long = len(text) > MESSAGE_MOST
    return text[:MESSAGE_MOST] + "…" if is_long else text or "It gave no reason."
