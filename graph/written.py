"""The one way in which people, agents and memory write nodes and edges of their own.

What a source said comes through `graph.ingest`. Call these in the transaction of the
act they belong to.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from connections.models import Project
from connections.records import JSON, clean_key, node_types, relations
from graph import sql, written_sql
from graph.audiences import Audiences
from graph.copying import execute, fetch, new_ids
from graph.embed import active_embedder, note_refusals
from graph.language import detect_language
from graph.models import Evidence, Node
from graph.node_rows import span_of
from graph.node_vectors import Made, Waiting
from graph.parts import clean_text

OWN_ID = "{id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenNode:
    """A node that somebody writes; `{id}` in its key stands for its own id."""

    key: str
    node_type: str
    origin: str
    audience_id: int
    title: str = ""
    content: str = ""
    context: str = ""
    source_kind: str = ""
    metadata: Mapping[str, JSON] = field(default_factory=dict)
    tags: Sequence[str] = ()
    occurred_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenEdge:
    """An edge that somebody writes, between nodes of one project."""

    source_id: int
    relation: str
    target_id: int
    origin: str
    audience_id: int
    weight: float = 1.0
    occurred_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Supporting:
    """A node that can be cited: who may see it, its words, and its record if any."""

    node_id: int
    key: str
    audience_id: int
    title: str
    content: str
    record_id: int | None
    body: str

    def says(self, quote: str) -> bool:
        """Return whether `quote` stands in it, however its lines are broken."""
        wanted = one_line(quote)
        return any(wanted in one_line(t) for t in (self.content, self.title, self.body))


def one_line(text: str) -> str:
    return " ".join(text.split())


def write_node(project: Project, draft: WrittenNode, *, now: datetime) -> int:
    """Return the id of a new node, or of the one that has its key already.

    It is found by its words at once, and by its meaning where the embedder is local;
    else within a minute. Raises `UnknownName` for a type nobody registered.
    """
    node_types[draft.node_type]
    own = new_ids("graph_nodes", 1)[0]
    key = clean_key(draft.key.replace(OWN_ID, str(own)))
    content = clean_text(draft.content)
    node, is_new = Node.objects.get_or_create(
        tenant_id=project.tenant_id,
        project=project,
        key=key,
        defaults={
            "id": own,
            "audience_id": draft.audience_id,
            "node_type": draft.node_type,
            "title": clean_text(draft.title),
            "content": content,
            "context": clean_text(draft.context),
            "language": detect_language(content) or project.language,
            "tags": list(draft.tags),
            "metadata": dict(draft.metadata),
            "source_kind": draft.source_kind,
            "origin": draft.origin,
            "occurred_at": draft.occurred_at,
            "valid_from": draft.occurred_at,
            "last_evidence_at": now,
        },
    )
    if is_new:
        give_vectors([node.pk])
    return node.pk


def rewrite_node(node: Node, *, content: str, context: str) -> None:
    """Give `node` other words, and the vector of these."""
    content = clean_text(content)
    node.content, node.context = content, clean_text(context)
    node.language = detect_language(content) or node.project.language
    node.save(update_fields=("content", "context", "language", "updated_at"))
    give_vectors([node.pk])


def implied_node(project: Project, draft: WrittenNode, *, now: datetime) -> int:
    """Return the end of an edge, made where it is missing and marked as only implied
    until a source names it."""
    node = write_node(project, draft, now=now)
    if not Evidence.objects.filter(project=project, node_id=node).exists():
        Evidence.objects.create(
            tenant_id=project.tenant_id,
            project=project,
            node_id=node,
            kind=Evidence.Kind.IMPLIED,
        )
    return node


def write_edge(project: Project, draft: WrittenEdge, *, now: datetime) -> int:
    """Return the id of the edge, made, or weighing and shown anew.

    Raises `UnknownName` for a relation nobody registered.
    """
    return write_edges(project, [draft], now=now)[0]


def write_edges(
    project: Project, drafts: Sequence[WrittenEdge], *, now: datetime
) -> list[int]:
    """Return the ids of different edges, written as `write_edge` does, in one
    statement."""
    for draft in drafts:
        relations[draft.relation]
    rows = fetch(
        written_sql.EDGES,
        {
            "tenant": project.tenant_id,
            "project": project.pk,
            "audiences": [draft.audience_id for draft in drafts],
            "sources": [draft.source_id for draft in drafts],
            "relations": [draft.relation for draft in drafts],
            "targets": [draft.target_id for draft in drafts],
            "weights": [draft.weight for draft in drafts],
            "origins": [draft.origin for draft in drafts],
            "moments": [draft.occurred_at for draft in drafts],
            "now": now,
        },
    )
    return [int(row[0]) for row in rows]


def write_proof(
    project: Project,
    support: Supporting,
    quote: str,
    *,
    part: str,
    node_id: int | None = None,
    edge_id: int | None = None,
) -> None:
    """Write what the record of `support` says for a node or for an edge, once.

    Erasing the record takes it away.
    """
    start, end = span_of(support.body, quote)
    values = {
        "tenant": project.tenant_id,
        "project": project.pk,
        "record": support.record_id,
        "node": node_id,
        "edge": edge_id,
        "part": part,
        "start": start,
        "end": end,
        "quote": clean_text(quote),
    }
    if support.record_id is not None:
        execute(written_sql.PROOF, values)


def supporting_nodes(project: Project, nodes: Collection[int]) -> dict[int, Supporting]:
    """Return those of `nodes` that are in `project`, by id, as they can be cited."""
    if not nodes:
        return {}
    rows = fetch(
        written_sql.RECORDS_OF_NODES, [project.tenant_id, project.pk, list(nodes)]
    )
    return {
        row[0]: Supporting(
            node_id=row[0],
            key=row[1],
            audience_id=row[2],
            title=row[3],
            content=row[4],
            record_id=row[5],
            body=row[6],
        )
        for row in rows
    }


def close_nodes(nodes: Iterable[int], moment: datetime) -> None:
    """End nodes that were valid until `moment`: they are in no search after it."""
    execute(written_sql.CLOSE_NODES, [moment, list(nodes)])


def reopen_node(node: int) -> None:
    execute(written_sql.REOPEN_NODE, [node])


def show_edges(
    project: Project, nodes: Collection[int], *, origin: str, audiences: Audiences
) -> None:
    """Show the edges that `origin` wrote around `nodes` to those who see both ends."""
    rows = fetch(
        written_sql.ENDS_OF_EDGES,
        {
            "tenant": project.tenant_id,
            "project": project.pk,
            "origin": origin,
            "nodes": list(nodes),
        },
    )
    wanted = {edge: audiences.all_of({one, two}) for edge, _, one, two in rows}
    changed = [edge for edge, now, _, _ in rows if wanted[edge] != now]
    if changed:
        execute(written_sql.SHOW_EDGES, [changed, [wanted[e] for e in changed]])


def give_vectors(nodes: Sequence[int]) -> None:
    """Give `nodes` their vectors where that asks nobody over the network; the others
    wait in the queue."""
    embedder, model = active_embedder()
    if not embedder.is_local:
        return
    rows = fetch(written_sql.WAITING_AMONG, [list(nodes)])
    if not rows:
        return
    made = Made.of([Waiting(*row) for row in rows], embedder)
    values = made.values(model.pk)
    execute(sql.SET_VECTORS, values)
    note_refusals(execute, made, values)
