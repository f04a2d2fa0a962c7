"""The memory page: what is remembered, why, from where; to correct, pin, forget."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_GET, require_POST

from connections.models import Project, User
from connections.pages import (
    chosen_project,
    private,
    projects_of,
    reader,
    signed_in,
)
from connections.refusals import Refused
from memory import observations
from memory.kept import (
    KEPT,
    PAGE,
    STATES,
    Wanted,
    in_memory,
    of_turn,
    shown_kept,
    wanted_of,
)
from memory.models import Observation
from memory.shown import REMEMBERING
from memory.turn_pages import own_turn

TEXT_CHARACTERS = 2_000


class Unusable(ValueError):
    """What was sent cannot be used; the message says what would be."""


@signed_in
@require_GET
def memory(request: HttpRequest) -> HttpResponse:
    """Show what memory holds for its reader, in one project."""
    user = reader(request)
    project = chosen_project(request)
    context: dict[str, Any] = {"project": project, "projects": projects_of(user)}
    if project:
        context |= _listed(request, project, user)
    return private(render(request, "memory/memory.html", context), "HX-Request")


@signed_in
@require_GET
def remembered(request: HttpRequest, pk: int) -> HttpResponse:
    """Return what was remembered from a turn, or that it is still being looked for."""
    turn, user = own_turn(request, pk), reader(request)
    kept = of_turn(turn, user)
    is_waiting = (
        not kept
        and turn.remembered_at is None
        and timezone.now() - turn.created_at < REMEMBERING
    )
    context = {
        "turn": turn,
        "kept": kept,
        "is_waiting": is_waiting,
        "is_list": bool(request.GET.get("open")),
    }
    return private(render(request, "memory/of_turn.html", context))


@signed_in
@require_POST
def change(request: HttpRequest, pk: int, act: str) -> HttpResponse:
    """Correct, pin, share, forget or restore an observation, or set its status."""
    user = reader(request)
    if act not in ACTS:
        raise Http404
    row = _own_observation(user, pk)
    complaint = ""
    try:
        ACTS[act](row, request, user)
    except (Refused, Unusable) as error:
        complaint = str(error)
    if request.htmx:  # type: ignore[attr-defined] # set by its middleware
        return _item(request, pk, complaint)
    if complaint:
        messages.error(request, complaint)
    return redirect(_back(request, row))


def _correct(row: Observation, request: HttpRequest, user: User) -> None:
    text = request.POST.get("text", "").replace("\x00", "").strip()
    if not text:
        raise Unusable("Write what is right, or forget it.")
    if len(text) > TEXT_CHARACTERS:
        raise Unusable(f"At most {TEXT_CHARACTERS} characters can be remembered.")
    observations.correct(row, text, by=user)


def _pin(row: Observation, request: HttpRequest, user: User) -> None:
    observations.pin(row, by=user, pinned=_is_yes(request))


def _share(row: Observation, request: HttpRequest, user: User) -> None:
    observations.share(row, by=user, shared=_is_yes(request))


def _forget(row: Observation, request: HttpRequest, user: User) -> None:
    observations.forget(row, by=user)


def _restore(row: Observation, request: HttpRequest, user: User) -> None:
    observations.restore(row, by=user)


def _status(row: Observation, request: HttpRequest, user: User) -> None:
    status = request.POST.get("status", "")
    if status not in Observation.Status.values:
        raise Unusable(f"There is no status {status[:20]!r}.")
    observations.set_status(row, status, by=user)


ACTS: dict[str, Callable[[Observation, HttpRequest, User], None]] = {
    "correct": _correct,
    "pin": _pin,
    "share": _share,
    "forget": _forget,
    "restore": _restore,
    "status": _status,
}


def _is_yes(request: HttpRequest) -> bool:
    return request.POST.get("yes") == "yes"


def _listed(request: HttpRequest, project: Project, user: User) -> dict[str, Any]:
    form = Wanted(request.GET)
    form.is_valid()  # what cannot be used is left out, and the form says so
    wanted = form.cleaned_data
    everything = in_memory(project, user)
    found = wanted_of(everything, wanted)
    start = ((wanted.get("page") or 1) - 1) * PAGE
    rows = list(found[start : start + PAGE + 1])
    state = wanted.get("state") or KEPT
    return {
        "kept": shown_kept(rows[:PAGE], user),
        "wanted": {**wanted, "state": state},
        "is_filtered": any(wanted.get(name) for name in ("type", "q", "turn"))
        or state != KEPT,
        "total": found.count(),
        "next_page": (wanted.get("page") or 1) + 1 if len(rows) > PAGE else None,
        "page": wanted.get("page") or 1,
        "types": _types(wanted_of(everything, {**wanted, "type": ""})),
        "states": STATES.items(),
        "is_empty": not everything.exists(),
    }


def _types(rows: Any) -> list[tuple[str, str, int]]:
    counted = dict(
        rows.order_by().values_list("observation_type").annotate(Count("pk"))
    )
    return [
        (value, str(label), counted.get(value, 0))
        for value, label in Observation.Type.choices
    ]


def _item(request: HttpRequest, pk: int, complaint: str) -> HttpResponse:
    """Return one observation as it is now; one that is gone leaves a word."""
    user = reader(request)
    projects = [project.pk for project in projects_of(user)]
    row = Observation.objects.filter(pk=pk, project__in=projects).first()
    found = in_memory(row.project, user).filter(pk=pk) if row else []
    kept = shown_kept(found, user)
    context = {"each": kept[0] if kept else None, "complaint": complaint}
    return private(render(request, "memory/changed.html", context))


def _own_observation(user: User, pk: int) -> Observation:
    projects = Project.objects.visible_to(user)
    row = get_object_or_404(Observation.objects.filter(project__in=projects), pk=pk)
    found = in_memory(row.project, user).filter(pk=pk).first()
    if found is None:
        raise Http404
    return found


def _back(request: HttpRequest, row: Observation) -> str:
    """Return the page that the form was on."""
    given = request.POST.get("back", "")
    if url_has_allowed_host_and_scheme(given, allowed_hosts={request.get_host()}):
        return f"{given}#observation-{row.pk}"
    return reverse("memory")
