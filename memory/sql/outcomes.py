"""How a statement or a question to a database ended, in words for a person."""

from __future__ import annotations

from dataclasses import dataclass

from connections.databases.base import DatabaseError, GuardRefused, Rows
from connections.models import Database, User
from memory.sql.asking import Unanswered, ask_database
from memory.sql.result_grids import ROWS_HELD, ResultGrid, shown_rows
from memory.sql.statements import run_statement

NOT_RUN, NO_ANSWER, ENDED = "Not run", "Not answered", "No result"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A result, or what went wrong: then `trouble` says it, and `rule` what forbids it.

    `sql` is the statement as it was given, to go on from.
    """

    sql: str
    table: ResultGrid | None = None
    title: str = ""
    trouble: str = ""
    rule: str = ""
    question: str = ""
    reading: str = ""
    assumptions: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    by: str = ""


def outcome_of_statement(
    database: Database, sql: str, *, user: User, shown_in: str
) -> Outcome:
    """Run a person's statement, and return how it ended; only bugs are raised."""
    try:
        rows = run_statement(
            database, sql, user=user, shown_in=shown_in, limit=ROWS_HELD
        )
    except GuardRefused as error:
        return Outcome(sql=sql, title=NOT_RUN, trouble=str(error), rule=error.rule)
    except DatabaseError as error:
        return Outcome(sql=sql, title=ENDED, trouble=str(error))
    return Outcome(sql=sql, table=shown_rows(rows))


def outcome_of_question(
    database: Database, question: str, *, user: User, shown_in: str
) -> Outcome:
    """Ask a database in words, and return how it ended; only bugs are raised."""
    answer = ask_database(
        database, question, user=user, project=database.project, shown_in=shown_in
    )
    if isinstance(answer, Unanswered):
        return Outcome(
            sql="", question=question, title=NO_ANSWER, trouble=answer.reason
        )
    rows: Rows = answer.rows
    return Outcome(
        sql=answer.sql,
        question=question,
        table=shown_rows(rows),
        reading=answer.reading,
        assumptions=tuple(answer.assumptions),
        tables=tuple(answer.tables),
        by=answer.by,
    )
