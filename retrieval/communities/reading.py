"""The graph of a project as arrays: nodes, edges, who may see them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db import connection
from django.utils import timezone
from numpy.typing import NDArray

from connections.models import Project
from graph.embed import structure_types
from retrieval.communities import sql

Ids = NDArray[np.int64]
Weights = NDArray[np.float64]

# How closely one edge of a relation ties its ends, 1.0 for those not listed. An answer
# is about what it answers; that two things share a place or a sender says little.
STRENGTHS: Mapping[str, float] = {
    "replied_to": 2.0,
    "in_thread": 1.5,
    "follows": 1.0,
    "mentions": 1.0,
    "part_of": 1.0,
    "in_folder": 0.5,
    "attended": 0.5,
    "organized_by": 0.5,
    "participant": 0.3,
    "sent_by": 0.3,
    "posted_in": 0.3,
    "has_email": 0.3,
    "from_domain": 0.1,
}
OTHERWISE = 1.0
_HEADER = 19  # signature, flags and length of the extension, which is empty
_BLOCK = 4 << 20


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes by place in ascending id; edges between places, repeats summed later.

    `has_text` marks what may be quoted.
    """

    ids: Ids
    audiences: Ids
    has_text: NDArray[np.bool_]
    sources: Ids
    targets: Ids
    edge_audiences: Ids
    weights: Weights


def read_graph(project: Project) -> Graph:
    """Return the project's current nodes, and its live edges between them."""
    scope = {
        "tenant": project.tenant_id,
        "project": project.pk,
        "now": timezone.now(),
    }
    nodes = read_rows(
        sql.COPY_NODES, {**scope, "structure": structure_types()}, "id audience text"
    )
    edges = read_rows(
        sql.COPY_EDGES,
        {
            **scope,
            "relations": list(STRENGTHS),
            "strengths": list(STRENGTHS.values()),
            "otherwise": OTHERWISE,
        },
        "source target audience weight",
    )
    ids = np.ascontiguousarray(nodes["id"])
    sources, known_source = places(ids, edges["source"])
    targets, known_target = places(ids, edges["target"])
    known = known_source & known_target
    return Graph(
        ids=ids,
        audiences=np.ascontiguousarray(nodes["audience"]),
        has_text=nodes["text"] == 1,
        sources=sources[known],
        targets=targets[known],
        edge_audiences=edges["audience"][known],
        weights=edges["weight"][known],
    )


def read_members(project: Project) -> tuple[Ids, Ids]:
    """Return the ids of the nodes that are in a community, ascending, and which."""
    scope = {"tenant": project.tenant_id, "project": project.pk}
    rows = read_rows(sql.COPY_MEMBERS, scope, "node community")
    return np.ascontiguousarray(rows["node"]), np.ascontiguousarray(rows["community"])


def read_rows(
    statement: str, params: Mapping[str, Any], columns: str
) -> NDArray[np.void]:
    """Return the rows of a binary COPY, as one array of the named columns.

    A `weight` is a float, all others whole numbers; no value may be NULL.
    """
    names = columns.split()
    kinds = {name: ">f8" if name == "weight" else ">i8" for name in names}
    wire = np.dtype(
        [("width", ">i2")]
        + [part for n in names for part in ((f"{n}_size", ">i4"), (n, kinds[n]))]
    )
    kept = np.dtype([(n, "f8" if n == "weight" else "i8") for n in names])
    parts = [
        np.rec.fromarrays(
            [np.frombuffer(block, wire)[name] for name in names], dtype=kept
        )
        for block in _blocks(statement, params, wire.itemsize)
    ]
    return np.concatenate(parts) if parts else np.empty(0, kept)


def _blocks(
    statement: str, params: Mapping[str, Any], row_bytes: int
) -> Iterator[bytes]:
    """Yield whole rows, some megabytes at a time, without header and trailer."""
    held, at = bytearray(), _HEADER
    with (
        connection.wrap_database_errors,  # Django wraps all but COPY
        connection.cursor() as cursor,
        cursor.copy(statement, params) as copy,
    ):
        for data in copy:
            held += data
            if len(held) >= _BLOCK:
                end = at + (len(held) - at) // row_bytes * row_bytes
                yield bytes(held[at:end])
                del held[:end]
                at = 0
    end = at + (len(held) - at) // row_bytes * row_bytes
    if end > at:
        yield bytes(held[at:end])


def places(ids: Ids, wanted: NDArray[Any]) -> tuple[Ids, NDArray[np.bool_]]:
    """Return where each of `wanted` is in `ids`, which ascend, and whether it is."""
    found = np.searchsorted(ids, wanted)
    found[found == len(ids)] = 0
    if not len(ids):
        return found, np.zeros(len(found), dtype=bool)
    return found, ids[found] == wanted
