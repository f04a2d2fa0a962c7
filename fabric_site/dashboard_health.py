"""How the sources, databases, checks and the audit of a project are."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.apps import apps
from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.timesince import timesince

from connections.admin_scope import capped_count
from connections.models import Audit, Database, Project, Source, SyncRun
from fabric_site.admin_site import may_view
from fabric_site.dashboard_parts import Health, Listing, Tile, listed, said

SHOWN = 20
WAITING_MOST = 10_000


def since(moment: datetime | None) -> str:
    """Return how long ago a moment was, roughly; nothing where there was none."""
    if moment is None:
        return ""
    # Django joins the parts with spaces that do not break.
    ago = timesince(moment, depth=1).replace("\xa0", " ")
    return "just now" if ago.startswith("0 ") else f"{ago} ago"


def sources_of(project: Project, request: HttpRequest) -> Listing | None:
    """Return the sources whose list the user may open, those that fail first."""
    if not may_view(Source, request):
        return None
    rows = admin.site._registry[Source].get_queryset(request).filter(project=project)
    found = [_source(source) for source in rows.order_by("name", "pk")[: 5 * SHOWN]]
    found.sort(key=lambda health: health.tone != "bad")
    return Listing(
        title="Sources",
        rows=found[:SHOWN],
        link=listed(Source, project__id__exact=project.pk),
        empty="No source is connected. manage.py ingest --help says how to read one.",
    )


def _source(source: Any) -> Health:
    state = source.last_state or "never read"
    failed = state == SyncRun.State.FAILED
    counts = [
        f"{number:,} {name}"
        for name in ("seen", "created", "updated", "failed")
        if (number := getattr(source, f"last_{name}"))
    ]
    error = ""
    if failed:
        last = SyncRun.objects.filter(source_id=source.pk).order_by("-pk")
        error = last.values_list("error", flat=True).first() or ""
    return Health(
        name=source.name,
        link=reverse("admin:connections_source_change", args=[source.pk]),
        state=str(state),
        tone="bad" if failed else "good" if source.last_state else "",
        when=since(source.last_started_at),
        counts=", ".join(counts),
        error=error[:300],
        fix="Open it for the items that failed, then read it again." if failed else "",
    )


def databases_of(project: Project, request: HttpRequest) -> Listing | None:
    """Return the databases whose list the user may open, those that fail first."""
    if not may_view(Database, request):
        return None
    rows = admin.site._registry[Database].get_queryset(request).filter(project=project)
    found = [_database(database) for database in rows.order_by("name")[: 5 * SHOWN]]
    found.sort(key=lambda health: health.tone != "bad")
    return Listing(
        title="Databases",
        rows=found[:SHOWN],
        link=listed(Database, project__id__exact=project.pk),
        empty="No database is connected. Add one to ask it in plain words.",
    )


def _database(database: Database) -> Health:
    report = database.test_report or {}
    error = str(report.get("sentence", "")) if not report.get("is_fine", True) else ""
    error = error or database.discovery_error
    state = "off" if not database.enabled else "fails" if error else "fine"
    if database.enabled and not report:
        state = "not tested"
    return Health(
        name=database.title or database.name,
        link=reverse("admin:connections_database_change", args=[database.pk]),
        state=state,
        tone="bad" if error else "good" if state == "fine" else "",
        when=since(database.discovered_at or database.tested_at),
        error=error[:300],
        fix="Open it and test the connection." if error else "",
    )


def audit_of(project: Project, request: HttpRequest) -> Tile | None:
    """Return how far the tenant's audit is sealed into its chain."""
    if not may_view(Audit, request):
        return None
    chain = Audit.objects.filter(tenant_id=project.tenant_id)
    sealed = chain.filter(position__isnull=False).order_by("-position").first()
    waiting = capped_count(chain.filter(position=None), WAITING_MOST)
    note = f"{said(waiting)} wait to be sealed"
    if sealed is not None:
        note = f"last {since(sealed.at)}; {note}"
    return Tile(
        title="Audit rows sealed",
        value=said(sealed.position if sealed else 0),
        link=listed(Audit, project__id__exact=project.pk),
        note=note,
        tone="bad" if waiting >= WAITING_MOST else "",
    )


def check_of(project: Project) -> Tile | None:
    """Return what the last check of the graph found, where one ever ran."""
    known: dict[str, Any] = apps.get_app_config("graph").models
    checks = known.get("graphcheck")
    if checks is None:
        return None
    last = checks.objects.filter(
        tenant_id=project.tenant_id, project_id=project.pk
    ).order_by("-at")
    found = last.first()
    if found is None:
        return Tile(
            title="Faults of the graph",
            value="-",
            note="It was never checked: manage.py check_graph",
        )
    address = ""
    if checks in admin.site._registry:
        address = reverse("admin:graph_graphcheck_change", args=[found.pk])
    return Tile(
        title="Faults of the graph",
        value=said(found.faults),
        note=f"checked {since(found.at)}, {said(found.repaired)} mended",
        link=address,
        tone="bad" if found.faults else "good",
    )


def now_text(moment: datetime | None) -> str:
    """Return when the figures were counted, as the page says it."""
    if moment is None:
        return "Nothing was counted yet: manage.py count_figures does it now."
    return f"Counted {since(moment)} ({timezone.localtime(moment):%H:%M})."
