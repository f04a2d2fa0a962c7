"""What of a database a question is about: its likely tables in full, the rest by name.

Recall comes first: a table left out cannot be asked, one too many costs a few words.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from connections.databases.base import Column, Schema, Table
from connections.databases.joins import as_ddl, join_paths
from connections.models import Database, Project, User
from connections.records import clean_key
from connections.refusals import Refused
from memory.sql.words import likeness, words_of
from retrieval.results import Filters
from retrieval.search import search

FULL, NAMED, SEARCHED = 15, 60, 60
# About 10,000 tokens; a table that does not fit is given by its name.
DDL_CHARACTERS = 40_000
JOINS = 30
# Reciprocal rank fusion, with the constant that searches use.
K = 60
# How much a word tells by where it stands.
IN_NAME, IN_COLUMN, IN_COMMENT, IN_COLUMN_COMMENT, IN_VALUE = 4.0, 2.0, 2.0, 1.0, 3.0
VALUE_LEAST = 2
TYPES = ("db_table", "db_column")


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What a model is told of a schema: `full` tables whole, of `named` their paths,
    of `left` tables nothing; `joins` are the ways between the full ones."""

    full: tuple[Table, ...]
    named: tuple[str, ...]
    left: int
    joins: tuple[str, ...]


def context_of(
    database: Database, schema: Schema, question: str, *, user: User | None
) -> Context:
    """Return what is worth telling of `schema` for `question`, likeliest first."""
    ranked = likely_tables(database, schema, question, user=user)
    full = list(_fitting(ranked[:FULL]))
    bridges, joins = _ways(schema, full)
    full += [table for table in bridges if table not in full]
    rest = [table.path for table in ranked if table not in full]
    return Context(
        full=tuple(full),
        named=tuple(rest[: max(0, NAMED - len(full))]),
        left=max(0, len(rest) - max(0, NAMED - len(full))),
        joins=joins,
    )


def likely_tables(
    database: Database, schema: Schema, question: str, *, user: User | None
) -> list[Table]:
    """Return all tables of `schema`, those first that `question` may be about.

    The words of the schema itself are matched, and its nodes are searched as `user`.
    """
    said = by_words(schema, question)
    found = _by_search(database, schema, question, user)
    scores: dict[tuple[str, str], float] = defaultdict(float)
    for ranking in (sorted(said, key=lambda path: -said[path]), found):
        for rank, path in enumerate(ranking, start=1):
            scores[path] += 1 / (K + rank)
    return sorted(
        schema.tables,
        key=lambda t: (-scores.get((t.schema, t.name), 0.0), -t.rows, t.path),
    )


def by_words(schema: Schema, question: str) -> dict[tuple[str, str], float]:
    """Return how much the words of each table are those of `question`, where any are.

    A word counts by how few tables have it, once a table, where it tells most.
    """
    asked = list(dict.fromkeys(words_of(question)))
    if not asked:
        return {}
    places = _places(schema)
    total = len(schema.tables)
    scores: dict[tuple[str, str], float] = defaultdict(float)
    for word in asked:
        best: dict[tuple[str, str], float] = {}
        for known, tables in places.items():
            if (alike := likeness(word, known)) > 0:
                for path, weight in tables.items():
                    best[path] = max(best.get(path, 0.0), alike * weight)
        rarity = math.log(1 + total / len(best)) if best else 0.0
        for path, weight in best.items():
            scores[path] += weight * rarity
    for path in _with_values(schema, question):
        scores[path] += IN_VALUE
    return dict(scores)


def _places(schema: Schema) -> Mapping[str, Mapping[tuple[str, str], float]]:
    """Return for each word of the schema the tables that have it, and how strongly."""
    places: dict[str, dict[tuple[str, str], float]] = defaultdict(dict)
    for table in schema.tables:
        path = (table.schema, table.name)
        for text, weight in _texts(table):
            for word in words_of(text):
                places[word][path] = max(places[word].get(path, 0.0), weight)
    return places


def _texts(table: Table) -> Iterator[tuple[str, float]]:
    yield table.name, IN_NAME
    yield table.comment, IN_COMMENT
    for column in table.columns:
        yield column.name, IN_COLUMN
        yield column.comment, IN_COLUMN_COMMENT


def _with_values(schema: Schema, question: str) -> Iterator[tuple[str, str]]:
    """Yield the tables that hold a value that stands in the question, once a column."""
    said = question.casefold()
    for table in schema.tables:
        for column in table.columns:
            if any(_stands_in(value, said) for value in values_of(column)):
                yield table.schema, table.name


def values_of(column: Column) -> tuple[str, ...]:
    """Return the values that may be told: none of a column that is not for all eyes."""
    return column.values if column.exposure == "visible" else ()


def _stands_in(value: str, said: str) -> bool:
    known = value.casefold().strip()
    if len(known) < VALUE_LEAST or known not in said:
        return False
    return re.search(rf"(?<!\w){re.escape(known)}(?!\w)", said) is not None


def _by_search(
    database: Database, schema: Schema, question: str, user: User | None
) -> list[tuple[str, str]]:
    """Return the tables whose nodes, or columns' nodes, a search finds, best first."""
    project: Project = database.project
    try:
        found = search(
            project,
            question,
            user=user,
            limit=SEARCHED,
            filters=Filters(types=TYPES),
        )
    except Refused:
        # A question is no query: what looks like an operator in it may be unusable.
        return []
    known = _keys(database, schema.tables) if found.results else {}
    ranked = (known.get(result.key) for result in found.results)
    return list(dict.fromkeys(path for path in ranked if path))


def table_key(database: Database, path: str) -> str:
    """Return the key of the node of a table, by its path."""
    return clean_key(f"db_table:{database.name}:{path}")


def _keys(database: Database, tables: Iterable[Table]) -> dict[str, tuple[str, str]]:
    keys = {}
    for table in tables:
        path = (table.schema, table.name)
        keys[table_key(database, table.path)] = path
        for column in table.columns:
            key = f"db_column:{database.name}:{table.path}.{column.name}"
            keys[clean_key(key)] = path
    return keys


def _fitting(tables: Sequence[Table]) -> Iterator[Table]:
    room = DDL_CHARACTERS
    for table in tables:
        room -= len(as_ddl(table))
        if room >= 0:
            yield table


def _ways(schema: Schema, full: Sequence[Table]) -> tuple[list[Table], tuple[str, ...]]:
    """Return the tables that lie between `full` ones, and the ways in words."""
    ways = join_paths(schema, [(t.schema, t.name) for t in full])[:JOINS]
    between = [schema.by_path[path] for way in ways for path in way.bridges]
    said = [" AND ".join(step.condition for step in way.steps) for way in ways]
    return list(dict.fromkeys(between)), tuple(dict.fromkeys(said))
