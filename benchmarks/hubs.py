"""A made-up graph with hubs, of any size, the same at every run, loaded by COPY.

Every edge leaves a node drawn evenly and points to one drawn by Zipf's law with
Mandelbrot's shift, as mail points to people and messages to channels: of 1,000,000
edges the commonest node gets some 23,000. A fifth of the nodes belong to closed
audiences, half of which the member is in; rows are as wide as with text and a vector.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import psycopg
from psycopg.sql import SQL, Identifier

from benchmarks.database import server
from connections.management.base import create_project
from connections.models import Audience, Project, User

SEED = 20261121
SHIFT = 3.6
RELATIONS = ("sent_by", "posted_in", "in_thread", "mentions", "replied_to")
CLOSED_AUDIENCES, CLOSED, ENDED = 200, 0.2, 0.05
PADDING = 1500  # bytes: what text, its lexemes and a vector of 256 come to
START = datetime(2025, 1, 1, tzinfo=UTC)
MINUTES = 500_000

NODES = (
    "id tenant_id project_id audience_id key node_type title content context language"
    " tags metadata source_kind origin precedence occurred_at created_at updated_at"
)
EDGES = (
    "id tenant_id project_id audience_id source_id target_id relation weight origin"
    " occurred_at valid_to created_at"
)
DEGREES = """
    SELECT count(*) FROM graph_edges e GROUP BY e.target_id ORDER BY 1 DESC LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class Hubs:
    """The project that was filled, a member of it, its nodes and its largest hub."""

    project: Project
    member: User
    nodes: int
    edges: int
    largest: int


def fill(nodes: int, edges: int) -> Hubs:
    """Make a project of so many nodes and edges in an empty, migrated database."""
    project = create_project("walks/main")
    member = User.objects.create_user("member@walks.test", "a long password")
    project.memberships.create(user=member)
    rng = np.random.default_rng(SEED)
    audiences = _audiences(project, member)
    of_node = _drawn_audiences(rng, nodes, len(audiences))
    with server() as owner:
        _copy(owner, "graph_nodes", NODES, _nodes(project, audiences, of_node, rng))
        drawn = _edges(project, audiences, of_node, rng, edges)
        _copy(owner, "graph_edges", EDGES, drawn)
        owner.execute("VACUUM (ANALYZE) graph_nodes")
        owner.execute("VACUUM (ANALYZE) graph_edges")
        (largest,) = owner.execute(DEGREES).fetchone() or (0,)
    return Hubs(project, member, nodes, edges, largest)


def _audiences(project: Project, member: User) -> list[int]:
    """Return the public audience and then closed ones, every other the member's."""
    public = Audience.objects.create(
        tenant_id=project.tenant_id, project=project, kind="public"
    )
    closed = [
        Audience.objects.create(
            tenant_id=project.tenant_id, project=project, kind="members", key=f"c{n}"
        )
        for n in range(CLOSED_AUDIENCES)
    ]
    for audience in closed[::2]:
        audience.members.create(user=member)
    return [public.pk, *(audience.pk for audience in closed)]


def _drawn_audiences(rng: np.random.Generator, nodes: int, count: int) -> np.ndarray:
    closed = rng.random(nodes) < CLOSED
    return np.where(closed, rng.integers(1, count, nodes), 0)


def _copy(
    owner: psycopg.Connection, table: str, columns: str, rows: Iterable[tuple[Any, ...]]
) -> None:
    names = SQL(", ").join(map(Identifier, columns.split()))
    into = SQL("COPY {} ({}) FROM STDIN").format(Identifier(table), names)
    with owner.cursor() as cursor, cursor.copy(into) as copied:
        for row in rows:
            copied.write_row(row)


def _nodes(
    project: Project,
    audiences: list[int],
    of_node: np.ndarray,
    rng: np.random.Generator,
) -> Iterator[tuple[Any, ...]]:
    minutes = rng.integers(0, MINUTES, len(of_node))
    for number, audience in enumerate(of_node, start=1):
        said = START + timedelta(minutes=int(minutes[number - 1]))
        padding = rng.bytes(PADDING // 2).hex()
        yield (
            number,
            project.tenant_id,
            project.pk,
            audiences[audience],
            f"made-up:{number}",
            "message",
            "",
            "",
            "",
            "english",
            "{}",
            json.dumps({"padding": padding}),
            "slack",
            "source",
            0,
            said,
            said,
            said,
        )


def _edges(
    project: Project,
    audiences: list[int],
    of_node: np.ndarray,
    rng: np.random.Generator,
    count: int,
) -> Iterator[tuple[Any, ...]]:
    """Yield edges; one is of its closed end's audience, else everybody's."""
    pairs = _pairs(rng, len(of_node), count)
    weights = rng.geometric(0.7, count)
    minutes = rng.integers(0, MINUTES, count)
    ended = rng.random(count) < ENDED
    for number, (source, target) in enumerate(pairs.tolist()):
        said = START + timedelta(minutes=int(minutes[number]))
        yield (
            number + 1,
            project.tenant_id,
            project.pk,
            audiences[of_node[source] or of_node[target]],
            source + 1,
            target + 1,
            RELATIONS[number % len(RELATIONS)],
            int(weights[number]),
            "source",
            said,
            said + timedelta(days=1) if ended[number] else None,
            said,
        )


def _pairs(rng: np.random.Generator, nodes: int, count: int) -> np.ndarray:
    """Return `count` different (source, target), without loops."""
    shares = 1 / (np.arange(nodes) + SHIFT)
    cumulated = np.cumsum(shares / shares.sum())
    popular = rng.permutation(nodes)
    drawn = int(count * 1.3)
    ranks = np.minimum(np.searchsorted(cumulated, rng.random(drawn)), nodes - 1)
    pairs = np.stack([rng.integers(0, nodes, drawn), popular[ranks]], axis=1)
    pairs = np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)
    return rng.permutation(pairs)[:count]
