"""The page of the graph's picture: drawn, and told in a list that needs no script."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from connections.models import Project, User
from connections.pages import chosen_project, private, projects_of, reader, signed_in
from connections.records import clean_key, node_types, relations
from graph.matching import matching
from graph.models import Node
from graph.picture_data import picture_data
from graph.pictures import (
    DEPTH_MOST,
    LIMIT_MOST,
    Connection,
    Drawn,
    Picture,
    connection_of,
    picture_around,
    picture_of_all,
)
from graph.querysets import NodeQuerySet
from graph.relation_labels import label_of_relation
from graph.steps import Direction
from graph.surroundings import USUAL, More, View, family_of
from graph.time_slices import Slice, slice_of

WORDS_CHARACTERS, KEY_CHARACTERS = 300, 2000
FOUND, STARTS, OPEN_ROWS = 30, 12, 40
LARGEST_ID = 2**63 - 1
FURTHER = "Further on"
DEFERRED = ("embedding", "search_vector", "metadata_vector")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the address of the page says is shown."""

    node: str = ""
    to: str = ""
    q: str = ""
    day: str = ""
    depth: int = 1
    is_whole: bool = False
    types: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()

    @classmethod
    def of(cls, request: HttpRequest) -> Asked:
        """Read the address; what there is no such thing of is not asked for."""
        given = request.GET
        depth = given.get("depth", "1")
        is_depth = depth.isascii() and depth.isdigit()
        return cls(
            node=given.get("node", "").strip()[:KEY_CHARACTERS],
            to=given.get("to", "").strip()[:KEY_CHARACTERS],
            q=given.get("q", "").strip()[:WORDS_CHARACTERS],
            day=given.get("day", ""),
            depth=min(max(int(depth), 1), DEPTH_MOST) if is_depth else 1,
            is_whole=given.get("whole") == "1",
            types=tuple(name for name in given.getlist("type") if name in node_types),
            relations=tuple(n for n in given.getlist("relation") if n in relations),
        )

    @property
    def is_filtered(self) -> bool:
        return bool(self.types or self.relations)


@dataclass(frozen=True, slots=True)
class Choice:
    """A line of the legend, which is also a filter."""

    name: str
    label: str
    count: int
    is_on: bool
    family: str = ""


@dataclass(frozen=True, slots=True)
class Listed:
    """The nodes tied to the centre over one relation in one direction."""

    label: str
    rows: Sequence[Drawn]
    more: More | None = None
    is_open: bool = True


@signed_in
@require_safe
def graph_page(request: HttpRequest) -> HttpResponse:
    """Show a part of a project's graph; what the user may not see is not there."""
    user = reader(request)
    asked = Asked.of(request)
    node = _node(user, asked.node) if asked.node else None
    project = node.project if node else chosen_project(request)
    context: dict[str, Any] = {"asked": asked, "project": project, "node": node}
    if project is not None:
        context |= {"projects": projects_of(user), "depths": range(1, DEPTH_MOST + 1)}
        try:
            context |= _shown(user, project, node, asked)
        except ValueError as error:
            context["complaints"] = [str(error)]
    status = 400 if context.get("complaints") else 200
    return private(render(request, "graph/picture.html", context, status=status))


def _shown(
    user: User, project: Project, node: Node | None, asked: Asked
) -> dict[str, Any]:
    view = View(user=user, project=project)
    if asked.q:
        return {"found": _matching(view, asked.q)}
    if node is None and not asked.is_whole:
        return {"starts": picture_of_all(view, limit=STARTS).nodes}
    return _pictured(view, node, asked)


def _pictured(view: View, node: Node | None, asked: Asked) -> dict[str, Any]:
    sliced = slice_of(view.nodes(), node, asked.day) if node else None
    view = replace(view, as_of=sliced.as_of if sliced else None)
    narrow = replace(view, types=asked.types, relations=asked.relations)
    picture = _picture(narrow, node, asked)
    whole = _picture(view, node, asked) if asked.is_filtered else picture
    context: dict[str, Any] = {
        "slice": sliced,
        "picture": picture,
        "data": picture_data(view.project, node, picture),
        "listed": listed_by_relation(picture, node),
        "types": _types(whole, asked),
        "relations": _relations(whole, asked),
        "endpoint": _endpoint(narrow, node, asked, sliced),
    }
    if node and asked.to:
        context["way"] = _way(view, node, asked.to)
    return context


def _picture(view: View, node: Node | None, asked: Asked) -> Picture:
    if node is None:
        return picture_of_all(view, limit=LIMIT_MOST)
    return picture_around(view, node, depth=asked.depth, limit=USUAL)


def _way(view: View, start: Node, named: str) -> Connection | None:
    end = view.nodes().filter(_called(named)).first()
    return connection_of(view, start, end) if end else None


def listed_by_relation(picture: Picture, centre: Node | None) -> list[Listed]:
    """Return what is drawn for those who read it: by relation to the centre, then the
    rest, and without a centre by type; each node once."""
    if centre is None:
        by_type: dict[str, list[Drawn]] = {}
        for each in picture.nodes:
            by_type.setdefault(each.node.node_type, []).append(each)
        return [
            Listed(name.replace("_", " "), by_type[name]) for name in sorted(by_type)
        ]
    drawn = {each.node.pk: each for each in picture.nodes}
    drawn.pop(centre.pk, None)
    groups: dict[tuple[str, Direction], list[Drawn]] = {}
    for edge in picture.edges:
        if centre.pk in (edge.source_id, edge.target_id):
            is_out = edge.source_id == centre.pk
            other = edge.target_id if is_out else edge.source_id
            if other in drawn:
                way: Direction = "out" if is_out else "in"
                group = (edge.relation, way)
                groups.setdefault(group, []).append(drawn.pop(other))
    more = {(each.relation, each.direction): each for each in picture.more}
    groups |= {key: [] for key in more if key not in groups}
    found = [
        Listed(label_of_relation(*group), rows, more.get(group))
        for group, rows in groups.items()
    ]
    further = [Listed(FURTHER, list(drawn.values()))] if drawn else []
    return _opened([*found, *further])


def _opened(groups: Sequence[Listed]) -> list[Listed]:
    """Return the groups, open as long as a reader can take them in; the first is."""
    rows, found = 0, list[Listed]()
    for group in groups:
        found.append(replace(group, is_open=not found or rows <= OPEN_ROWS))
        rows += len(group.rows)
    return found


def _types(picture: Picture, asked: Asked) -> list[Choice]:
    counted = Counter(each.node.node_type for each in picture.nodes)
    counted |= {name: counted[name] for name in asked.types}
    return [
        Choice(
            name,
            name.replace("_", " "),
            count,
            not asked.types or name in asked.types,
            family_of(name),
        )
        for name, count in sorted(counted.items(), key=lambda row: (-row[1], row[0]))
    ]


def _relations(picture: Picture, asked: Asked) -> list[Choice]:
    counted = Counter(edge.relation for edge in picture.edges)
    counted |= {name: counted[name] for name in asked.relations}
    return [
        Choice(
            name,
            name.replace("_", " "),
            count,
            not asked.relations or name in asked.relations,
        )
        for name, count in sorted(counted.items(), key=lambda row: (-row[1], row[0]))
    ]


def _endpoint(view: View, node: Node | None, asked: Asked, sliced: Slice | None) -> str:
    """Return the address of the same picture as data."""
    query: list[tuple[str, object]] = [("project", view.project.path)]
    if node:
        query += [("node", node.pk), ("depth", asked.depth), ("limit", USUAL)]
    else:
        query += [("limit", LIMIT_MOST)]
    query += [("type", name) for name in view.types]
    query += [("relation", name) for name in view.relations]
    if view.as_of and sliced:
        query.append(("as_of", view.as_of.isoformat()))
    return f"{reverse('graph-picture')}?{urlencode(query)}"


def _matching(view: View, words: str) -> list[Node]:
    """Return nodes with those words, titles that have them first."""
    rows = view.nodes().filter(matching(words, view.project)).defer(*DEFERRED)
    titled = list(rows.filter(title__icontains=words).order_by("-pk")[:FOUND])
    if len(titled) < FOUND:
        rest = rows.exclude(pk__in=[node.pk for node in titled]).order_by("-pk")
        titled += rest[: FOUND - len(titled)]
    return titled


def _node(user: User, named: str) -> Node:
    rows: NodeQuerySet = Node.objects.visible_to(user).current()
    related = rows.as_of(timezone.now()).select_related("project__tenant")
    node = related.defer(*DEFERRED).filter(_called(named)).order_by("pk").first()
    if node is None:
        raise Http404("There is no such node that you may see.")
    return node


def _called(named: str) -> Q:
    wanted = Q(key=clean_key(named))
    if named.isascii() and named.isdigit() and int(named) <= LARGEST_ID:
        wanted |= Q(pk=int(named))
    return wanted
