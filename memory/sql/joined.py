"""One answer from both: rows of a database, and the texts that speak of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from django.utils import timezone

from connections.databases.base import Rows
from connections.databases.snapshot import schema_of
from connections.models import Database, Project, User
from connections.refusals import Refused
from memory.agent.database import database as own_database
from memory.sql.answered import Answered, Unanswered
from memory.sql.asking import ask_database, never, run_bound
from memory.sql.binding import kept_to_names, name_place
from memory.sql.candidates import names_in
from memory.sql.mentions import (
    NAMES,
    Mention,
    filters_of,
    mentions,
    texts_among,
)
from memory.sql.splitting import Parts
from retrieval.results import Filters
from retrieval.search import visible_nodes

TEXTS = 500
NO_NAMES = "None of the texts that you may see there names anything."
NO_COLUMN = "What the texts name could not be looked up: no column of it holds names."


@dataclass(frozen=True, slots=True)
class Joined:
    """An answer of a database, with the texts that name its rows, by the row's place.

    `looked` says that texts were looked for; a place that is not there was not.
    """

    answer: Answered | Unanswered
    mentions: Mapping[int, tuple[Mention, ...]] = field(default_factory=dict)
    looked: bool = False


def ask_both(
    database: Database,
    parts: Parts,
    *,
    user: User | None,
    project: Project,
    shown_in: str = "",
    stop: Callable[[], bool] = never,
) -> Joined:
    """Answer the part about a database; then find the texts that name its rows.

    Where the names come from texts, they are bound as values of the statement. Only
    texts that `user` may see are read.
    """
    answer = ask_database(
        database,
        parts.database,
        user=user,
        project=project,
        shown_in=shown_in,
        stop=stop,
    )
    if isinstance(answer, Unanswered) or not parts.names_from:
        return Joined(answer)
    try:
        with own_database():
            nodes = visible_nodes(project, user, timezone.now())
            filters = filters_of(parts, project, nodes)
    except Refused as error:
        return Joined(Unanswered(reason=str(error), attempts=answer.attempts))
    if parts.names_from == "texts":
        answer = _of_names(database, answer, parts, filters, user, project, shown_in)
        if isinstance(answer, Unanswered):
            return Joined(answer)
    with own_database():
        return Joined(answer, _mentions(answer.rows, filters, user, project), True)


def _mentions(
    rows: Rows, filters: Filters, user: User | None, project: Project
) -> dict[int, tuple[Mention, ...]]:
    place = name_place(rows)
    if place is None:
        return {}
    names = [str(row[place] or "") for row in rows.rows[:NAMES]]
    said = mentions(project, user, names, filters)
    return {row: said[name] for row, name in enumerate(names) if name in said}


def _of_names(
    database: Database,
    answer: Answered,
    parts: Parts,
    filters: Filters,
    user: User | None,
    project: Project,
    shown_in: str,
) -> Answered | Unanswered:
    """Return the answer kept to what the texts name: the names are values, bound."""
    with own_database():
        names = names_in(_texts(project, user, filters))
        schema = schema_of(database)
    if not names:
        return Unanswered(reason=NO_NAMES, attempts=answer.attempts)
    written = answer.attempts[-1].sql
    kept = kept_to_names(written, schema, answer.rows, len(names))
    if kept is None:
        return Unanswered(reason=NO_COLUMN, attempts=answer.attempts)
    return run_bound(
        database,
        answer,
        kept,
        names,
        user=user,
        project=project,
        question=f"{parts.database} ({parts.text})",
        shown_in=shown_in,
    )


def _texts(project: Project, user: User | None, filters: Filters) -> Sequence[str]:
    texts = texts_among(project, user, filters).order_by("-occurred_at", "key")
    return list(texts.values_list("content", flat=True)[:TEXTS])
