"""The page of an answer's provenance: each citation, back to its source."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from connections.pages import private, reader, signed_in
from memory.shown import shown_turns
from memory.trails import trail_of_turn
from memory.turn_pages import own_turn


@signed_in
@require_GET
def turn_provenance(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what an answer of the reader's own rests on."""
    turn, user = own_turn(request, pk), reader(request)
    (shown,) = shown_turns([turn], user)
    context = {
        "turn": turn,
        "shown": shown,
        "heading": turn.question,
        "project": turn.conversation.project,
        "claims": trail_of_turn(turn, user),
    }
    return private(render(request, "chat/provenance.html", context))
