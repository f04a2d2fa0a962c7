"""The chat page: ask a project, read the answer with its sources, find it again."""

from __future__ import annotations

import uuid
from typing import Any

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from connections.models import Project, User, record_audit
from connections.pages import (
    PROJECT_KEY,
    chosen_project,
    first_with_source,
    private,
    projects_of,
    reader,
    signed_in,
    sources_of,
)
from connections.sources.base import connectors
from graph.models import Node
from memory.agent.run import Asked, ended
from memory.agent.storing import settle_dead
from memory.history import ALL, HISTORY, conversations, history
from memory.models import Conversation
from memory.shown import shown_turns
from retrieval.samples import sample_questions

LONGEST_QUESTION, MOST_IGNORED = 4_000, 50
TURNS = 50


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
    project = _project(request)
    return _page(request, project)


@signed_in
@require_GET
def conversation(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    found = own_conversation(request, pk)
    request.session[PROJECT_KEY] = found.project_id
    settle_dead(found)
    return _page(request, found.project, found)


@signed_in
@require_POST
def ask_question(request: HttpRequest) -> HttpResponse:
    """Answer a question in one piece, as the page asks where it has no scripts."""
    user = reader(request)
    form = AskForm(request.POST, user)
    if not form.is_valid():
        return _refuse(request, form)
    project = form.cleaned_data["project"]
    asked = Asked(
        project=project,
        user=user,
        question=form.cleaned_data["question"],
        conversation=form.cleaned_data["conversation"],
        ignore=tuple(request.POST.getlist("ignore")[:MOST_IGNORED]),
    )
    answer, failure = ended(asked)
    if answer is None:  # not even its turn could be kept
        raise failure or RuntimeError("The answer ended without an outcome.")
    request.session[PROJECT_KEY] = project.pk
    address = reverse("conversation", args=[answer.conversation])
    return redirect(f"{address}#turn-{answer.turn}")


@signed_in
@require_GET
def list_conversations(request: HttpRequest) -> HttpResponse:
    """Return the list of conversations alone, as the page looks through it."""
    context = _history(request)
    context["conversation"] = _opened(request)
    return private(render(request, "chat/_days.html", context))


@signed_in
@require_POST
def rename_conversation(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    found = own_conversation(request, pk)
    form = TitleForm(request.POST, instance=found)
    if form.is_valid():
        Conversation.objects.filter(pk=found.pk).update(title=form.instance.title)
    else:
        messages.error(request, "A title has at most 200 characters.")
    return redirect("conversation", pk=pk)


@signed_in
@require_POST
def pin_conversation(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Keep a conversation above the others, or let it down again."""
    found = own_conversation(request, pk)
    is_pinned = request.POST.get("pinned") == "yes"
    Conversation.objects.filter(pk=found.pk).update(is_pinned=is_pinned)
    return redirect("conversation", pk=pk)


@signed_in
@require_http_methods(["GET", "POST"])
def delete_conversation(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Ask first; then delete a conversation with its turns."""
    found = own_conversation(request, pk)
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


def own_conversation(request: HttpRequest, pk: uuid.UUID) -> Conversation:
    mine = conversations(reader(request)).select_related("project__tenant")
    return get_object_or_404(mine, pk=pk)


def _project(request: HttpRequest) -> Project | None:
    """Return the project to ask: without another, that of the last conversation."""

    def of_last() -> int | None:
        mine = conversations(reader(request))
        return mine.values_list("project_id", flat=True).first()

    return chosen_project(request, last_used=of_last)


def _fresh(user: User, project: Project) -> dict[str, Any]:
    """Return the sources, and when the latest of them was read."""
    sources = sources_of(user, project)
    read = [source.read_at for source in sources if source.read_at]  # type: ignore[attr-defined] # annotated
    return {"sources": sources, "read_at": max(read, default=None)}


def _refuse(request: HttpRequest, form: AskForm) -> HttpResponse:
    """Say what is wrong with a question, and keep it."""
    found = form.cleaned_data.get("conversation")
    project = found.project if found else _project(request)
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
    context: dict[str, Any] = {
        "project": project,
        "projects": projects_of(user),
        "conversation": found,
        **_history(request),
        "longest_question": LONGEST_QUESTION,
        **more,
    }
    if found:
        context |= _turns(found, user)
    if project:
        context |= _fresh(user, project)
        context |= {} if found else _beginning(user, project)
    response = render(request, "chat/chat.html", context, status=status)
    return private(response, "HX-Request")


def _history(request: HttpRequest) -> dict[str, Any]:
    limit = ALL if request.GET.get("history") == "all" else HISTORY
    found = history(reader(request), request.GET.get("find", ""), limit=limit)
    return {"history": found}


def _opened(request: HttpRequest) -> Conversation | None:
    """Return the conversation that the page around a list shows."""
    try:
        opened = uuid.UUID(request.GET.get("open", ""))
    except ValueError:
        return None
    found: Conversation | None = (
        conversations(reader(request)).filter(pk=opened).first()
    )
    return found


def _turns(found: Conversation, user: User) -> dict[str, Any]:
    """Return the last turns, oldest of them first."""
    last = found.turns.select_related("conversation__project__tenant").order_by("-pk")
    turns = list(last[: TURNS + 1])
    return {
        "turns": shown_turns(reversed(turns[:TURNS]), user),
        "turns_are_cut": len(turns) > TURNS,
    }


def _beginning(user: User, project: Project) -> dict[str, Any]:
    """Return what an empty conversation offers: questions, or how to feed a project."""
    has_nodes = Node.objects.visible_to(user).of(project).current().exists()
    return {
        "has_nodes": has_nodes,
        "samples": sample_questions(project, user) if has_nodes else [],
        "connectors": [] if has_nodes else sorted(connectors.items()),
        "elsewhere": None if has_nodes else first_with_source(projects_of(user)),
    }
