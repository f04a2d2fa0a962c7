"""Parts of a conversation's page: one turn, what to copy, feedback, what was kept."""

from __future__ import annotations

import uuid
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from connections.pages import private, reader, signed_in, sources_of
from memory.agent.storing import settle_dead
from memory.copying import as_markdown
from memory.feedback import NOTE_CHARACTERS, give_feedback, take_feedback_back
from memory.history import conversations, history
from memory.models import Feedback, Turn
from memory.shown import shown_turns


class FeedbackForm(forms.Form):
    """What a reader thinks of an answer; an empty verdict takes it back."""

    verdict = forms.ChoiceField(
        choices=[("", "none"), *Feedback.Verdict.choices],
        required=False,
        error_messages={"invalid_choice": "Choose what is wrong with the answer."},
    )
    note = forms.CharField(max_length=NOTE_CHARACTERS, required=False)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        says_other = cleaned.get("verdict") == Feedback.Verdict.OTHER
        if says_other and not cleaned.get("note", "").strip():
            raise forms.ValidationError("Say in a few words what else is the matter.")
        return cleaned


@signed_in
@require_GET
def turn(request: HttpRequest, pk: int) -> HttpResponse:
    """Return one turn as its conversation shows it, with the list of conversations."""
    user, found = reader(request), own_turn(request, pk)
    if settle_dead(found.conversation):
        found = own_turn(request, pk)
    (shown,) = shown_turns([found], user)
    context = {
        "shown": shown,
        "is_last": True,
        "conversation": found.conversation,
        "history": history(user),
        "sources": sources_of(user, found.conversation.project),
    }
    return private(render(request, "chat/answered.html", context))


@signed_in
@require_GET
def copy(request: HttpRequest, pk: int) -> HttpResponse:
    """Return an answer as Markdown with its sources."""
    found = own_turn(request, pk)
    (shown,) = shown_turns([found], reader(request))
    if shown.is_withheld:
        return HttpResponse(status=404, content_type="text/plain")
    text = as_markdown(shown.answer, lambda node: _node_address(request, node))
    response = HttpResponse(text, content_type="text/markdown; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="answer-{pk}.md"'
    return private(response)


@signed_in
@require_POST
def feedback(request: HttpRequest, pk: int) -> HttpResponse:
    """Keep what the reader thinks of an answer, and show that it is kept."""
    found, user = own_turn(request, pk), reader(request)
    form = FeedbackForm(request.POST)
    complaint = ""
    if not form.is_valid():
        complaint = " ".join(str(e) for each in form.errors.values() for e in each)
    elif verdict := form.cleaned_data["verdict"]:
        give_feedback(found, user, verdict, form.cleaned_data["note"])
    else:
        take_feedback_back(found, user)
    if not request.htmx:  # type: ignore[attr-defined] # set by its middleware
        if complaint:
            messages.error(request, complaint)
        return redirect(_address(found))
    (shown,) = shown_turns([found], user)
    context = {"shown": shown, "complaint": complaint, "is_answered": True}
    # htmx swaps only what succeeded; the complaint stands within the form.
    return private(render(request, "chat/_feedback.html", context))


def own_turn(request: HttpRequest, pk: int) -> Turn:
    """Return a turn of the reader's own; any other does not exist."""
    mine = conversations(reader(request))
    turns = Turn.objects.select_related("conversation__project__tenant")
    return get_object_or_404(turns.filter(conversation__in=mine), pk=pk)


def _address(found: Turn) -> str:
    conversation: uuid.UUID = found.conversation_id
    return f"{reverse('conversation', args=[conversation])}#turn-{found.pk}"


def _node_address(request: HttpRequest, node: int) -> str:
    return request.build_absolute_uri(reverse("node", args=[node]))
