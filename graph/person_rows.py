"""Rows of persons, as they are held and as they should be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graph.copying import copy_rows, new_ids
from graph.edges import GraphScope
from graph.persons import Person

# The database has defaults for the others.
NODE_COLUMNS = (
    "id",
    "tenant_id",
    "project_id",
    "audience_id",
    "key",
    "node_type",
    "title",
    "context",
    "language",
    "origin",
    "created_at",
    "updated_at",
)
PROOF_COLUMNS = (
    "id",
    "tenant_id",
    "project_id",
    "record_id",
    "node_id",
    "kind",
    "part",
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


def write_nodes(
    scope: GraphScope, node_type: str, rows: Sequence[tuple[int, int, str, str, str]]
) -> None:
    """Write nodes that follow from identities: id, audience, key, title and context."""
    copy_rows(
        "graph_nodes",
        NODE_COLUMNS,
        (
            (
                node,
                *scope.key,
                audience,
                key,
                node_type,
                title,
                context,
                scope.project.language,
                "identity",
                scope.now,
                scope.now,
            )
            for node, audience, key, title, context in rows
        ),
    )


def write_proof(scope: GraphScope, rows: Sequence[tuple[int, int, str, str]]) -> None:
    """Write what nodes follow from: record, node, part, and the key it was said by."""
    ids = new_ids("graph_evidence", len(rows))
    copy_rows(
        "graph_evidence",
        PROOF_COLUMNS,
        (
            (i, *scope.key, record, node, "derived", part, via)
            for i, (record, node, part, via) in zip(ids, rows, strict=True)
        ),
    )
