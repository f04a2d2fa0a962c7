"""Rows of persons, as they are held and as they should be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from psycopg.types.json import Jsonb

from graph.copying import copy_rows, new_ids
from graph.edges import GraphScope
from graph.persons import Person

PERSON_COLUMNS = (
    "id",
    "tenant_id",
    "project_id",
    "audience_id",
    "key",
    "node_type",
    "title",
    "content",
    "context",
    "language",
    "tags",
    "metadata",
    "source_kind",
    "origin",
    "precedence",
    "created_at",
    "updated_at",
)
EVIDENCE_COLUMNS = (
    "id",
    "tenant_id",
    "project_id",
    "record_id",
    "node_id",
    "kind",
    "part",
    "quote",
    "weight",
    "via_source",
    "via_target",
)


@dataclass(frozen=True, slots=True)
class Held:
    """An identity as the database has it, and the person it is held to be."""

    node_id: int
    key: str
    side: str
    address: str
    names: tuple[str, ...]
    person_id: int
    reasons: list[dict[str, str]]
    audience_id: int
    person_key: str
    person_title: str
    person_context: str
    person_audience: int


@dataclass(frozen=True, slots=True)
class Wanted:
    """A person as it should be: its node's fields, and its identities."""

    key: str
    title: str
    context: str
    audience_id: int
    members: tuple[Held, ...]
    person: Person


def node_row(
    scope: GraphScope, node: int, key: str, node_type: str, wanted: Wanted
) -> tuple[Any, ...]:
    return (
        node,
        *scope.key,
        wanted.audience_id,
        key,
        node_type,
        wanted.title,
        "",
        wanted.context,
        scope.project.language,
        [],
        Jsonb({}),
        "",
        "identity",
        0.0,
        scope.now,
        scope.now,
    )


def write_proof(scope: GraphScope, rows: Sequence[tuple[int, int, str, str]]) -> None:
    ids = new_ids("graph_evidence", len(rows))
    copy_rows(
        "graph_evidence",
        EVIDENCE_COLUMNS,
        (
            (i, *scope.key, record, node, "derived", part, "", 1.0, "", via)
            for i, (record, node, part, via) in zip(ids, rows, strict=True)
        ),
    )
