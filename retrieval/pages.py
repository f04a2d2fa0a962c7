"""The search page: results as they are typed for, each with why it is there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.dateparse import parse_date
from django.views.decorators.http import require_safe

from connections.models import Project, User
from connections.pages import (
    chosen_project,
    private,
    projects_of,
    reader,
    signed_in,
    sources_of,
)
from connections.refusals import Refused
from connections.registry import UnknownName
from graph.models import Node
from graph.time_slices import slice_of
from retrieval.asked import MOMENTS, QUERY_CHARACTERS, STEP, Asked, filters_of, read
from retrieval.auditing import note_search
from retrieval.facets import COUNTED
from retrieval.pictures import picture_of
from retrieval.profiles import profiles
from retrieval.results import Filters, SearchAnswer
from retrieval.samples import sample_questions
from retrieval.search import search
from retrieval.shown import shown
from retrieval.understood import LABELS, chips_of


@dataclass(frozen=True, slots=True)
class Field:
    """A date in the filters: as it was typed, which an input of dates may not hold."""

    name: str
    label: str
    value: str
    kind: str


@signed_in
@require_safe
def search_page(request: HttpRequest) -> HttpResponse:
    """Show what a search found: the results alone within the page, else all of it."""
    user = reader(request)
    project = chosen_project(request)
    asked, complaints = read(request.GET)
    if project is None:
        return _render(request, {"asked": asked, "projects": []})
    asked = replace(asked, project=project.path)
    filters, unusable = filters_of(asked)
    complaints += unusable
    context: dict[str, Any] = {
        "asked": asked,
        "project": project,
        "complaints": complaints,
        **_controls(asked),
    }
    if not complaints:
        try:
            context |= _found(asked, filters, user, project)
        except (Refused, UnknownName) as error:
            # What was typed as an operator is only read with the question.
            complaints += (str(error),)
            context["complaints"] = complaints
    if complaints:
        context["chips"] = chips_of(asked, None, {})
    if not request.htmx:  # type: ignore[attr-defined] # set by its middleware
        context["projects"] = projects_of(user)
    return _render(request, context, status=400 if complaints else 200)


@signed_in
@require_safe
def neighbourhood(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what lies around a node; one that the user may not see does not exist."""
    user = reader(request)
    visible = Node.objects.visible_to(user).current().select_related("project__tenant")
    node = get_object_or_404(
        visible.defer("search_vector", "metadata_vector", "embedding"), pk=pk
    )
    filters, complaints = filters_of(Asked(as_of=request.GET.get("as_of", "")))
    project: Project = node.project
    context: dict[str, Any] = {"node": node, "project": project}
    try:
        nodes = Node.objects.visible_to(user).of(project).current()
        context["slice"] = sliced = slice_of(nodes, node, request.GET.get("day", ""))
    except ValueError as error:
        complaints = (*complaints, str(error))
    if complaints:
        context["complaints"] = complaints
    else:
        as_of = filters.as_of or (sliced.as_of if sliced else None)
        context["picture"] = picture_of(node, user, project, as_of=as_of)
    within = request.htmx  # type: ignore[attr-defined]
    template = "search/_neighbourhood.html" if within else "search/neighbourhood.html"
    response = render(request, template, context, status=400 if complaints else 200)
    return private(response, "HX-Request")


def _found(
    asked: Asked, filters: Filters, user: User, project: Project
) -> dict[str, Any]:
    most: int = settings.FABRIC["SEARCH_LIMIT_MOST"]
    wanted = min(most, max(asked.limit + 1, COUNTED))
    answer = _answer(asked, filters, user, project, wanted)
    found = shown(answer, asked, user, project, wanted=wanted)
    note_search(
        project,
        user,
        asked.q,
        (one.result.node_id for one in found.results),
        through="page",
        found=found.counted,
        profile=asked.profile,
    )
    context: dict[str, Any] = {"shown": found, "chips": found.chips}
    if found.has_more and asked.limit < most:
        more = min(most, asked.limit + STEP)
        context["more"] = asked.but(limit=more).address
    if not found.results:
        context["sources"] = sources_of(user, project)
    if found.is_recent and not asked.is_filtered:
        context["samples"] = [
            (question, asked.but(q=question).address)
            for question in sample_questions(project, user)
        ]
    return context


def _answer(
    asked: Asked, filters: Filters, user: User, project: Project, wanted: int
) -> SearchAnswer:
    return search(
        project,
        asked.q,
        user=user,
        limit=wanted,
        profile=asked.profile,
        filters=filters,
        ignore=asked.ignore,
    )


def _controls(asked: Asked) -> dict[str, Any]:
    return {
        "profiles": sorted({*profiles, asked.profile}),
        "dates": [_field(name, getattr(asked, name)) for name in MOMENTS],
        "without_filters": Asked(q=asked.q, project=asked.project).address,
        "longest_question": QUERY_CHARACTERS,
    }


def _field(name: str, value: str) -> Field:
    try:
        is_day = not value or parse_date(value) is not None
    except ValueError:
        is_day = False
    label = LABELS[name].capitalize()
    return Field(name, label, value, "date" if is_day else "text")


def _render(
    request: HttpRequest, context: dict[str, Any], status: int = 200
) -> HttpResponse:
    within = request.htmx  # type: ignore[attr-defined]
    template = "search/found.html" if within else "search/search.html"
    response = render(request, template, context, status=status)
    if within:
        name, address = _address(request, context["asked"])
        response[name] = address
    return private(response, "HX-Request")


def _address(request: HttpRequest, asked: Asked) -> tuple[str, str]:
    """Return the header with the page's new address.

    A question that is being written on replaces its beginning in the history, so that
    "back" leads to the question before and not through every letter.
    """
    before = request.htmx.current_url or ""  # type: ignore[attr-defined]
    _, _, query = before.partition("?")
    old, new = _question(query), asked.q.strip()
    goes_on = old and new and (old.startswith(new) or new.startswith(old))
    name = "HX-Replace-Url" if goes_on else "HX-Push-Url"
    return name, reverse("search") + asked.address


def _question(query: str) -> str:
    return read(QueryDict(query))[0].q.strip()
