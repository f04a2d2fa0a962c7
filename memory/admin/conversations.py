"""The admin of conversations: one's own, for they are private."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from connections.admin_scope import ReadOnlyAdmin, ReadOnlyInline, staff
from memory.admin_feedback import FeedbackAdmin
from memory.models import Conversation, Turn

__all__ = ["ConversationAdmin", "FeedbackAdmin"]


class TurnInline(ReadOnlyInline):
    model = Turn
    fields = ("question", "answer", "grounded", "model", "effort", "created_at")


@admin.register(Conversation)
class ConversationAdmin(ReadOnlyAdmin):
    list_display = ("__str__", "project", "user", "updated_at")
    list_select_related = ("project__tenant", "user")
    search_fields = ("title",)
    fields = ("title", "project", "user", "created_at", "updated_at")
    inlines = (TurnInline,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Conversation]:
        rows: QuerySet[Conversation] = super().get_queryset(request)
        return rows.visible_to(staff(request))  # type: ignore[attr-defined]
