"""The admin's first page: how a project is doing, as far as the reader may know.

The figures of a whole project count what private audiences hold too. They are shown to
its reviewers and admins; everybody else sees counts of what they may list themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.http import HttpRequest
from django.urls import reverse

from connections.admin_scope import capped_count, projects_of, staff
from connections.models import Audit, ModelUsage, Project, SavedView, Source, User
from connections.pages import first_with_source
from connections.roles import Act, may
from connections.saved_views import address_of_view
from fabric_site import dashboard_charts as charts
from fabric_site import dashboard_health as health
from fabric_site.admin_site import may_view
from fabric_site.dashboard_parts import (
    Cell,
    Chart,
    Dashboard,
    Head,
    Row,
    Tile,
    listed,
    said,
)
from fabric_site.queues import queue_list, waiting
from graph.figures.reading import Course, counted_at, course_of, latest_of
from graph.models import Edge, Node, Record
from graph.review.reading import QueueSize
from memory.models import Feedback

DAYS = 30
OFFERED = 500
COUNTED_MOST = 10_000
FIGURES = ("records", "nodes", "edges", "answers", "feedback", "arms")


def dashboard(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Return the first page's context: one project's figures, charts and health."""
    user = staff(request)
    projects = list(projects_of(user).select_related("tenant").order_by("pk")[:OFFERED])
    project = _chosen(request, projects)
    views = SavedView.objects.visible_to(user).order_by("name", "pk")[:12]
    context = {
        **context,
        "title": "Dashboard",
        "projects": projects,
        "project": project,
        "views": [(view, address_of_view(view)) for view in views],
    }
    if project is None:
        return context
    knows_all = may(user, Act.REVIEW, project.pk)
    shown = (
        _of_project(request, user, project)
        if knows_all
        else _of_reader(request, user, project)
    )
    return {
        **context,
        "shown": shown,
        "knows_all": knows_all,
        "counted": health.now_text(counted_at(project)) if knows_all else "",
    }


def _chosen(request: HttpRequest, projects: list[Project]) -> Project | None:
    """Return the project that was asked for, else the user's first with a source."""
    path = request.GET.get("project", "")
    found = next((project for project in projects if project.path == path), None)
    if path and found is None:
        messages.warning(request, f"You are in no project {path!r}; this is another.")
    return found or first_with_source(projects) or next(iter(projects), None)


def _of_reader(request: HttpRequest, user: User, project: Project) -> Dashboard:
    """Return what somebody sees who may not know what closed channels hold."""
    tiles = []
    for model, name in ((Node, "Nodes"), (Edge, "Edges"), (Record, "Records")):
        if not may_view(model, request):
            continue
        mine = model.objects.visible_to(user).of(project)
        number = capped_count(mine, COUNTED_MOST)
        tiles.append(
            Tile(
                title=f"{name} you may see",
                value=f"{number:,}{'+' if number >= COUNTED_MOST else ''}",
                link=listed(model, project=project.pk),
            )
        )
    return Dashboard(tuple(tiles), (), _listings(request, project))


def _of_project(request: HttpRequest, user: User, project: Project) -> Dashboard:
    courses = course_of(project, FIGURES, DAYS)
    latest = latest_of(project, ("nodes", "edges", "degrees", "stale"))
    queues = waiting(user, project)
    nodes = Node.objects.filter(tenant_id=project.tenant_id, project=project)
    is_empty = not latest["nodes"] and not nodes.exists()
    graph_tiles = (
        _graph_tiles(project, latest)
        if latest["nodes"] or is_empty
        else _not_counted(project)
    )
    tiles = _tiles(request, project, courses, graph_tiles, queues)
    drawn = tuple(_charts(request, user, project, courses, latest, queues))
    return Dashboard(
        tuple(tile for tile in tiles if tile),
        drawn,
        _listings(request, project),
        is_bare=all(chart.is_empty for chart in drawn) and is_empty,
    )


def _listings(request: HttpRequest, project: Project) -> tuple[Any, ...]:
    found = (health.sources_of(project, request), health.databases_of(project, request))
    return tuple(each for each in found if each is not None)


def _tiles(
    request: HttpRequest,
    project: Project,
    courses: dict[str, Course],
    graph: Sequence[Tile],
    queues: list[QueueSize],
) -> list[Tile | None]:
    today = sum(values[-1] or 0 for values in courses["records"].values.values())
    open_items = sum(each.open for each in queues)
    return [
        Tile(
            title="Records today",
            value=said(today),
            link=listed(Record, project=project.pk),
        )
        if may_view(Record, request)
        else None,
        Tile(
            title="Waiting for review",
            value=said(open_items),
            link=queue_list(project),
            tone="" if open_items else "good",
        ),
        *graph,
        _complaints(request, project),
        health.check_of(project),
        health.audit_of(project, request),
    ]


def _graph_tiles(
    project: Project, latest: dict[str, dict[str, float]]
) -> tuple[Tile, ...]:
    of_project = {"project": project.pk}
    orphans = latest["degrees"].get("0", 0)
    nodes, old = sum(latest["nodes"].values()), sum(latest["stale"].values())
    return (
        Tile(title="Nodes", value=said(nodes), link=listed(Node, **of_project)),
        Tile(
            title="Edges",
            value=said(sum(latest["edges"].values())),
            link=listed(Edge, **of_project),
        ),
        Tile(
            title="Older than allowed",
            value=f"{old / nodes:.0%}" if nodes else "-",
            note=f"{said(old)} of {said(nodes)} nodes",
            link=listed(Node, **of_project, flagged="stale"),
        ),
        Tile(
            title="Orphans",
            value=said(orphans),
            note="nodes without a live edge",
            link=listed(Node, **of_project, flagged="orphan"),
        ),
    )


def _not_counted(project: Project) -> tuple[Tile, ...]:
    """Return what stands for the figures of a graph that nobody counted yet."""
    note = "counted within the hour"
    return tuple(
        Tile(title=name, value="-", note=note, link=listed(model, project=project.pk))
        for name, model in (("Nodes", Node), ("Edges", Edge))
    )


def _complaints(request: HttpRequest, project: Project) -> Tile | None:
    if not may_view(Feedback, request):
        return None
    rows = Feedback.objects.filter(
        turn__conversation__tenant_id=project.tenant_id,
        turn__conversation__project=project,
        state=Feedback.State.OPEN,
    )
    number = capped_count(rows, COUNTED_MOST)
    return Tile(
        title="Open complaints",
        value=said(number),
        link=listed(Feedback, state__exact=Feedback.State.OPEN.value),
        tone="" if number else "good",
    )


def _charts(
    request: HttpRequest,
    user: User,
    project: Project,
    courses: dict[str, Course],
    latest: dict[str, dict[str, float]],
    queues: list[QueueSize],
) -> list[Chart]:
    sources = list(Source.objects.filter(project=project))
    found = [
        charts.came_in(courses["records"], project, sources),
        _queue_chart(queues, project),
        charts.growth(courses["nodes"], project, of_nodes=True),
        charts.growth(courses["edges"], project, of_nodes=False),
        charts.degrees(latest["degrees"], project),
        charts.hubs(latest["degrees"], _visible_hubs(latest["degrees"], user, project)),
        charts.stale(latest["stale"], latest["nodes"], project),
        charts.answers(
            courses["answers"], project, reads_audit=may_view(Audit, request)
        ),
        charts.contributions(courses["arms"]),
    ]
    if may_view(Feedback, request):
        found.append(charts.feedback(courses["feedback"]))
    if may_view(ModelUsage, request):
        found.append(charts.spend(courses["records"].days, project))
    return found


def _queue_chart(queues: list[QueueSize], project: Project) -> Chart:
    rows = []
    for each in queues:
        link = queue_list(project, each.kind)
        cells = (Cell(each.open, link), Cell(each.snoozed))
        rows.append(Row(Head(each.title, link), cells))
    return Chart(
        title="The review queue",
        kind="stacked",
        unit="items",
        says=f"{said(sum(each.open for each in queues))} items wait, by kind",
        axis="kind",
        heads=(Head("open"), Head("snoozed")),
        rows=rows,
        empty="Nothing waits. A scan runs every night: manage.py scan_stale.",
    )


def _visible_hubs(
    latest: dict[str, float], user: User, project: Project
) -> dict[int, tuple[str, str]]:
    """Return the title and page of those hubs that the reader may see."""
    ids = [int(label[4:]) for label in latest if label.startswith("hub:")]
    nodes = Node.objects.visible_to(user).of(project).current().filter(pk__in=ids)
    return {
        node.pk: (str(node)[:60], reverse("admin:graph_node_change", args=[node.pk]))
        for node in nodes.only("title", "content", "key")
    }
