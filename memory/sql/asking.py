"""A question to a database: written as SQL, guarded, run, repaired at most twice."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from django.utils import timezone

from connections.databases.base import (
    Cell,
    DatabaseError,
    Guarded,
    GuardRefused,
    Rows,
    Schema,
)
from connections.databases.guard import guard
from connections.databases.runner import explain, refused, run
from connections.databases.snapshot import schema_of
from connections.models import Database, DatabaseQuery, Project, User
from connections.providers.base import ProviderError
from connections.providers.chat import ChatModel
from connections.providers.choice import model_for
from memory.agent.database import database as own_database
from memory.agent.database import release
from memory.agent.prompt import new_fence
from memory.sql import examples
from memory.sql.answered import (
    Answered,
    Attempt,
    By,
    Stage,
    Unanswered,
    is_of_statement,
)
from memory.sql.choosing import choose_database, databases_for
from memory.sql.context import Context, context_of
from memory.sql.literals import corrected, is_empty, suggestions
from memory.sql.prompting import (
    ANSWER_SCHEMA,
    MOST_TOKENS,
    question_prompt,
    system_prompt,
)
from memory.sql.translator import Declined, translate

__all__ = [
    "Answered",
    "Attempt",
    "Unanswered",
    "ask_database",
    "choose_database",
    "databases_for",
]

REPAIRS, SECONDS = 2, 90.0
QUESTION_CHARACTERS = 2000
CLOSED = "There is no such database here that you may ask."
NOTHING_YET = (
    "Nothing of this database may be asked yet: it was not discovered, or all its "
    "tables are hidden."
)
STOPPED = "It was stopped."
NO_STATEMENT = "The model gave no statement, and did not say why."


def never() -> bool:
    return False


class _Ended(Exception):
    """The question is not pursued any further; the message says why."""


@dataclass(frozen=True, slots=True)
class _Written:
    """A statement with how the question was read."""

    sql: str
    by: By
    reading: str
    assumptions: tuple[str, ...] = ()
    model: str = ""


@dataclass(slots=True)
class _Question:
    """A question on its way, with all that was tried for it."""

    database: Database
    schema: Schema
    text: str
    user: User | None
    project: Project
    shown_in: str
    stop: Callable[[], bool]
    deadline: float
    attempts: list[Attempt] = field(default_factory=list)

    def check(self) -> None:
        """Raise `_Ended` where nobody waits any more, or too long."""
        if self.stop():
            raise _Ended(STOPPED)
        if time.monotonic() > self.deadline:
            raise _Ended("It took longer than the time that is allowed for it.")


def ask_database(
    database: Database,
    question: str,
    *,
    user: User | None,
    project: Project,
    shown_in: str = "",
    stop: Callable[[], bool] = never,
    seconds: float = SECONDS,
) -> Answered | Unanswered:
    """Return the rows that answer `question`, or why there are none.

    `user` None is the operator. A verified example of the same question is taken first;
    else the project's model writes the statement, or without one the translator. Only
    what the guard wrote is sent, and every statement that was tried is recorded. What
    a person can put right is never raised.
    """
    with own_database():
        if database.pk not in {one.pk for one in databases_for(project, user)}:
            return Unanswered(reason=CLOSED)
        schema = schema_of(database)
    if not schema.tables:
        return Unanswered(reason=NOTHING_YET)
    asked = _Question(
        database=database,
        schema=schema,
        text=question.strip()[:QUESTION_CHARACTERS],
        user=user,
        project=project,
        shown_in=shown_in,
        stop=stop,
        deadline=time.monotonic() + seconds,
    )
    try:
        return _answer(asked)
    except (_Ended, DatabaseError, ProviderError) as error:
        return Unanswered(reason=str(error), attempts=tuple(asked.attempts))


def run_bound(
    database: Database,
    written: Answered,
    sql: str,
    values: Sequence[Cell],
    *,
    user: User | None,
    project: Project,
    question: str,
    shown_in: str = "",
) -> Answered | Unanswered:
    """Run `sql`, whose placeholders stand for `values`, as what answered before.

    The values are bound: no text of theirs is ever part of a statement.
    """
    with own_database():
        schema = schema_of(database)
    asked = _Question(
        database, schema, question, user, project, shown_in, never,
        time.monotonic() + SECONDS,
    )  # fmt: skip
    first = _Written(sql, written.by, written.reading, written.assumptions)
    try:
        guarded, rows = _tried(asked, first, values)
    except (_Ended, DatabaseError, GuardRefused) as error:
        attempts = (*written.attempts, *asked.attempts)
        return Unanswered(reason=str(error), attempts=attempts)
    done = _answered(asked, first, guarded, rows)
    return replace(done, attempts=(*written.attempts, *done.attempts))


def _answer(asked: _Question) -> Answered | Unanswered:
    asked.check()
    with own_database():
        example = examples.same(asked.database, asked.text)
    if example is not None:
        reading = f"As verified before: {example.question}"
        try:
            return _found(asked, _Written(example.sql, "example", reading))
        except (GuardRefused, DatabaseError) as error:
            if not _is_repairable(error):
                raise
    with own_database():
        model = model_for(asked.project)
    return _by_model(asked, model) if model else _by_rules(asked)


def _by_rules(asked: _Question) -> Answered | Unanswered:
    told = translate(asked.text, asked.schema, today=timezone.localdate())
    if isinstance(told, Declined):
        return Unanswered(reason=told.reason, attempts=tuple(asked.attempts))
    written = _Written(told.sql, "rules", told.reading, tuple(told.assumptions))
    try:
        return _found(asked, written)
    except GuardRefused as error:
        return Unanswered(reason=str(error), attempts=tuple(asked.attempts))


def _by_model(asked: _Question, model: ChatModel) -> Answered | Unanswered:
    with own_database():
        context = context_of(asked.database, asked.schema, asked.text, user=asked.user)
        alike = examples.like(asked.database, asked.text)
    failed: list[Attempt] = []
    for _ in range(1 + REPAIRS):
        asked.check()
        told = _written_by(asked, model, context, alike, failed)
        if isinstance(told, Unanswered):
            return told
        try:
            return _found(asked, told)
        except (GuardRefused, DatabaseError) as error:
            if not _is_repairable(error):
                raise
            failed.append(asked.attempts[-1])
    return Unanswered(
        reason=f"No statement came that may run, after {REPAIRS} repairs. "
        f"The last one failed: {failed[-1].error}",
        attempts=tuple(asked.attempts),
    )


def _written_by(
    asked: _Question,
    model: ChatModel,
    context: Context,
    alike: Sequence[examples.VerifiedExample],
    failed: Sequence[Attempt],
) -> _Written | Unanswered:
    fence, now = new_fence(), timezone.localtime()
    # No connection is held while a model thinks.
    release()
    answer = model.structured(
        system_prompt(asked.schema, fence, now),
        question_prompt(asked.text, context, alike, fence, failed),
        ANSWER_SCHEMA,
        max_tokens=MOST_TOKENS,
    ).parsed
    if not answer["sql"].strip():
        reason = answer["unanswerable"].strip() or NO_STATEMENT
        return Unanswered(reason=reason, attempts=tuple(asked.attempts))
    return _Written(
        answer["sql"].strip(),
        "model",
        " ".join(answer["reading"].split()),
        tuple(" ".join(one.split()) for one in answer["assumptions"] if one.strip()),
        model.model,
    )


def _found(asked: _Question, written: _Written) -> Answered:
    """Return what a statement answers; where it finds nothing, its literals are looked
    at, and one that must mean a value spelt otherwise is corrected, once."""
    guarded, rows = _tried(asked, written)
    if is_empty(rows) and (unknown := suggestions(written.sql, asked.schema)):
        sure = [one for one in unknown if one.is_sure]
        noted = tuple(
            f"{one.column} never is {one.said!r}; it may be {' or '.join(one.near)}"
            for one in unknown
            if one not in sure
        )
        written = replace(written, assumptions=(*written.assumptions, *noted))
        if sure:
            meant = {(one.column, one.said): one.near[0] for one in sure}
            read = tuple(f"{one.said!r} read as {one.near[0]!r}" for one in sure)
            written = replace(
                written,
                sql=corrected(written.sql, asked.schema, meant),
                assumptions=(*written.assumptions, *read),
            )
            guarded, rows = _tried(asked, written)
    return _answered(asked, written, guarded, rows)


def _answered(
    asked: _Question, written: _Written, guarded: Guarded, rows: Rows
) -> Answered:
    return Answered(
        sql=rows.sql or guarded.sql,
        rows=rows,
        reading=written.reading,
        assumptions=written.assumptions,
        tables=guarded.tables,
        attempts=tuple(asked.attempts),
        by=written.by,
        model=written.model,
    )


def _tried(
    asked: _Question, written: _Written, values: Sequence[Cell] = ()
) -> tuple[Guarded, Rows]:
    """Guard, explain and run a statement; whatever comes of it is an attempt."""
    asked.check()
    told = {
        "user": asked.user, "question": asked.text, "shown_in": asked.shown_in
    }  # fmt: skip
    limit = asked.database.rows_most
    try:
        guarded = guard(written.sql, asked.schema, limit=limit, values=len(values))
    except GuardRefused as error:
        with own_database():
            row = refused(asked.database, written.sql, error, **told)  # type: ignore[arg-type] # as named
        said = f"refused by the rule {error.rule}: {error}"
        _attempted(asked, written, "guard", said, row.pk)
        raise
    try:
        if not values:
            _explained(asked, guarded)
        rows = run(asked.database, guarded, values=values, **told)  # type: ignore[arg-type] # as named
    except DatabaseError as error:
        _attempted(asked, written, "run", str(error))
        raise
    finally:
        release()
    _attempted(asked, written, "done", query=rows.run)
    return guarded, rows


def _explained(asked: _Question, guarded: Guarded) -> None:
    """Ask for the server's plan; a statement it refuses is recorded as one that failed,
    for it never comes to be run."""
    try:
        explain(asked.database, guarded)
    except DatabaseError as error:
        if is_of_statement(error):
            with own_database():
                _record_failed(asked, guarded, str(error))
        raise


def _record_failed(asked: _Question, guarded: Guarded, error: str) -> None:
    DatabaseQuery.objects.create(
        tenant_id=asked.project.tenant_id,
        project=asked.project,
        database=asked.database,
        database_name=asked.database.name,
        user=asked.user,
        question=asked.text,
        asked_sql=guarded.original,
        sent_sql=guarded.sql,
        verdict=DatabaseQuery.Verdict.FAILED,
        error=error,
        shown_in=asked.shown_in,
        finished_at=timezone.now(),
    )


def _attempted(
    asked: _Question,
    written: _Written,
    stage: Stage,
    error: str = "",
    query: UUID | None = None,
) -> None:
    asked.attempts.append(
        Attempt(sql=written.sql, by=written.by, stage=stage, error=error, query=query)
    )


def _is_repairable(error: Exception) -> bool:
    """Return whether another statement might do: not where the database is away."""
    return isinstance(error, GuardRefused) or (
        isinstance(error, DatabaseError) and is_of_statement(error)
    )
