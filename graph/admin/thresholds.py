"""The admin of thresholds: one page a project, a row a type."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.views.decorators.http import require_POST

from connections.admin_scope import FabricAdmin, projects_of, staff
from connections.models import Project, User
from connections.refusals import Refused
from connections.roles import Act, may
from graph.models import StaleThreshold
from graph.thresholds import (
    MOST_DAYS,
    ThresholdRefused,
    reset_threshold,
    set_threshold,
    thresholds_listed,
)

PROJECTS_OFFERED = 500
NAME = "graph_stalethreshold"


@admin.register(StaleThreshold)
class StaleThresholdAdmin(FabricAdmin):
    """Members read what holds in their projects; admins of one change it."""

    project_path = "project"

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        return [
            path("", wrap(self.list_view), name=f"{NAME}_changelist"),
            path(
                "<int:pk>/set/",
                wrap(require_POST(self.set_view)),
                name="thresholds_set",
            ),
        ]

    def list_view(self, request: HttpRequest) -> HttpResponse:
        """Show the thresholds of one project, to be changed by its admins."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        user = staff(request)
        mine = _projects(user)
        project = _chosen(mine, request.GET.get("project", ""))
        context = {
            **self.admin_site.each_context(request),
            "title": "Stale after",
            "opts": self.opts,
            "projects": mine[:PROJECTS_OFFERED],
            "project": project,
            "thresholds": thresholds_listed(project) if project else [],
            "may_set": project is not None
            and may(user, Act.MANAGE_PROJECT, project.pk),
            "most_days": MOST_DAYS,
        }
        return TemplateResponse(request, "admin/graph/thresholds.html", context)

    def set_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Store what was typed, or go back to the published threshold of one type."""
        user = staff(request)
        project = _projects(user).filter(pk=pk).first()
        if project is None:
            raise Http404("There is no such project.")
        try:
            said = _carry_out(project, request.POST, user)
        except Refused as error:
            self.message_user(request, str(error), messages.ERROR)
        else:
            self.message_user(request, said, messages.SUCCESS)
        return redirect(f"{reverse(f'admin:{NAME}_changelist')}?project={pk}")


def _projects(user: User) -> QuerySet[Project]:
    rows = projects_of(user).select_related("tenant")
    return rows.order_by("tenant__slug", "slug")


def _chosen(mine: QuerySet[Project], given: str) -> Project | None:
    """Return the project that was asked for, 404 where it is not theirs; else the first."""
    if not given:
        return mine.first()
    found = mine.filter(pk=int(given)).first() if given.isdecimal() else None
    if found is None:
        raise Http404("There is no such project.")
    return found


def _carry_out(project: Project, data: QueryDict, by: User) -> str:
    if name := data.get("reset", ""):
        done = reset_threshold(project, name, by=by)
        return f"{name} is as published again." if done else f"{name} was as published."
    with transaction.atomic():
        changed = [
            one.node_type
            for one in thresholds_listed(project)
            if (given := data.get(f"days-{one.node_type}")) is not None
            and (days := _days(one.node_type, given)) != one.days
            and set_threshold(project, one.node_type, days, by=by)
        ]
    return f"Changed: {', '.join(changed)}." if changed else "Nothing was changed."


def _days(name: str, given: str) -> int | None:
    """Return the days that were typed; nothing typed means never."""
    text = given.strip()
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise ThresholdRefused(
            f"{name}: {text[:40]!r} is no number of days; leave it empty for never."
        )
    return int(text)
