"""The admin of examples: what waits to be verified, and what models are shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.decorators import display

from connections.admin_scope import ReadOnlyAdmin, ask_first, staff
from connections.models import Database, User
from connections.refusals import Refused
from connections.roles import Act
from memory.models import VerifiedExample
from memory.sql.examples import reject, verify


@admin.register(VerifiedExample)
class VerifiedExampleAdmin(ReadOnlyAdmin):
    """Examples of the databases that the reader may ask, those that wait first."""

    project_path = "database__project"
    list_display = ("question", "database", "status", "asked_by", "created_at")
    list_filter = (("state", ChoicesDropdownFilter),)
    list_select_related = ("database", "asked_by")
    search_fields = ("question", "sql")
    ordering = ("-state", "-created_at")
    fields = (
        "database",
        "question",
        "sql",
        "state",
        "asked_by",
        "verified_by",
        "verified_at",
        "tested_at",
        "test_error",
        "created_at",
    )
    readonly_fields = fields
    actions = ("verify_selected", "reject_selected")

    def get_queryset(self, request: HttpRequest) -> QuerySet[VerifiedExample]:
        rows: QuerySet[VerifiedExample] = super().get_queryset(request)
        return rows.filter(database__in=Database.objects.visible_to(staff(request)))

    @display(
        description="state",
        ordering="state",
        label={
            "waiting": "warning",
            "active": "success",
            "retired": "danger",
            "rejected": "info",
        },
    )
    def status(self, example: VerifiedExample) -> str:
        return example.state

    @admin.action(description="Verify", permissions=["review"])
    def verify_selected(
        self, request: HttpRequest, queryset: QuerySet[VerifiedExample]
    ) -> None:
        self._each(request, queryset, lambda one, by: verify(one, by=by), "Verified")

    @admin.action(description="Reject…", permissions=["review"])
    def reject_selected(
        self, request: HttpRequest, queryset: QuerySet[VerifiedExample]
    ) -> HttpResponse | None:
        page = ask_first(
            self,
            request,
            title="Reject these examples?",
            action="reject_selected",
            rows=list(queryset),
            consequence="They are never used, and do not come back when somebody "
            "proposes them again.",
            submit="Reject them",
        )
        if page:
            return page
        self._each(request, queryset, lambda one, by: reject(one, by=by), "Rejected")
        return None

    def has_review_permission(self, request: HttpRequest) -> bool:
        """Whether there is a project whose examples the reader decides on."""
        return self.allows(request, Act.DECIDE_EXAMPLES)

    def _each(
        self,
        request: HttpRequest,
        queryset: QuerySet[VerifiedExample],
        act: Callable[[VerifiedExample, User], Any],
        done: str,
    ) -> None:
        """Do `act` to each row; what is refused says why, and the others go on."""
        count = 0
        for example in queryset.select_related("database__project__tenant"):
            try:
                act(example, staff(request))
            except Refused as refusal:
                self.message_user(request, str(refusal), messages.ERROR)
            else:
                self.log_change(request, example, f"{done}.")
                count += 1
        self.message_user(request, f"{done}: {count}.", messages.SUCCESS)
