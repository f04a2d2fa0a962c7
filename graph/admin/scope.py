"""What the admin's pages of the graph share: only what its reader may see."""

from __future__ import annotations

import json
import re
from typing import Any

from django.contrib import admin
from django.core.paginator import Page
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.contrib.filters.admin import DropdownFilter

from connections.admin_scope import (
    BoundedPaginator,
    ReadOnlyAdmin,
    projects_of,
    staff,
)
from connections.models import Project
from connections.records import node_types, relations
from connections.sources.base import connectors
from graph.models import ReviewItem
from graph.review.kinds import review_kinds

LINK_CLASS = "text-primary-600 dark:text-primary-500 hover:underline"


# In more projects than these one list would be that many searches of the index.
MERGED_MOST = 20
# A list filtered by one of these is in its order: their index has it so.
DATES = ("occurred_at", "first_fetched_at")


class NewestPaginator(BoundedPaginator):
    """Pages of lists that are newest first, each project's newest found by its index.

    An index begins with one project. Asked for several at once, the database walks back
    from the newest row of all until enough match, which may be a million rows.
    """

    projects: tuple[tuple[int, int], ...] = ()

    def page(self, number: Any) -> Page:
        number = self.validate_number(number)
        rows = self.object_list
        if not isinstance(rows, QuerySet) or not self._can_merge(rows):
            return super().page(number)
        bottom = (number - 1) * self.per_page
        top = bottom + self.per_page
        order = tuple(dict.fromkeys(map(str, rows.query.order_by)))
        columns = {"id", *(name.removeprefix("-") for name in order)}
        each = [
            rows.filter(tenant_id=tenant, project_id=project).values(*columns)[:top]
            for tenant, project in self.projects
        ]
        newest = each[0].union(*each[1:], all=True).order_by(*order)[bottom:top]
        found = [row["id"] for row in newest]
        whole = rows.model._default_manager.filter(pk__in=found)
        whole.query.select_related = rows.query.select_related
        whole.query.deferred_loading = rows.query.deferred_loading
        return Page(whole.order_by(*order), number, self)

    def _can_merge(self, rows: QuerySet[Any]) -> bool:
        dates = {f"-{name}" for name in DATES}
        newest_first = {"-id"} <= set(rows.query.order_by) <= {"-id", *dates}
        plain = not rows.query.annotations
        return newest_first and plain and 2 <= len(self.projects) <= MERGED_MOST


class VisibleAdmin(ReadOnlyAdmin):
    """Rows with an audience: those that `visible_to` leaves, also for a superuser."""

    list_select_related: tuple[str, ...] = ("project__tenant",)
    paginator = NewestPaginator

    def get_ordering(self, request: HttpRequest) -> Any:
        for name in DATES:
            ends = (f"{name}_{end}_0" for end in ("from", "to"))
            if any(request.GET.get(end) for end in ends):
                return (f"-{name}", "-id")
        return super().get_ordering(request)

    def get_paginator(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        pages = super().get_paginator(request, *args, **kwargs)
        mine = projects_of(staff(request)).order_by("pk").values_list("tenant_id", "pk")
        pages.projects = tuple(mine[: MERGED_MOST + 1])
        return pages

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = super().get_queryset(request)
        # Named, though the audience says as much: every index begins with them.
        mine = list(projects_of(staff(request)).values_list("tenant_id", "pk"))
        rows = rows.filter(
            tenant_id__in={tenant for tenant, _ in mine},
            project_id__in={project for _, project in mine},
        )
        return rows.visible_to(staff(request))  # type: ignore[attr-defined]


class ProjectFilter(DropdownFilter):
    title, parameter_name = "project", "project"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        mine = projects_of(staff(request)).select_related("tenant")
        return [(str(p.pk), p.path) for p in mine.order_by("tenant__slug", "slug")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        chosen = self.value() or ""
        if not chosen.isdigit():
            return queryset
        project = Project.objects.filter(pk=int(chosen)).first()
        if project is None:
            return queryset.none()
        return queryset.filter(tenant_id=project.tenant_id, project_id=project.pk)


class TypeFilter(DropdownFilter):
    title, parameter_name = "type", "node_type"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(name, name.replace("_", " ")) for name in sorted(node_types)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(node_type=self.value()) if self.value() else queryset


class RelationFilter(DropdownFilter):
    title, parameter_name = "relation", "relation"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(name, name.replace("_", " ")) for name in sorted(relations)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(relation=self.value()) if self.value() else queryset


class SourceKindFilter(DropdownFilter):
    title, parameter_name = "source kind", "source_kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        kinds = {connector.source_kind for connector in connectors.values()}
        return [(kind, kind) for kind in sorted(kinds)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(source_kind=self.value()) if self.value() else queryset


class GoneFilter(DropdownFilter):
    title, parameter_name = "at its source", "gone"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("no", "still there"), ("yes", "gone")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() == "yes":
            return queryset.exclude(gone_at=None)
        return queryset.filter(gone_at=None) if self.value() == "no" else queryset


class FlaggedFilter(DropdownFilter):
    title, parameter_name = "waiting for review", "flagged"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        known = {"orphan": "Orphans", "stale": "Stale"}
        known |= {name: kind.title for name, kind in review_kinds.items()}
        return sorted(known.items(), key=lambda kind: kind[1])

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if not self.value():
            return queryset
        mine = list(projects_of(staff(request)).values_list("tenant_id", "pk"))
        items = ReviewItem.objects.visible_to(staff(request)).filter(
            tenant_id__in={tenant for tenant, _ in mine},
            project_id__in={project for _, project in mine},
            kind=self.value(),
            state=ReviewItem.State.OPEN,
        )
        return queryset.filter(pk__in=items.values("node_id"))


def by_title_or_key(
    request: HttpRequest, queryset: QuerySet[Any], words: str
) -> QuerySet[Any]:
    """Keep rows whose title holds `words`, or whose key begins with them.

    Both are served by an index: trigrams of the title, and the key within projects.
    """
    term = words.strip()
    if not term:
        return queryset
    mine = list(projects_of(staff(request)).values_list("tenant_id", "pk"))
    return queryset.filter(
        Q(title__iregex=re.escape(term))
        | Q(
            tenant_id__in={tenant for tenant, _ in mine},
            project_id__in={project for _, project in mine},
            key__startswith=term,
        )
    )


def link_to(name: str, pk: int, text: str) -> SafeString:
    """Return a link to the admin's page of a row."""
    return link(reverse(f"admin:{name}", args=[pk]), text)


def link(address: str, text: str) -> SafeString:
    """Return a link that looks like one in the admin."""
    return format_html('<a class="{}" href="{}">{}</a>', LINK_CLASS, address, text)


def as_text(value: object) -> SafeString:
    """Return JSON as a reader sees it."""
    text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    return format_html("<pre>{}</pre>", text)


@admin.display(description="project")
def project_path(row: Any) -> str:
    return str(row.project.path)
