"""How opening a database and running a statement may fail.

Each message says what to do, and none holds an address: what staff may read besides is
`NotOpened.why`.
"""

from __future__ import annotations

from connections.databases.base import DatabaseError

MESSAGE_MOST = 600


class NotOpened(DatabaseError):
    """A database that was not opened; `why` is for staff: it names addresses, never a
    secret."""

    def __init__(self, message: str, why: str = "") -> None:
        super().__init__(message)
        self.why = why


class Unreachable(NotOpened):
    """No such host, nobody who answers, or a host that may not be asked: told apart for
    staff only, so that nobody scans a network through this."""

    code = "database_unreachable"

    def __init__(self, database: object, why: str = "") -> None:
        message = (
            f"{database} could not be reached. Check its host and port; those who run "
            "this installation can see why."
        )
        super().__init__(message, why)


class LoginRefused(NotOpened):
    """A server that answered, and does not let the login in."""

    code = "database_login_refused"

    def __init__(self, database: object, why: str = "") -> None:
        message = (
            f"The server of {database} does not let the login in. Check the database's "
            "name, the login and its password."
        )
        super().__init__(message, why)


class NotEncrypted(NotOpened):
    """A server that does not encrypt, or whose certificate is not to be trusted."""

    code = "database_not_encrypted"

    def __init__(self, database: object, why: str = "") -> None:
        message = (
            f"The connection to {database} could not be encrypted as is demanded: the "
            "server does not encrypt, or its certificate is of another name or of an "
            "authority that is not trusted."
        )
        super().__init__(message, why)


class Unfit(NotOpened):
    """A login that may do everything, or a server set so that SQL reads differently."""

    code = "database_unfit"
    status_code = 409


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
