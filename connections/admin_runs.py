"""The admin of sources and their runs: all of it is only read."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from unfold.contrib.filters.admin import (
    ChoicesDropdownFilter,
    DropdownFilter,
    RangeDateTimeFilter,
)
from unfold.decorators import display

from connections.admin_scope import (
    OwnRelatedFilter,
    ReadOnlyAdmin,
    ReadOnlyInline,
    audiences_of,
)
from connections.models import Source, SyncError, SyncRun
from connections.roles import Act
from connections.sources.base import connectors

STATE_COLOURS = {
    SyncRun.State.RUNNING.value: "info",
    SyncRun.State.FINISHED.value: "success",
    SyncRun.State.FAILED.value: "danger",
}
COUNTS = ("seen", "created", "updated", "unchanged", "deleted", "failed")


def _open_to(request: HttpRequest, audience: str) -> Q:
    """Keep sources that are the project's, or of an audience the reader is in: what
    went wrong in somebody's mailbox names what is in it."""
    mine = audiences_of(request)
    return Q(**{audience: None}) | Q(**{f"{audience}__in": mine})


class RunInline(ReadOnlyInline):
    model = SyncRun
    fields = ("state", "started_at", "finished_at", *COUNTS, "error")
    per_page = 10
    show_change_link = True


class KindFilter(DropdownFilter):
    title, parameter_name = "kind", "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(kind, kind) for kind in sorted(connectors)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(kind=self.value()) if self.value() else queryset


@admin.register(Source)
class SourceAdmin(ReadOnlyAdmin):
    """Sources with what their last run did; `manage.py ingest` makes and reads them."""

    project_path, view_act = "project", Act.SEE_SOURCES
    list_display = ("name", "kind", "project", "state", "last_run_at", "last_counts")
    list_filter = (KindFilter, ("project", OwnRelatedFilter))
    list_select_related = ("project__tenant",)
    search_fields = ("name", "location")
    fields = (
        "project",
        "kind",
        "name",
        "location",
        "owner",
        "audience",
        "created_at",
        "erasing",
    )
    inlines = (RunInline,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Source]:
        last = SyncRun.objects.filter(source=OuterRef("pk")).order_by("-pk")
        columns = {
            f"last_{name}": Subquery(last.values(name)[:1])
            for name in ("state", "started_at", *COUNTS)
        }
        rows = super().get_queryset(request).filter(_open_to(request, "audience"))
        return rows.annotate(**columns)  # type: ignore[no-any-return]

    @display(description="erasing")
    def erasing(self, source: Source) -> str:
        # The graph's page: it says what goes along, and lets only an admin in.
        address = reverse("admin:graph_erasure_source", args=[source.pk])
        return format_html('<a href="{}">Erase it with all it brought…</a>', address)

    @display(description="last run", label=STATE_COLOURS)
    def state(self, source: Any) -> str:
        return source.last_state or "never read"

    @display(description="begun", ordering="last_started_at")
    def last_run_at(self, source: Any) -> Any:
        return source.last_started_at

    @display(description="counts")
    def last_counts(self, source: Any) -> str:
        if source.last_state is None:
            return ""
        counts = ((getattr(source, f"last_{name}"), name) for name in COUNTS)
        said = [f"{count:,} {name}" for count, name in counts if count]
        return ", ".join(said) or "nothing seen"


class ErrorInline(ReadOnlyInline):
    model = SyncError
    fields = ("item", "error", "is_warning", "at")


@admin.register(SyncRun)
class SyncRunAdmin(ReadOnlyAdmin):
    """Runs; the counts of one at work are those of this moment."""

    project_path, view_act = "source__project", Act.SEE_SOURCES
    list_display = ("source", "state_label", "started_at", "finished_at", *COUNTS)
    list_filter = (
        ("state", ChoicesDropdownFilter),
        ("source", OwnRelatedFilter),
        ("started_at", RangeDateTimeFilter),
    )
    list_select_related = ("source",)
    search_fields = ("source__name", "error")
    fields = (
        "source",
        "state",
        "started_at",
        "heartbeat_at",
        "finished_at",
        *COUNTS,
        "error",
    )
    inlines = (ErrorInline,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[SyncRun]:
        rows: QuerySet[SyncRun] = super().get_queryset(request)
        return rows.filter(_open_to(request, "source__audience"))

    @display(description="state", ordering="state", label=STATE_COLOURS)
    def state_label(self, run: SyncRun) -> str:
        return run.state
