"""The admin of runs: every statement that was asked of a database, only to be read."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from unfold.contrib.filters.admin import (
    ChoicesDropdownFilter,
    DropdownFilter,
    RangeDateTimeFilter,
)
from unfold.decorators import display

from connections.admin_scope import OwnRelatedFilter, ReadOnlyAdmin, staff
from connections.models import Database, DatabaseQuery
from connections.roles import Act, projects_where

VERDICT_COLOURS = {
    DatabaseQuery.Verdict.RUNNING.value: "info",
    DatabaseQuery.Verdict.DONE.value: "success",
    DatabaseQuery.Verdict.REFUSED.value: "warning",
    DatabaseQuery.Verdict.FAILED.value: "danger",
    DatabaseQuery.Verdict.CANCELLED.value: "warning",
    DatabaseQuery.Verdict.TIMED_OUT.value: "danger",
}
STATEMENT_CHARACTERS = 120


class DatabaseFilter(DropdownFilter):
    title, parameter_name = "database", "database"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        mine = Database.objects.visible_to(staff(request)).select_related(
            "project__tenant"
        )
        rows = mine.order_by("project_id", "name")
        return [(str(row.pk), f"{row} ({row.project.path})") for row in rows]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        chosen = self.value() or ""
        known = {value for value, _ in self.lookups(request, None)}
        if not chosen:
            return queryset
        return queryset.filter(database=chosen) if chosen in known else queryset.none()


@admin.register(DatabaseQuery)
class DatabaseQueryAdmin(ReadOnlyAdmin):
    """Runs: one's own, and all those of the projects that one administers.

    To an administrator also those of databases whose rows are closed to them: an audit
    that left some out would be none.
    """

    project_path = "project"
    list_display = (
        "started_at",
        "who",
        "database_name",
        "statement",
        "verdict_label",
        "rule",
        "rows",
        "took",
        "shown_in",
    )
    list_filter = (
        ("verdict", ChoicesDropdownFilter),
        DatabaseFilter,
        ("user", OwnRelatedFilter),
        ("started_at", RangeDateTimeFilter),
    )
    list_select_related = ("user", "project__tenant")
    search_fields = (
        "question",
        "asked_sql",
        "sent_sql",
        "database_name",
        "rule",
        "error",
        "user__email",
    )
    ordering = ("-started_at", "-pk")
    fieldsets = (
        (None, {"fields": ("who", "project", "database_name", "shown_in")}),
        ("What was asked", {"fields": ("question", "asked_text", "sent_text")}),
        (
            "What became of it",
            {
                "fields": (
                    "verdict_label",
                    "rule",
                    "error",
                    "rows",
                    "truncated",
                    "took",
                    "started_at",
                    "finished_at",
                    "cancel_asked_at",
                )
            },
        ),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[DatabaseQuery]:
        user = staff(request)
        ruled = projects_where(user, Act.READ_RUNS).values("pk")
        rows: QuerySet[DatabaseQuery] = super().get_queryset(request)
        return rows.filter(Q(user=user) | Q(project__in=ruled))

    @display(description="who", ordering="user__email")
    def who(self, query: DatabaseQuery) -> str:
        return query.user.email if query.user else "the operator, or nobody any more"

    @display(description="statement")
    def statement(self, query: DatabaseQuery) -> str:
        text = " ".join((query.question or query.asked_sql).split())
        is_long = len(text) > STATEMENT_CHARACTERS
        return f"{text[:STATEMENT_CHARACTERS]}…" if is_long else text

    @display(description="verdict", ordering="verdict", label=VERDICT_COLOURS)
    def verdict_label(self, query: DatabaseQuery) -> tuple[str, str]:
        return query.verdict, query.get_verdict_display()

    @display(description="time", ordering="took_ms")
    def took(self, query: DatabaseQuery) -> str:
        return f"{query.took_ms:,.0f} ms" if query.finished_at else ""

    @display(description="statement as it was written")
    def asked_text(self, query: DatabaseQuery) -> str:
        return format_html("<pre>{}</pre>", query.asked_sql)

    @display(description="statement as it was sent")
    def sent_text(self, query: DatabaseQuery) -> str:
        sent = query.sent_sql or "Nothing was sent."
        return format_html("<pre>{}</pre>", sent)
