"""What a question to a database came to, with all that was tried."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias
from uuid import UUID

from connections.databases.base import DatabaseError, Rows
from connections.databases.failures import RunFailed

By: TypeAlias = Literal["model", "rules", "example"]
Stage: TypeAlias = Literal["guard", "run", "done"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A statement that was tried: how far it came, and what was said against it."""

    sql: str
    by: By
    stage: Stage
    error: str = ""
    query: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The rows that answer a question; `reading` says how it was understood.

    `tables` are the paths of those that were read, the most important first.
    """

    sql: str
    rows: Rows
    reading: str
    assumptions: tuple[str, ...]
    tables: tuple[str, ...]
    attempts: tuple[Attempt, ...]
    by: By
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unanswered:
    """Why there is no answer, in words for whoever asked."""

    reason: str
    attempts: tuple[Attempt, ...] = ()


def is_of_statement(error: DatabaseError) -> bool:
    """Return whether the server found fault with the statement itself.

    What is told apart further, such as a lost connection, is no fault of it.
    """
    return type(error) is RunFailed
