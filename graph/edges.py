"""Edges from claims: made, strengthened, moved and ended with their evidence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TypeAlias

from psycopg.types.json import Jsonb

from connections.models import Project
from graph import ingest_sql
from graph.audiences import Audiences
from graph.copying import copy_rows, execute, fetch, new_ids
from graph.touched import touch

Place: TypeAlias = tuple[int, Decimal]
EdgeIdentity: TypeAlias = tuple[int, str, int, int | None, datetime | None]

EDGE_COLUMNS = (
    "id",
    "tenant_id",
    "project_id",
    "audience_id",
    "source_id",
    "relation",
    "target_id",
    "scope_id",
    "weight",
    "position",
    "origin",
    "occurred_at",
    "valid_from",
    "created_at",
)
EVIDENCE_COLUMNS = (
    "id",
    "tenant_id",
    "project_id",
    "record_id",
    "edge_id",
    "kind",
    "part",
    "start",
    '"end"',
    "quote",
    "weight",
    "via_source",
    "via_target",
    "assertion",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeClaim:
    """One record's word for one edge; `evidence_id` where it only moves house.

    `otherwise` are the ends it would have where the one it means is not there: kept
    with the evidence, for the day that end is erased.
    """

    record_id: int
    source_id: int
    relation: str
    target_id: int
    audience_id: int
    scope_id: int | None = None
    weight: float = 1.0
    occurred_at: datetime | None = None
    position: Decimal | None = None
    valid_from: datetime | None = None
    quote: str = ""
    via_source: str = ""
    via_target: str = ""
    kind: str = "said"
    part: str = ""
    span: tuple[int | None, int | None] = (None, None)
    origin: str = "source"
    evidence_id: int | None = None
    otherwise: tuple[str, ...] = ()

    @property
    def identity(self) -> EdgeIdentity:
        return (
            self.source_id,
            self.relation,
            self.target_id,
            self.scope_id,
            self.valid_from,
        )


@dataclass(frozen=True, slots=True)
class GraphScope:
    """The project a batch writes to, and its audiences."""

    project: Project
    audiences: Audiences
    now: datetime

    @property
    def key(self) -> tuple[int, int]:
        return self.project.tenant_id, self.project.pk


class Places:
    """Positions of sequences that changed, and the items that stood there."""

    def __init__(self) -> None:
        self.places: set[Place] = set()
        self.items: set[int] = set()

    def add(self, item: int, scope: int, position: Decimal | None) -> None:
        if position is not None:
            self.places.add((scope, position))
            self.items.add(item)


def write_edges(
    scope: GraphScope,
    claims: Sequence[EdgeClaim],
    places: Places,
    fresh: frozenset[int] = frozenset(),
) -> None:
    """Write `claims`: an edge for each identity, weighing the sum, and its evidence.

    `fresh` are nodes made in this transaction, whose edges cannot exist yet.
    """
    grouped: dict[EdgeIdentity, list[EdgeClaim]] = defaultdict(list)
    for claim in claims:
        grouped[claim.identity].append(claim)
        places.add(claim.source_id, claim.target_id, claim.position)
    old = [
        identity
        for identity in grouped
        if identity[0] not in fresh and identity[2] not in fresh
    ]
    existing = _existing(scope, old)
    ids = {identity: edge for identity, (edge, _) in existing.items()}
    _strengthen(scope, [(*existing[i], grouped[i]) for i in grouped if i in existing])
    made = [identity for identity in grouped if identity not in existing]
    ids |= dict(zip(made, new_ids("graph_edges", len(made)), strict=True))
    copy_rows(
        "graph_edges",
        EDGE_COLUMNS,
        (_edge_row(scope, ids[identity], grouped[identity]) for identity in made),
    )
    _write_evidence(scope, [(ids[claim.identity], claim) for claim in claims])


def _existing(
    scope: GraphScope, identities: Sequence[EdgeIdentity]
) -> dict[EdgeIdentity, tuple[int, int | None]]:
    """Return the edges there are, each with its audience while it is live."""
    if not identities:
        return {}
    wanted = set(identities)
    triples = list({identity[:3] for identity in identities})
    rows = fetch(
        ingest_sql.EDGES_OF,
        [
            [t[0] for t in triples],
            [t[1] for t in triples],
            [t[2] for t in triples],
            *scope.key,
        ],
    )
    return {
        tuple(row[1:6]): (row[0], row[6]) for row in rows if tuple(row[1:6]) in wanted
    }


def _latest(claims: Iterable[EdgeClaim]) -> datetime | None:
    return max((c.occurred_at for c in claims if c.occurred_at), default=None)


def _position(claims: Iterable[EdgeClaim]) -> Decimal | None:
    return max((c.position for c in claims if c.position is not None), default=None)


def _strengthen(
    scope: GraphScope, edges: Sequence[tuple[int, int | None, list[EdgeClaim]]]
) -> None:
    if not edges:
        return
    execute(
        ingest_sql.STRENGTHEN_EDGES,
        [
            [edge for edge, _, _ in edges],
            [sum(c.weight for c in claims) for _, _, claims in edges],
            [_latest(claims) for _, _, claims in edges],
            [_position(claims) for _, _, claims in edges],
            [
                scope.audiences.any_of(
                    {c.audience_id for c in claims}
                    | ({audience} if audience else set())
                )
                for _, audience, claims in edges
            ],
        ],
    )


def _edge_row(scope: GraphScope, edge: int, claims: list[EdgeClaim]) -> tuple:
    first = claims[0]
    audience = first.audience_id
    if len(claims) > 1:
        audience = scope.audiences.any_of({claim.audience_id for claim in claims})
    return (
        edge,
        *scope.key,
        audience,
        first.source_id,
        first.relation,
        first.target_id,
        first.scope_id,
        sum(claim.weight for claim in claims),
        _position(claims),
        first.origin,
        _latest(claims),
        first.valid_from,
        scope.now,
    )


def _write_evidence(scope: GraphScope, claims: Sequence[tuple[int, EdgeClaim]]) -> None:
    if moved := [pair for pair in claims if pair[1].evidence_id]:
        execute(
            ingest_sql.MOVE_EVIDENCE,
            [
                [claim.evidence_id for _, claim in moved],
                [edge for edge, _ in moved],
                [claim.via_source for _, claim in moved],
                [claim.via_target for _, claim in moved],
            ],
        )
    new = [(edge, claim) for edge, claim in claims if not claim.evidence_id]
    ids = new_ids("graph_evidence", len(new))
    copy_rows(
        "graph_evidence",
        EVIDENCE_COLUMNS,
        (
            (
                evidence,
                *scope.key,
                claim.record_id,
                edge,
                claim.kind,
                claim.part,
                *claim.span,
                claim.quote,
                claim.weight,
                claim.via_source,
                claim.via_target,
                Jsonb({"otherwise": claim.otherwise}) if claim.otherwise else None,
            )
            for evidence, (edge, claim) in zip(ids, new, strict=True)
        ),
    )


def settle_edges(
    scope: GraphScope, edges: Iterable[int], places: Places, *, forget: bool
) -> None:
    """Weigh `edges` anew after evidence of theirs went or moved.

    One without any is deleted where it should never have been (`forget`), else it
    gets an end: it was true until now.
    """
    ids = list(set(edges))
    if not ids:
        return
    ended = []
    for edge, pieces, audiences, audience, source, target, position in fetch(
        ingest_sql.SETTLE_EDGES, [ids, *scope.key]
    ):
        if not pieces:
            ended.append(edge)
            touch((source, target))
            places.add(source, target, position)
        elif (shared := scope.audiences.any_of(audiences)) != audience:
            execute(
                "UPDATE graph_edges SET audience_id = %s WHERE id = %s", [shared, edge]
            )
    if forget:
        execute("DELETE FROM graph_edges WHERE id = ANY(%s)", [ended])
    else:
        execute(
            "UPDATE graph_edges SET valid_to = now()"
            " WHERE id = ANY(%s) AND valid_to IS NULL",
            [ended],
        )


def refresh_follows(scope: GraphScope, places: Places) -> None:
    """Draw `follows` anew around the places that changed: each item to the one before
    it in its thread, channel or meeting, whatever order they arrived in."""
    if not places.places:
        return
    found = fetch(
        ingest_sql.SEQUENCE_AROUND,
        {
            "scopes": [place[0] for place in places.places],
            "positions": [place[1] for place in places.places],
            "tenant": scope.project.tenant_id,
            "project": scope.project.pk,
        },
    )
    wanted = {(row[0], row[1]): row for row in found}
    items = [*places.items, *(row[0] for row in found)]
    scopes = list({place[0] for place in places.places})
    kept, wrong = set(), []
    for edge, item, within, previous in fetch(
        ingest_sql.FOLLOWS_OF, [*scope.key, scopes, items]
    ):
        row = wanted.get((item, within))
        if row and row[2] == previous:
            kept.add((item, within))
        else:
            wrong.append(edge)
    execute("DELETE FROM graph_edges WHERE id = ANY(%s)", [wrong])
    claims = [
        EdgeClaim(
            record_id=record,
            source_id=item,
            relation="follows",
            target_id=previous,
            scope_id=within,
            audience_id=audience,
            occurred_at=occurred_at,
            kind="derived",
        )
        for item, within, previous, record, audience, occurred_at in found
        if previous and record and (item, within) not in kept
    ]
    write_edges(scope, claims, Places())
    execute(ingest_sql.OPEN_FOLLOWS, [*scope.key, items])
