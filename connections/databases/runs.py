"""The rows of runs: written before a statement is sent, ended after it.

A run holds one of its database's places while its row is `running` and was touched not
long ago. Whoever runs touches it twice a second: of a process that died, the place is
free after `LEASE`, and `end_lost` says so in its row.
"""

from __future__ import annotations

import time
from datetime import timedelta
from uuid import UUID

from django.db import connection, transaction

from connections.databases import breaker
from connections.databases.base import DatabaseError, Guarded, GuardRefused
from connections.databases.clock import Clock, now
from connections.databases.failures import Busy, Paused
from connections.models import Database, DatabaseQuery, User, record_audit

AT_ONCE = 2
WAIT_SECONDS, WAIT_STEP = 2.0, 0.1
LEASE = timedelta(seconds=10)
LOST_AFTER = timedelta(seconds=60)
TEXT_MOST = 100_000
Verdict = DatabaseQuery.Verdict


def allowed(database: Database, user: User | None) -> Database:
    """Return the row as it is now, or raise `DatabaseError` where it may not be asked."""
    rows = Database.objects.all()
    if user is not None:
        rows = Database.objects.visible_to(user)
    found = rows.filter(pk=database.pk).first()
    if found is None:
        raise DatabaseError("There is no such database that you may ask.")
    if not found.enabled:
        raise DatabaseError(f"{found} is switched off: an admin can switch it on.")
    return found


def begin(
    database: Database,
    guarded: Guarded,
    *,
    user: User | None,
    question: str,
    shown: str,
) -> DatabaseQuery:
    """Return the row of a run that may start now: it is stored, whatever happens next.

    Raises `Busy` when no place is free for `WAIT_SECONDS`, and `Paused`; both leave a
    row too. Must not be called in a transaction: its row would go with it.
    """
    query = _row(database, user=user, question=question, shown=shown)
    query.asked_sql, query.sent_sql = clean(guarded.original), clean(guarded.sql)
    patience = time.monotonic() + min(WAIT_SECONDS, database.seconds_most)
    while True:
        try:
            return _take_place(database, query)
        except Busy as error:
            if time.monotonic() >= patience:
                _store_ended(query, error)
                raise
        except Paused as error:
            _store_ended(query, error)
            raise
        release()
        time.sleep(WAIT_STEP)


def _take_place(database: Database, query: DatabaseQuery) -> DatabaseQuery:
    with transaction.atomic(durable=True):
        # One at a time: two that count at once would both find the last place.
        row = Database.objects.select_for_update(no_key=True).get(pk=database.pk)
        alive = DatabaseQuery.objects.filter(
            database=row, verdict=Verdict.RUNNING, alive_at__gt=Clock() - LEASE
        )
        if alive.count() >= AT_ONCE:
            raise Busy(
                f"{AT_ONCE} questions to {row} are being answered: ask again shortly."
            )
        breaker.admit(row, now())
        query.alive_at = now()
        query.save(force_insert=True)
        _audit("database.asked", query)
    return query


def _store_ended(query: DatabaseQuery, error: DatabaseError) -> None:
    query.verdict, query.error = Verdict.FAILED, str(error)
    query.finished_at = now()
    with transaction.atomic():
        query.save(force_insert=True)
        _audit("database.asked", query)


def refused(
    database: Database,
    sql: str,
    error: GuardRefused,
    *,
    user: User | None,
    question: str = "",
    shown_in: str = "",
) -> DatabaseQuery:
    """Return the stored row of a statement that the guard did not let through."""
    query = _row(database, user=user, question=question, shown=shown_in)
    query.asked_sql, query.rule = clean(sql), error.rule[:64]
    query.verdict, query.error = Verdict.REFUSED, clean(str(error))
    query.finished_at = now()
    with transaction.atomic():
        query.save(force_insert=True)
        _audit("database.refused", query)
    return query


def touch(query: UUID) -> bool:
    """Say that a run is alive; return whether somebody asked for its end."""
    rows = DatabaseQuery.objects.filter(pk=query, verdict=Verdict.RUNNING)
    is_there = rows.update(alive_at=Clock())
    asked = rows.filter(cancel_asked_at__isnull=False).exists()
    release()
    # Ended by somebody else, or deleted with its project: nobody waits for it.
    return asked or not is_there


def finish(
    query: DatabaseQuery, verdict: DatabaseQuery.Verdict, **fields: object
) -> None:
    """Write how a run ended, whatever was thought of it meanwhile."""
    values = {"verdict": verdict, "finished_at": Clock(), **fields}
    DatabaseQuery.objects.filter(pk=query.pk).update(**values)


def end_lost() -> int:
    """Mark the runs whose process died before it could; return how many.

    A run is touched twice a second by who runs it: one that was not for a minute has
    nobody.
    """
    lost = DatabaseQuery.objects.filter(verdict=Verdict.RUNNING).exclude(
        alive_at__gt=Clock() - LOST_AFTER
    )
    return lost.update(
        verdict=Verdict.FAILED,
        error="The process that ran it died before it had an answer.",
        finished_at=Clock(),
    )


def release() -> None:
    """Give this thread's connection back while it waits for a database elsewhere."""
    if connection.connection is not None and not connection.in_atomic_block:
        connection.close()


def clean(text: str) -> str:
    """Return `text` as our own database can store it, and not without end."""
    storable = text.replace("\0", "\N{REPLACEMENT CHARACTER}")
    return storable[:TEXT_MOST].encode("utf-8", "replace").decode()


def _row(
    database: Database, *, user: User | None, question: str, shown: str
) -> DatabaseQuery:
    return DatabaseQuery(
        tenant_id=database.tenant_id,
        project_id=database.project_id,
        database=database,
        database_name=database.name,
        user=user,
        question=clean(question),
        shown_in=clean(shown)[:200],
    )


def _audit(verb: str, query: DatabaseQuery) -> None:
    record_audit(
        verb,
        target=f"database:{query.database_name}",
        project=query.project,
        actor=query.user,
        query=str(query.pk),
        rule=query.rule,
        question=query.question,
        sql=query.sent_sql or query.asked_sql,
        shown_in=query.shown_in,
    )
