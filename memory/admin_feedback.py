"""The queue of complaints about answers: open ones first, each worked off once."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.decorators import action, display

from connections.admin_scope import ReadOnlyAdmin, ask_first, staff
from connections.roles import Act
from memory.feedback import resolve
from memory.models import Feedback
from memory.shown import ShownTurn, shown

WITHHELD = "Withheld: it rests on a source that is closed to you."


@admin.register(Feedback)
class FeedbackAdmin(ReadOnlyAdmin):
    """What readers said of answers; by that they showed staff the question."""

    project_path = "turn__conversation__project"
    view_act = Act.RESOLVE_FEEDBACK
    list_display = ("asked", "said", "status", "note_begins", "user", "created_at")
    list_filter = (("state", ChoicesDropdownFilter), ("verdict", ChoicesDropdownFilter))
    list_select_related = ("turn", "user")
    search_fields = ("turn__question", "note")
    ordering = ("state", "-created_at")
    fields = (
        "question",
        "answer",
        "citations",
        "verdict",
        "note",
        "user",
        "state",
        "created_at",
        "resolved_at",
        "resolved_by",
    )
    readonly_fields = fields
    actions_detail = ("resolve_it",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Feedback]:
        rows: QuerySet[Feedback] = super().get_queryset(request)
        return rows.select_related("turn__conversation__project__tenant")

    def get_object(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        found = super().get_object(request, *args, **kwargs)
        if found is not None:
            # Shown as whoever looks may see it: a source may be closed to them.
            found.shown = shown(found.turn, staff(request))
        return found

    @display(description="question", ordering="turn__question")
    def asked(self, feedback: Feedback) -> str:
        return str(feedback.turn)

    @display(description="said", ordering="verdict")
    def said(self, feedback: Feedback) -> str:
        return feedback.get_verdict_display()

    @display(
        description="state",
        ordering="state",
        label={"open": "warning", "resolved": "success"},
    )
    def status(self, feedback: Feedback) -> str:
        return feedback.state

    @display(description="note")
    def note_begins(self, feedback: Feedback) -> str:
        return feedback.note[:80]

    @display(description="question")
    def question(self, feedback: Feedback) -> str:
        return feedback.turn.question

    @display(description="answer")
    def answer(self, feedback: Any) -> SafeString | str:
        seen: ShownTurn = feedback.shown
        if seen.is_withheld:
            return WITHHELD
        return seen.html or seen.answer.answer

    @display(description="citations")
    def citations(self, feedback: Any) -> SafeString | str:
        seen: ShownTurn = feedback.shown
        if seen.is_withheld:
            return WITHHELD
        rows = (
            (card.cited.n, _source(card.cited), card.cited.quote) for card in seen.cards
        )
        return format_html_join(SafeString("<br>"), "[{}] {}: “{}”", rows) or "none"

    @action(description="Resolve…", url_path="resolve", permissions=["resolve_it"])
    def resolve_it(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask for a note; then close the complaint, and audit who did and why."""
        if request.method not in ("GET", "POST"):
            return HttpResponseNotAllowed(["GET", "POST"])
        feedback = get_object_or_404(self.get_queryset(request), pk=object_id)
        page = ask_first(
            self,
            request,
            title="Resolve this feedback?",
            consequence="It leaves the open ones; its reader sees it was looked into.",
            submit="Resolve it",
            rows=[feedback.turn.question],
            with_reason=True,
        )
        if page is not None:
            return page
        note = request.POST.get("reason", "").strip()[:500]
        if resolve(feedback, staff(request), note):
            self.log_change(
                request, feedback, f"Resolved: {note}" if note else "Resolved."
            )
            messages.success(request, "It is resolved.")
        else:
            messages.warning(request, "It was resolved already.")
        return redirect("admin:memory_feedback_changelist")

    def has_resolve_it_permission(self, request: HttpRequest, object_id: Any) -> bool:
        rows = self.get_queryset(request).filter(pk=object_id)
        return rows.filter(state=Feedback.State.OPEN).exists()


def _source(cited: Any) -> SafeString | str:
    title = cited.title or cited.context or cited.key
    if not cited.node_id:
        return str(title)
    return format_html(
        '<a class="text-primary-600" href="{}">{}</a>',
        reverse("node", args=[cited.node_id]),
        title,
    )
