"""Somebody's name and addresses taken out of what others wrote.

Every text, list and JSON of a project's rows is read, by what the database says its
columns are; search vectors and embeddings follow from the words by triggers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection

from django.db import connection
from psycopg import sql

from connections.models import Project
from graph.copying import execute, fetch
from graph.erasing_sql import PLACE_AGAIN, READ_AGAIN
from graph.residue import Scopes, Table, tables
from graph.residue_sql import TEXT_COLUMNS

ERASED = "[erased]"
# Rows that say what was done, how to sign in and where to read: not what was said.
NOT_SAID = re.compile(r"(connections_(?!syncerror)|django_|auth_|audit|graph_eras)")


def pattern_of(phrases: Collection[str]) -> str:
    """Return a pattern of PostgreSQL for any of `phrases` as whole words."""
    by_length = sorted(set(phrases), key=lambda phrase: (-len(phrase), phrase))
    said = (r"\s+".join(map(re.escape, phrase.split())) for phrase in by_length)
    return rf"(?<!\w)(?:{'|'.join(said)})(?!\w)"


def scrub(
    project: Project, phrases: Collection[str], *, as_written: bool = False
) -> Counter[str]:
    """Replace `phrases` by "[erased]" in all rows of `project`; return rows changed.

    In any case, or only `as_written`. Columns that must be unique keep theirs: what is
    found there is reported.
    """
    counts: Counter[str] = Counter()
    if not phrases:
        return counts
    pattern, known = pattern_of(phrases), tables()
    scopes = Scopes(known, project)
    for table in known:
        if NOT_SAID.match(table.name) or scopes.path(table) is None:
            continue
        if changed := _scrub_table(table, scopes.of(table), pattern, as_written):
            counts[table.name] += changed
    key = {"tenant": project.tenant_id, "project": project.pk}
    execute(PLACE_AGAIN, key | {"erased": ERASED})
    execute(READ_AGAIN, key | {"erased": ERASED})
    return counts


def _scrub_table(
    table: Table, where: sql.Composable, pattern: str, as_written: bool
) -> int:
    columns = fetch(TEXT_COLUMNS, [table.oid])
    if not columns:
        return 0
    said = [sql.Identifier("t", name) for name, _, _ in columns]
    matches = sql.SQL(" OR ").join(
        sql.SQL("{}::text {} {}").format(
            name, sql.SQL("~" if as_written else "~*"), sql.Literal(pattern)
        )
        for name in said
    )
    sets = sql.SQL(", ").join(
        sql.SQL("{} = {}").format(
            sql.Identifier(name),
            _without(each, kind, most, pattern, "g" if as_written else "gi"),
        )
        for each, (name, kind, most) in zip(said, columns, strict=True)
    )
    statement = sql.SQL("UPDATE {} AS t SET {} WHERE {} AND ({})").format(
        table.identifier, sets, where, matches
    )
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return int(cursor.rowcount)


def _without(
    column: sql.Composable, kind: str, most: int | None, pattern: str, flags: str
) -> sql.Composable:
    """Return the column without the pattern, as its own type, no longer than it is."""
    types = {"jsonb": "jsonb", "_text": "text[]", "_varchar": "varchar[]"}
    words = sql.SQL("regexp_replace({}::text, {}, {}, {})").format(
        column, sql.Literal(pattern), sql.Literal(ERASED), sql.Literal(flags)
    )
    if most:
        return sql.SQL("left({}, {})").format(words, sql.Literal(most))
    return sql.SQL("{}::{}").format(words, sql.SQL(types.get(kind, "text")))
