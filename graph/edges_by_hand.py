"""Edges that people, agents and the API write: both ends are there first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from django.db import transaction
from django.utils import timezone

from connections.models import Project
from connections.records import EdgeDraft, clean_key, node_types, relations
from connections.roles import Act, must
from graph import by_hand_sql as sql
from graph.audiences import Audiences
from graph.copying import fetch
from graph.edge_writer import EdgeWriter
from graph.edges import GraphScope, Places
from graph.hand import Author, WriteRefused, Written, audit_write, write_record
from graph.known import Known, Lookup
from graph.locks import lock_project
from graph.merged import resolved
from graph.models import Evidence, Node
from graph.models.node import IMPLIED, OF_ITS_SOURCE
from graph.parts import clean_text
from graph.written import WrittenNode, implied_node

# Made from identities, schemas, conversations and communities alone.
NOT_IMPLIED = (
    "account",
    "address",
    "community",
    "db_column",
    "db_table",
    "domain",
    "episode",
    "name",
    "person",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeByHand:
    """An edge as somebody writes it, between keys; an end that is missing is made
    where its type is given."""

    source: str
    relation: str
    target: str
    source_type: str = ""
    target_type: str = ""
    quote: str = ""


def write_edge_by_hand(project: Project, draft: EdgeByHand, by: Author) -> Written:
    """Return the edge, made or met; both of its ends are there first.

    Raises `WriteRefused` where an end is missing and its type was not given, or where
    the relation does not lead from the one to the other.
    """
    must(by.user, Act.WRITE_GRAPH, project.pk)
    relation = relations[draft.relation]
    scope = GraphScope(project, Audiences(project), timezone.now())
    with transaction.atomic():
        lock_project(project)
        ends = {
            "source": (clean_key(draft.source), draft.source_type, relation.source),
            "target": (clean_key(draft.target), draft.target_type, relation.target),
        }
        implied, nodes = [], {}
        for end, (key, given, allowed) in ends.items():
            nodes[end], is_new = _end(scope, key, given, allowed, by)
            implied += [key] if is_new else []
        if nodes["source"].pk == nodes["target"].pk:
            raise WriteRefused("Both ends are one node; an edge leads to another.")
        edge, is_new = _draw(scope, draft, nodes, by)
        audit_write(
            project,
            "edge.written",
            f"edge:{edge}",
            by,
            relation=draft.relation,
            ends=[ends["source"][0], ends["target"][0]],
            is_new=is_new,
            implied=[*implied],
        )
    return Written(edge, is_new, tuple(implied))


def _end(
    scope: GraphScope, key: str, given: str, allowed: str, by: Author
) -> tuple[Node, bool]:
    """Return the node at an end of an edge, made where it is missing; whether it was."""
    known = _known(scope, key)
    if known is not None:
        rows = Node.objects.visible_to(by.user).current().of(scope.project)
        node = rows.defer("embedding").filter(pk=known.person_id or known.id).first()
        if node is None:
            raise WriteRefused(f"There is no node {key!r} that you may see.")
        _check_type(node.node_type, allowed, key)
        return node, False
    if not given:
        raise WriteRefused(
            f"There is no node {key!r}: write it first, or give its type "
            f"({allowed.replace('|', ', ')}) and it is made."
        )
    _check_type(node_types[given].name, allowed, key)
    if given in NOT_IMPLIED:
        raise WriteRefused(f"A {given} is not made for an edge: it comes of a source.")
    made = implied_node(
        scope.project,
        WrittenNode(
            key=key,
            node_type=given,
            origin=IMPLIED,
            audience_id=scope.audiences.public,
            title="" if given in OF_ITS_SOURCE else key.removeprefix(f"{given}:"),
        ),
        now=scope.now,
    )
    return Node.objects.defer("embedding").get(pk=made), True


def _known(scope: GraphScope, key: str) -> Known | None:
    lookup = Lookup(scope, resolved(scope.project, [key]))
    named = lookup.key_of(key)
    lookup.load([named])
    return lookup.known.get(named)


def _check_type(node_type: str, allowed: str, key: str) -> None:
    if node_type not in allowed.split("|"):
        raise WriteRefused(
            f"{key!r} is a {node_type}; the relation takes {allowed.replace('|', ', ')}."
        )


def _draw(
    scope: GraphScope, draft: EdgeByHand, nodes: Mapping[str, Node], by: Author
) -> tuple[int, bool]:
    """Draw the edge that `by` says there is, once; those who see both ends see it."""
    audience = scope.audiences.all_of({node.audience_id for node in nodes.values()})
    source, target = clean_key(draft.source), clean_key(draft.target)
    said = f"{source} -{draft.relation}- {target}"
    words = clean_text("\n\n".join(filter(None, (said, draft.quote))))
    record = write_record(
        scope, f"{by.user.pk}:{said}", asdict(draft), words, audience, by
    )
    lookup = Lookup(scope, resolved(scope.project, [source, target]))
    lookup.load({lookup.key_of(source), lookup.key_of(target)})
    writer = EdgeWriter(scope, lookup, Places())
    claim = writer.claim(
        record,
        audience,
        EdgeDraft(
            source=source,
            relation=draft.relation,
            target=target,
            occurred_at=scope.now,
            quote=clean_text(draft.quote),
        ),
        origin=by.origin,
    )
    if claim is None:
        raise WriteRefused(f"An end of {said} is gone; try again.")
    there = fetch(sql.EDGE_THERE, [*claim.identity[:3], *scope.key])
    proven = Evidence.objects.filter(
        project=scope.project, record_id=record, edge_id__in=[row[0] for row in there]
    )
    if not proven.exists():
        writer.draw([claim])
    edge = fetch(sql.EDGE_THERE, [*claim.identity[:3], *scope.key])
    return int(edge[0][0]), not there
