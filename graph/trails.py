"""Trails: from anything back to what its sources said, and from a record forward to
all that it caused.

A step that its reader may not see is counted as hidden and never named.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import F, Q
from django.urls import reverse

from connections.models import User
from connections.records import node_types
from connections.registry import Registry
from graph.models import Edge, Evidence, ExtractedText, Identity, Node, Record

MOST = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The record that a proof comes from: its source, the run that read it last, where
    the original is, the hash of its bytes, and when they were first fetched."""

    record_id: int
    key: str
    kind: str
    source: str
    source_kind: str
    run: int | None
    read_at: datetime | None
    url: str
    raw_sha256: str
    first_fetched_at: datetime
    gone_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """A piece of evidence: what it is proof of, its words and where they stand."""

    id: int
    kind: str
    meaning: str
    part: str
    quote: str
    start: int | None
    end: int | None
    origin: Origin | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Something that rests on proofs: a node, an edge, a citation, an observation.

    `hidden` is how many proofs its reader may not see, `more` how many are left out.
    """

    kind: str
    name: str
    address: str
    icon: str
    detail: str = ""
    quote: str = ""
    proofs: Sequence[Proof] = ()
    hidden: int = 0
    more: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Caused:
    """What came of something, of one sort: a few by name, the others by number."""

    sort: str
    title: str
    count: int
    hidden: int
    examples: Sequence[Claim]

    @property
    def more(self) -> int:
        return self.count - len(self.examples)


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Where a trail forward begins: nodes, and the records that say them."""

    tenant_id: int
    project_id: int
    nodes: Sequence[int]
    records: Sequence[int]


Step = Callable[[Start, User], Sequence[Caused]]

# What higher layers know to have come of nodes and records: answers, communities.
trail_steps: Registry[Step] = Registry("step of a trail")


def trail_of_node(node: Node, reader: User) -> Claim:
    """Return why `node` exists, back to its sources; `reader` must see the node."""
    return _claim(claim_of_node(node), Q(node=node), node, reader)


def trail_of_edge(edge: Edge, reader: User) -> Claim:
    """Return why `edge` exists; `reader` must see it and both its ends."""
    claim = claim_of_edge(edge)
    return _claim(claim, Q(edge=edge), edge, reader)


def claim_of_node(node: Node, *, quote: str = "") -> Claim:
    """Return what `node` is called, without its proofs."""
    return Claim(
        kind=node.node_type,
        name=str(node)[:200],
        address=reverse("node", args=[node.pk]),
        icon=node.icon,
        detail=node.context,
        quote=quote,
    )


def claim_of_edge(edge: Edge) -> Claim:
    """Return what `edge` says, without its proofs."""
    ends = f"{str(edge.source)[:90]} {edge.relation.replace('_', ' ')} "
    return Claim(
        kind=edge.relation,
        name=f"{ends}{str(edge.target)[:90]}",
        address=reverse("edge_provenance", args=[edge.pk]),
        icon="schema",
    )


def _claim(claim: Claim, of: Q, row: Node | Edge, reader: User) -> Claim:
    rows = Evidence.objects.filter(
        of, tenant_id=row.tenant_id, project_id=row.project_id
    )
    readable = Record.objects.visible_to(reader).filter(
        tenant_id=row.tenant_id, project_id=row.project_id
    )
    seen = rows.filter(Q(record=None) | Q(record__in=readable))
    total, shown = rows.count(), seen.count()
    related = seen.select_related("record__source", "record__run").order_by("-pk")
    proofs = [_proof(each) for each in related.defer("record__body")[:MOST]]
    return replace_proofs(claim, proofs, hidden=total - shown, more=shown - len(proofs))


def replace_proofs(
    claim: Claim, proofs: Sequence[Proof], *, hidden: int, more: int
) -> Claim:
    values = {name: getattr(claim, name) for name in Claim.__slots__}
    return Claim(**{**values, "proofs": proofs, "hidden": hidden, "more": more})


def _proof(evidence: Evidence) -> Proof:
    return Proof(
        id=evidence.pk,
        kind=evidence.kind,
        meaning=str(evidence.get_kind_display()),
        part=evidence.part,
        quote=evidence.quote,
        start=evidence.start,
        end=evidence.end,
        origin=origin_of(evidence.record) if evidence.record else None,
    )


def origin_of(record: Record) -> Origin:
    """Return where `record` comes from."""
    is_link = record.permalink.startswith(("https://", "http://"))
    return Origin(
        record_id=record.pk,
        key=record.key,
        kind=record.kind,
        source=record.source.name,
        source_kind=record.source.kind,
        run=record.run_id,
        read_at=record.run.started_at if record.run else None,
        url=record.permalink if is_link else "",
        raw_sha256=record.raw_sha256,
        first_fetched_at=record.first_fetched_at,
        gone_at=record.gone_at,
    )


def caused_by_node(node: Node, reader: User) -> list[Caused]:
    """Return what came of `node`: of the records that describe it, and of itself."""
    readable = Record.objects.visible_to(reader).of(node.project)
    said = Evidence.objects.filter(
        tenant_id=node.tenant_id,
        project_id=node.project_id,
        node=node,
        kind=Evidence.Kind.SAID,
        record__in=readable,
        record__key=node.key,
    )
    records = list(said.values_list("record_id", flat=True)[:MOST])
    return caused(_start(node, records, [node.pk]), reader)


def caused_by_record(record: Record, reader: User) -> list[Caused]:
    """Return what came of `record`; `reader` must see it."""
    said = Evidence.objects.filter(
        tenant_id=record.tenant_id,
        project_id=record.project_id,
        record=record,
        kind=Evidence.Kind.SAID,
        node__record=record,
    )
    nodes = list(said.values_list("node_id", flat=True))
    return caused(_start(record, [record.pk], nodes), reader)


def _start(row: Node | Record, records: Sequence[int], nodes: Sequence[int]) -> Start:
    return Start(
        tenant_id=row.tenant_id,
        project_id=row.project_id,
        nodes=nodes,
        records=records,
    )


def caused(start: Start, reader: User) -> list[Caused]:
    """Return what came of `start`, sort by sort, what is empty left out."""
    found = [
        _nodes(start, reader, "persons", "Persons it names", Q(node_type="person")),
        _nodes(
            start,
            reader,
            "extracted",
            "Read out of it",
            Q(origin="extraction") & ~Q(node_type="person"),
        ),
        _nodes(
            start,
            reader,
            "nodes",
            "Nodes it says or implies",
            ~Q(node_type="person") & ~Q(origin__in=("extraction", "memory")),
        ),
        _edges(start, reader),
        _accounts(start, reader),
        _vectors(start, reader),
    ]
    for step in trail_steps.values():
        found += step(start, reader)
    return [each for each in found if each.count or each.hidden]


def _nodes(start: Start, reader: User, sort: str, title: str, kind: Q) -> Caused:
    proven = Evidence.objects.filter(
        _of_project(start), record_id__in=start.records, node__isnull=False
    )
    every = Node.objects.filter(
        kind, _of_project(start), pk__in=proven.values("node_id"), trashed_at=None
    )
    seen = every.visible_to(reader)
    count = seen.count()
    shown = seen.defer("embedding", "search_vector", "metadata_vector").order_by("pk")
    return Caused(
        sort=sort,
        title=title,
        count=count,
        hidden=every.count() - count,
        examples=[claim_of_node(node) for node in shown[:MOST]],
    )


def _edges(start: Start, reader: User) -> Caused:
    proven = Evidence.objects.filter(
        _of_project(start), record_id__in=start.records, edge__isnull=False
    )
    every = Edge.objects.filter(_of_project(start), pk__in=proven.values("edge_id"))
    nodes = Node.objects.visible_to(reader).current()
    seen = every.visible_to(reader).filter(source__in=nodes, target__in=nodes)
    count = seen.count()
    shown = seen.select_related("source", "target").order_by("-weight", "pk")
    return Caused(
        sort="edges",
        title="Edges it is evidence of",
        count=count,
        hidden=every.count() - count,
        examples=[claim_of_edge(edge) for edge in shown[:MOST]],
    )


def _accounts(start: Start, reader: User) -> Caused:
    """Return the identities among what it names, and the persons they are held to be."""
    proven = Evidence.objects.filter(
        _of_project(start), record_id__in=start.records, node__isnull=False
    )
    every = Identity.objects.filter(
        _of_project(start), node_id__in=proven.values("node_id")
    )
    visible = Node.objects.visible_to(reader)
    seen = every.filter(node__in=visible, person__in=visible)
    count = seen.count()
    shown = seen.select_related("node", "person").order_by("key")
    return Caused(
        sort="identities",
        title="Accounts and addresses it names",
        count=count,
        hidden=every.count() - count,
        examples=[_account(identity) for identity in shown[:MOST]],
    )


def _account(identity: Identity) -> Claim:
    return Claim(
        kind="identity",
        name=identity.key,
        address=reverse("node", args=[identity.person_id]),
        icon=identity.node.icon,
        detail=f"held to be {identity.person}",
    )


def _vectors(start: Start, reader: User) -> Caused:
    """Return how many vectors were made of its words, and texts read for names."""
    described = Node.objects.filter(_of_project(start), record_id__in=start.records)
    every = described.filter(embedding__isnull=False)
    seen = every.visible_to(reader)
    count = seen.count()
    models = seen.values_list(F("embedding_model__name")).distinct()
    read = ExtractedText.objects.filter(_of_project(start), record__in=start.records)
    detail = ", ".join(sorted(str(name) for (name,) in models.order_by()))
    names = [Claim(kind="vector", name=f"by {detail}", address="", icon="tag")] * bool(
        count
    )
    extractors = read.values_list("extractor", flat=True).distinct().order_by()
    names += [
        Claim(kind="reading", name=f"read by {by}", address="", icon="lightbulb")
        for by in extractors
    ]
    return Caused(
        sort="vectors",
        title="Vectors of its words, and readings",
        count=max(count, len(names)),
        hidden=every.count() - count,
        examples=names,
    )


def _of_project(start: Start) -> Q:
    return Q(tenant_id=start.tenant_id, project_id=start.project_id)


def icon_of(kind: str) -> str:
    known = node_types.get(kind)
    return known.icon if known else "circle"
