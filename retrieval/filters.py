"""Narrowing nodes to what the filters of a search ask for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from django.db.models import Exists, OuterRef, Q

from connections.models import Project, User
from graph.embed import structure_types
from graph.models import Edge, Node
from graph.models.node import EXTRACTION
from graph.querysets import EdgeQuerySet, NodeQuerySet
from retrieval.results import Filters

N = TypeVar("N", bound=NodeQuerySet)

OF_PEOPLE = ("sent_by", "mentions", "attended")
IN_PLACES = ("posted_in", "in_thread", "in_folder", "part_of")
PLACES = ("channel", "folder", "thread", "meeting")
# A thread is known by its key alone: its title is its first words.
NAMED_PLACES = ("channel", "folder", "meeting")


def narrowed(
    nodes: N,
    project: Project,
    user: User | None,
    filters: Filters,
    *,
    entities: bool = False,
) -> N:
    """Keep those of `nodes` that a search with `filters` may find.

    Nothing is kept for an edge that is hidden from `user`; None is an operator's read.
    Without types, structure is not found, nor what was read out of texts, whose words
    it has, unless `entities` are asked for.
    """
    if filters.types:
        nodes = nodes.filter(node_type__in=filters.types)
    else:
        nodes = nodes.exclude(node_type__in=structure_types())
        nodes = nodes if entities else nodes.exclude(origin=EXTRACTION)
    if filters.sources:
        nodes = nodes.filter(source_kind__in=filters.sources)
    if filters.tags:
        nodes = nodes.filter(tags__contains=[tag.lower() for tag in filters.tags])
    if filters.since:
        nodes = nodes.filter(occurred_at__gte=filters.since)
    if filters.until:
        nodes = nodes.filter(occurred_at__lt=filters.until)
    if not (filters.people or filters.channels):
        return nodes
    edges = Edge.objects.all() if user is None else Edge.objects.visible_to(user)
    edges = edges.of(project)
    if filters.people:
        nodes = nodes.filter(_of_people(edges, filters.people))
    if filters.channels:
        nodes = nodes.filter(_in_places(project, edges, filters.channels))
    return nodes


def _of_people(edges: EdgeQuerySet, people: Sequence[str]) -> Exists:
    named = Q(target__key__in=people) | Q(target__identities__key__in=people)
    for person in people:
        named |= Q(target__node_type="person", target__title__iexact=person)
    return Exists(edges.filter(named, source=OuterRef("pk"), relation__in=OF_PEOPLE))


def _in_places(
    project: Project, edges: EdgeQuerySet, names: Sequence[str]
) -> Exists | Q:
    """Return what holds for nodes in a place, and for the parts of files in it."""
    places = _places(project, names).order_by().values("pk")
    held = edges.filter(
        source=OuterRef("pk"), relation__in=IN_PLACES, target__in=places
    )
    holding = edges.filter(relation="in_folder", target__in=places).values("source_id")
    part = edges.filter(
        source=OuterRef("pk"), relation="part_of", target__in=holding.order_by()
    )
    return Q(Exists(held)) | Q(Exists(part))


def _places(project: Project, names: Sequence[str]) -> NodeQuerySet:
    """Return the places of these keys, names or paths, with all folders below them."""
    named = Q(key__in=names)
    for name in names:
        bare = name.removeprefix("#")
        for title in (bare, f"#{bare}"):
            named |= Q(node_type__in=NAMED_PLACES, title__iexact=title)
        for path in {name, name.removeprefix("folder:")}:
            below = Q(metadata__path=path) | Q(metadata__path__startswith=f"{path}/")
            named |= Q(node_type="folder") & below
    return Node.objects.of(project).current().filter(named, node_type__in=PLACES)
