"""Edges that people, agents and the API wrote: drawn otherwise, or ended."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from connections.models import Project, User
from connections.roles import Act, must
from graph import by_hand_sql as sql
from graph.audiences import Audiences
from graph.changed_by_hand import refuse_elsewhere, sayers_of
from graph.copying import execute, fetch
from graph.edges import GraphScope, Places, settle_edges
from graph.edges_by_hand import EdgeByHand, write_edge_by_hand
from graph.hand import Author, NotByHand, NotThere, WriteRefused, audit_write
from graph.locks import lock_project
from graph.models import Edge
from graph.review.find_orphans import queue_orphans
from graph.versions import check_version, version_of_edge


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeChange:
    """What an edge is to be from now on, between keys; None leaves it as it is."""

    source: str | None = None
    relation: str | None = None
    target: str | None = None
    quote: str | None = None

    @property
    def fields(self) -> list[str]:
        return [name for name in self.__slots__ if getattr(self, name) is not None]


def change_edge_by_hand(
    project: Project, edge: int, change: EdgeChange, by: Author, *, version: str
) -> int:
    """Return the edge as it is now: another one where an end or the relation changed,
    and then the former has ended.

    Raises `Outdated`, `NotByHand` and `WriteRefused` as writing and changing do.
    """
    must(by.user, Act.WRITE_GRAPH, project.pk)
    if not change.fields:
        raise WriteRefused("Give what it is to be: source, relation, target, quote.")
    with transaction.atomic():
        lock_project(project)
        row = _edge(project, edge, by.user, version)
        draft = _changed(row, change)
        _take_back(row)
        written = write_edge_by_hand(project, draft, by)
        _settle(project, row)
        target = f"edge:{written.id}"
        audit_write(
            project, "edge.changed", target, by, was=row.pk, fields=[*change.fields]
        )
    return written.id


def end_edge_by_hand(project: Project, edge: int, by: Author, *, version: str) -> None:
    """End an edge that people alone say; what it left alone is queued for a look.

    Raises `NotByHand` for what a source says, and `Outdated` as a change does.
    """
    must(by.user, Act.WRITE_GRAPH, project.pk)
    with transaction.atomic():
        lock_project(project)
        row = _edge(project, edge, by.user, version)
        _take_back(row)
        _settle(project, row)
        audit_write(
            project,
            "edge.ended",
            f"edge:{row.pk}",
            by,
            relation=row.relation,
            ends=[row.source.key, row.target.key],
        )


def _edge(project: Project, edge: int, user: User, version: str) -> Edge:
    """Return the edge, held until the transaction ends, as it was seen."""
    rows = Edge.objects.visible_to(user).of(project).live().select_related(
        "source", "target"
    )  # fmt: skip
    row = rows.select_for_update(of=("self",)).filter(pk=edge).first()
    if row is None:
        raise NotThere("There is no such edge that you may see, or it has ended.")
    check_version(version, version_of_edge(row))
    sayers = sayers_of(row, user)
    named = f"{row.source.key} -{row.relation}- {row.target.key}"
    refuse_elsewhere(named, row.origin, sayers)
    if sayers.read:
        raise NotByHand(f"{named!r} was read out of texts too; it ends with those.")
    return row


def _changed(row: Edge, change: EdgeChange) -> EdgeByHand:
    values = {"tenant": row.tenant_id, "project": row.project_id, "id": row.pk}
    quotes = [quote for _, quote in fetch(sql.WORDS_ON_EDGE, values) if quote]
    said = {
        "source": row.source.key,
        "relation": row.relation,
        "target": row.target.key,
        "quote": quotes[0] if quotes else "",
    }
    given = {name: getattr(change, name) for name in change.fields}
    return EdgeByHand(**{**said, **given})


def _take_back(row: Edge) -> None:
    """Let nobody say the edge any more: all who did were people."""
    execute(
        sql.TAKE_BACK_EDGE,
        {
            "tenant": row.tenant_id,
            "project": row.project_id,
            "id": row.pk,
            "now": timezone.now(),
        },
    )


def _settle(project: Project, row: Edge) -> None:
    """Weigh the edge by who says it now, or end it; look who is alone without it."""
    scope = GraphScope(project, Audiences(project), timezone.now())
    settle_edges(scope, [row.pk], Places(), forget=False)
    queue_orphans(project, [row.source_id, row.target_id])
