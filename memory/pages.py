"""The chat page: ask a project, read the answer with its sources, find it again."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import groupby
from typing import Any

from django import forms
from django.contrib import messages
from django.db import transaction
from django.db.models import Max, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from connections.models import Audience, Project, Source, SyncRun, User, record_audit
from connections.pages import (
    PROJECT_KEY,
    project_asked_for,
    projects_of,
    reader,
    signed_in,
)
from connections.sources.base import connectors
from graph.models import Node
from memory.ask import ask, sample_questions
from memory.models import Conversation, Turn
from memory.shown import shown

LONGEST_QUESTION = 4_000
HISTORY, TURNS = 60, 50


@dataclass(frozen=True, slots=True)
class Day:
    """The conversations of one day, newest first."""

    label: str
    conversations: list[Conversation]


class AskForm(forms.Form):
    """A question to a project of the user's, in a conversation of theirs or anew."""

    project = forms.ModelChoiceField(
        Project.objects.none(),
        error_messages={"invalid_choice": "You are not a member of that project."},
    )
    question = forms.CharField(
        max_length=LONGEST_QUESTION,
        error_messages={"required": "Write a question first."},
    )
    conversation = forms.ModelChoiceField(
        Conversation.objects.none(),
        required=False,
        error_messages={"invalid_choice": "That conversation does not exist any more."},
    )

    def __init__(self, data: Any, user: User) -> None:
        super().__init__(data)
        self.fields["project"].queryset = Project.objects.visible_to(user)  # type: ignore[attr-defined]
        self.fields["conversation"].queryset = conversations(user)  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        conversation, project = cleaned.get("conversation"), cleaned.get("project")
        if conversation and project and conversation.project_id != project.pk:
            raise forms.ValidationError("That conversation is of another project.")
        return cleaned

    @property
    def complaint(self) -> str:
        return " ".join(str(e) for errors in self.errors.values() for e in errors)


class TitleForm(forms.ModelForm):
    class Meta:
        model = Conversation
        fields = ("title",)


@signed_in
@require_GET
def chat(request: HttpRequest) -> HttpResponse:
    """Show an empty conversation with the chosen project."""
    project = _chosen_project(request)
    return _page(request, project)


@signed_in
@require_GET
def conversation(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    found = _own(request, pk)
    request.session[PROJECT_KEY] = found.project_id
    return _page(request, found.project, found)


@signed_in
@require_POST
def ask_question(request: HttpRequest) -> HttpResponse:
    """Answer a question: the turn alone within the page, else the whole page."""
    user = reader(request)
    form = AskForm(request.POST, user)
    if not form.is_valid():
        return _refuse(request, form)
    project = form.cleaned_data["project"]
    answer = ask(
        project,
        form.cleaned_data["question"],
        user=user,
        conversation=form.cleaned_data["conversation"],
    )
    request.session[PROJECT_KEY] = project.pk
    address = reverse("conversation", args=[answer.conversation])
    if not request.htmx:  # type: ignore[attr-defined]
        return redirect(f"{address}#turn-{answer.turn}")
    stored = Turn.objects.select_related("conversation__project__tenant")
    turn = stored.get(pk=answer.turn or 0)  # a saved answer has one
    context = {
        "shown": shown(turn, user, answer),
        "conversation": turn.conversation,
        "days": by_day(_recent(user, HISTORY)),
        "sources": _sources(user, project),
    }
    response = render(request, "chat/answered.html", context)
    response["HX-Push-Url"] = address
    return response


@signed_in
@require_POST
def rename_conversation(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    found = _own(request, pk)
    form = TitleForm(request.POST, instance=found)
    if form.is_valid():
        Conversation.objects.filter(pk=found.pk).update(title=form.instance.title)
    else:
        messages.error(request, "A title has at most 200 characters.")
    return redirect("conversation", pk=pk)


@signed_in
@require_http_methods(["GET", "POST"])
def delete_conversation(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Ask first; then delete a conversation with its turns."""
    found = _own(request, pk)
    if request.method == "GET":
        return render(request, "chat/delete.html", {"conversation": found})
    with transaction.atomic():
        record_audit(
            "conversation.deleted",
            target=str(pk),
            project=found.project,
            actor=reader(request),
            turns=found.turns.count(),
        )
        found.delete()
    messages.success(request, "The conversation is deleted.")
    return redirect("chat")


def conversations(user: User) -> Any:
    """Return the user's own conversations in projects they are a member of."""
    return Conversation.objects.visible_to(user).filter(user=user)


def by_day(rows: Iterable[Conversation]) -> list[Day]:
    """Group conversations, newest first, by the day they were last used."""
    today = timezone.localdate()
    return [
        Day(_day_label(day, today), list(group))
        for day, group in groupby(rows, lambda row: timezone.localdate(row.updated_at))
    ]


def _day_label(day: date, today: date) -> str:
    if day == today:
        return "Today"
    if day == today - timedelta(days=1):
        return "Yesterday"
    if today - day < timedelta(days=7):
        return f"{day:%A}"
    return f"{day:%-d %B}" if day.year == today.year else f"{day:%-d %B %Y}"


def _own(request: HttpRequest, pk: uuid.UUID) -> Conversation:
    mine = conversations(reader(request)).select_related("project__tenant")
    return get_object_or_404(mine, pk=pk)


def _chosen_project(request: HttpRequest) -> Project | None:
    """Return the project asked for, else the last used, else the first."""
    user = reader(request)
    if asked := project_asked_for(request):
        return asked
    mine = {project.pk: project for project in projects_of(user)}
    if project := mine.get(request.session.get(PROJECT_KEY, 0)):
        return project
    last = conversations(user).values_list("project_id", flat=True).first()
    return mine.get(last or 0) or next(iter(mine.values()), None)


def _recent(user: User, limit: int) -> list[Conversation]:
    return list(conversations(user).order_by("-updated_at", "-pk")[:limit])


def _sources(user: User, project: Project) -> list[Source]:
    """Return the sources the user may know of, each with when it was last read."""
    closed_to_none = Q(audience=None) | Q(audience__in=Audience.objects.ids_of(user))
    finished = Q(runs__state=SyncRun.State.FINISHED)
    rows = project.sources.filter(closed_to_none)
    return list(
        rows.annotate(read_at=Max("runs__finished_at", filter=finished)).order_by(
            "name"
        )
    )


def _fresh(user: User, project: Project) -> dict[str, Any]:
    """Return the sources, and when the latest of them was read."""
    sources = _sources(user, project)
    read = [source.read_at for source in sources if source.read_at]  # type: ignore[attr-defined] # annotated
    return {"sources": sources, "read_at": max(read, default=None)}


def _refuse(request: HttpRequest, form: AskForm) -> HttpResponse:
    """Say what is wrong with a question, and keep it."""
    if request.htmx:  # type: ignore[attr-defined]
        return HttpResponse(form.complaint, status=422, content_type="text/plain")
    found = form.cleaned_data.get("conversation")
    project = found.project if found else _chosen_project(request)
    typed = {"complaint": form.complaint, "typed": request.POST.get("question", "")}
    return _page(request, project, found, status=422, **typed)


def _page(
    request: HttpRequest,
    project: Project | None,
    found: Conversation | None = None,
    *,
    status: int = 200,
    **more: Any,
) -> HttpResponse:
    user = reader(request)
    limit = 1000 if request.GET.get("history") == "all" else HISTORY
    context: dict[str, Any] = {
        "project": project,
        "projects": projects_of(user),
        "conversation": found,
        "days": by_day(_recent(user, limit)),
        "history_is_cut": limit == HISTORY and conversations(user).count() > HISTORY,
        "longest_question": LONGEST_QUESTION,
        **more,
    }
    if found:
        context |= _turns(found, user)
    if project:
        context |= _fresh(user, project)
        context |= {} if found else _beginning(user, project)
    response = render(request, "chat/chat.html", context, status=status)
    patch_vary_headers(response, ["HX-Request"])
    response["Cache-Control"] = "private, no-store"
    return response


def _turns(found: Conversation, user: User) -> dict[str, Any]:
    """Return the last turns, oldest of them first."""
    last = found.turns.select_related("conversation__project__tenant").order_by("-pk")
    turns = list(last[: TURNS + 1])
    return {
        "turns": [shown(turn, user) for turn in reversed(turns[:TURNS])],
        "turns_are_cut": len(turns) > TURNS,
    }


def _beginning(user: User, project: Project) -> dict[str, Any]:
    """Return what an empty conversation offers: questions, or how to feed a project."""
    has_nodes = Node.objects.visible_to(user).of(project).current().exists()
    return {
        "has_nodes": has_nodes,
        "samples": sample_questions(project, user) if has_nodes else [],
        "connectors": [] if has_nodes else sorted(connectors.items()),
    }
