"""Why a database is not opened: what anybody is told, and what staff may read."""

from __future__ import annotations

from connections.databases.base import DatabaseError


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
