"""Running what the guard let through, so that it can do no harm even without the guard.

Every statement has a connection of its own, a transaction that can only read, a bound
on time, rows, bytes and cells, and a row that tells who asked for it and what became of
it. Explained in SAFETY.md, 7.4.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from connections.databases import breaker, runs
from connections.databases.base import (
    Cell,
    DatabaseError,
    Guarded,
    ResultColumn,
    Rows,
)
from connections.databases.cancelling import cancel
from connections.databases.caps import Caps, Collection, Cutter
from connections.databases.clock import now
from connections.databases.connecting import may_be_superuser
from connections.databases.failures import (
    Busy,
    Cancelled,
    Lost,
    Paused,
    RunFailed,
    TimedOut,
)
from connections.databases.runs import Verdict, refused
from connections.databases.session import Plan, Session
from connections.databases.supervising import Watched
from connections.models import Database, DatabaseQuery, User

__all__ = [
    "Busy",
    "Cancelled",
    "Lost",
    "Paused",
    "Plan",
    "RunFailed",
    "TimedOut",
    "cancel",
    "explain",
    "refused",
    "run",
]
EXPLAIN_SECONDS = 10


def run(
    database: Database,
    guarded: Guarded,
    *,
    user: User | None,
    question: str = "",
    shown_in: str = "",
    values: Sequence[Cell] = (),
) -> Rows:
    """Return the rows of a guarded statement, masked and within the caps.

    `values` fill the places of the statement in order: `$1`, `$2` of PostgreSQL, `?` of
    MySQL. The run's row is stored first, and `Rows.run` names it. Raises a subclass of
    `DatabaseError`, at the latest a second after the database's `seconds_most`. Must
    not be called in a transaction.
    """
    started = time.monotonic()
    database = runs.allowed(database, user)
    query = runs.begin(
        database, guarded, user=user, question=question, shown=shown_in
    )  # fmt: skip
    reading = Reading(database, guarded, values)
    try:
        _watched(
            database,
            reading.read,
            started,
            is_cancelled=lambda: runs.touch(query.pk),
            keep=reading.keep_what_came,
        )
        rows = reading.result(query, started)
    except BaseException as error:
        _finish_failed(query, error, started)
        raise
    runs.finish(
        query,
        Verdict.DONE,
        rows=len(rows.rows),
        truncated=rows.truncated,
        took_ms=rows.took_ms,
    )
    return rows


def explain(
    database: Database, guarded: Guarded, *, values: Sequence[Cell] = ()
) -> Plan:
    """Return what the server expects of a statement; it is not run.

    Raises `RunFailed` with the server's words, such as for a name that it lacks.
    """
    started = time.monotonic()
    database = runs.allowed(database, None)
    if database.paused_until and database.paused_until > now():
        raise Paused(f"{database} could not be reached and is left alone for a while.")
    found: list[Plan] = []

    def job(session: Session) -> None:
        _seal(session, database, EXPLAIN_SECONDS)
        found.append(session.plan(guarded.sql, values))

    bounded = min(database.seconds_most, EXPLAIN_SECONDS)
    _watched(
        database, job, started, is_cancelled=_never, keep=_never, seconds=bounded
    )  # fmt: skip
    return found[0]


class Reading:
    """One statement's result as it comes in; what is there is good at any moment."""

    def __init__(
        self, database: Database, guarded: Guarded, values: Sequence[Cell]
    ) -> None:
        self._database, self._guarded, self._values = database, guarded, values
        self._columns: tuple[ResultColumn, ...] = ()
        most = max(1, min(guarded.limit, database.rows_most))
        self._collection = Collection(Caps(rows=most), guarded.masked)

    def read(self, session: Session) -> None:
        """Read what the caps allow."""
        caps, cutter = self._collection.caps, Cutter()
        _seal(session, self._database, self._database.seconds_most)
        self._columns, rows = session.rows(
            self._guarded.sql, self._values, cutter, caps.rows + 1
        )
        self._check_masks()
        self._collection.take(rows, cutter)

    def _check_masks(self) -> None:
        """Refuse a result that is not the one the guard has seen."""
        if any(place >= len(self._columns) for place in self._guarded.masked):
            raise RunFailed("The result lacks a column that is to be masked.")

    def keep_what_came(self) -> bool:
        """Return whether rows came before the result became too large."""
        if not self._collection.rows:
            return False
        self._collection.is_truncated = True
        self._collection.warn_of_bytes(self._collection.caps.wire)
        return True

    def result(self, query: DatabaseQuery, started: float) -> Rows:
        collection = self._collection
        return Rows(
            sql=self._guarded.sql,
            columns=tuple(
                ResultColumn(name=column.name, family="text") if place in collection.masked
                else column
                for place, column in enumerate(self._columns)
            ),
            rows=collection.rows,
            truncated=collection.is_truncated,
            took_ms=_milliseconds(started),
            shortened=collection.shortened,
            run=query.pk,
            warnings=tuple(collection.warnings),
        )  # fmt: skip


def _seal(session: Session, database: Database, seconds: float) -> None:
    """Make a session read only; refuse a login that may do everything."""
    is_almighty = session.seal(seconds)
    if is_almighty and not may_be_superuser(database):
        raise RunFailed(
            f"The login of {database} may do everything, so that nothing holds it to "
            "reading. Enter one that may only read, or let an admin allow it."
        )


def _watched(
    database: Database,
    job: Callable[[Session], None],
    started: float,
    *,
    is_cancelled: Callable[[], bool],
    keep: Callable[[], bool],
    seconds: float = 0,
) -> None:
    """Do a job on a new session; raise what went wrong, and tell the breaker."""
    seconds = seconds or database.seconds_most
    runs.release()
    watched = Watched(database, job, started + seconds)
    watched.run(is_cancelled)
    if watched.is_reached:
        breaker.reached(database)
    elif watched.reason != "cancelled":
        breaker.missed(database)
    _raise_for(watched, seconds, keep)


def _raise_for(watched: Watched, seconds: float, keep: Callable[[], bool]) -> None:
    if watched.reason == "timed_out":
        raise TimedOut(
            f"{watched.database} had no answer after {seconds:g} s, and the statement was "
            "ended. Ask for less, such as a shorter time or one group."
        )
    if watched.reason == "cancelled":
        raise Cancelled("The statement was ended, as was asked for.")
    if watched.reason == "too_large":
        if keep():
            return
        raise RunFailed(
            "A value of the result is too large to be read. Ask for a part of it, "
            "such as left(column, 1000), or for its length."
        )
    if watched.error is not None:
        raise watched.error


def _finish_failed(query: DatabaseQuery, error: BaseException, started: float) -> None:
    verdicts: dict[type[BaseException], Verdict] = {
        TimedOut: Verdict.TIMED_OUT,
        Cancelled: Verdict.CANCELLED,
    }
    verdict = verdicts.get(type(error), Verdict.FAILED)
    is_ours = isinstance(error, DatabaseError)
    said = str(error) if is_ours else f"It ended by {type(error).__name__}."
    runs.finish(
        query, verdict, error=runs.clean(said), took_ms=_milliseconds(started)
    )  # fmt: skip


def _milliseconds(started: float) -> float:
    return round((time.monotonic() - started) * 1000, 1)


def _never() -> bool:
    return False
