"""The pages of databases: which there are, what they hold, what was asked of them."""

from __future__ import annotations

import uuid
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from connections.databases.base import DatabaseError
from connections.databases.snapshot import schema_of
from connections.models import Database, DatabaseQuery, Project
from connections.pages import (
    PROJECT_KEY,
    chosen_project,
    private,
    projects_of,
    reader,
    signed_in,
)
from memory.models import SavedQuery, TurnTable
from memory.sql.outcomes import Outcome
from memory.sql.saved import saved_seen_by
from memory.sql.schema_browser import shown_schema
from memory.sql.statements import (
    LONGEST_SQL,
    open_databases,
    projects_ruled_by,
    runs_seen_by,
)

LATEST, RUNS_ON_PAGE, SAVED_SHOWN = 8, 50, 50
LONGEST_SEARCH = 200


@signed_in
@require_GET
def list_databases(request: HttpRequest) -> HttpResponse:
    """List the databases of a project that its reader may ask."""
    project, user = chosen_project(request), reader(request)
    listed: QuerySet[Database] = open_databases(user).none()
    if project:
        is_there = Q(tables__gone_at=None, tables__exposure="visible")
        listed = (
            open_databases(user)
            .filter(project=project)
            .annotate(table_count=Count("tables", filter=is_there))
            .order_by("name")
        )
    context = {
        "project": project,
        "projects": projects_of(user),
        "databases": list(listed),
        "elsewhere": _elsewhere(request, project),
    }
    return private(render(request, "databases/databases.html", context))


@signed_in
@require_GET
def show_database(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Show what a database holds, and where to ask it.

    `saved`, `run` and `table` open a saved statement, one that was run, and the one
    behind a result of an answer.
    """
    found = open_database(request, pk)
    request.session[PROJECT_KEY] = found.project_id
    return database_page(request, found, **_opened(request, found))


@signed_in
@require_GET
def show_schema(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Return the tables that a search finds, as the page looks through them."""
    found = open_database(request, pk)
    context = {"database": found, **_schema(request, found)}
    return private(render(request, "databases/_schema.html", context))


@signed_in
@require_GET
def show_runs(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Show what was run, the newest first: one's own, or all to an administrator."""
    found, user = open_database(request, pk), reader(request)
    rules = projects_ruled_by(user).filter(pk=found.project_id).exists()
    wants_all = rules and request.GET.get("whose") == "all"
    rows = runs_seen_by(user).filter(database=found)
    if not wants_all:
        rows = rows.filter(user=user)
    verdict = request.GET.get("verdict", "")
    if verdict in DatabaseQuery.Verdict.values:
        rows = rows.filter(verdict=verdict)
    page = _page_number(request)
    start = (page - 1) * RUNS_ON_PAGE
    runs = list(rows.order_by("-started_at", "-pk")[start : start + RUNS_ON_PAGE + 1])
    context = {
        "database": found,
        "project": found.project,
        "runs": runs[:RUNS_ON_PAGE],
        "page": page,
        "next_page": page + 1 if len(runs) > RUNS_ON_PAGE else None,
        "rules": rules,
        "whose": "all" if wants_all else "own",
        "verdict": verdict,
        "verdicts": DatabaseQuery.Verdict.choices,
    }
    return private(render(request, "databases/runs.html", context))


def open_database(request: HttpRequest, pk: uuid.UUID) -> Database:
    """Return a database that the reader may ask; any other does not exist."""
    return get_object_or_404(open_databases(reader(request)), pk=pk)


def database_page(
    request: HttpRequest,
    found: Database,
    *,
    sql: str = "",
    saved: SavedQuery | None = None,
    outcome: Outcome | None = None,
    question: str = "",
    status: int = 200,
) -> HttpResponse:
    """Return the whole page of a database with what was typed and what came of it."""
    context = {
        "database": found,
        "project": found.project,
        "sql": sql,
        "saved": saved,
        "outcome": outcome,
        "question": question,
        "longest_sql": LONGEST_SQL,
        **_schema(request, found),
        **kept(request, found),
    }
    return private(render(request, "databases/database.html", context, status=status))


def kept(request: HttpRequest, found: Database) -> dict[str, Any]:
    """Return what the reader saved and ran of late."""
    user = reader(request)
    saved = saved_seen_by(user).filter(database=found).order_by("title", "pk")
    runs = runs_seen_by(user).filter(database=found, user=user)
    return {
        "saved_queries": list(saved[:SAVED_SHOWN]),
        "latest": list(runs.order_by("-started_at", "-pk")[:LATEST]),
    }


def own_saved(request: HttpRequest, found: Database, sent: str) -> SavedQuery | None:
    """Return the saved query of the reader's own that `sent` names, if it does."""
    try:
        pk = uuid.UUID(sent)
    except ValueError:
        return None
    mine = saved_seen_by(reader(request)).filter(database=found, user=reader(request))
    return mine.filter(pk=pk).first()


def _schema(request: HttpRequest, found: Database) -> dict[str, Any]:
    find = request.GET.get("find", "")[:LONGEST_SEARCH]
    try:
        return {"schema": shown_schema(schema_of(found), find), "find": find}
    except DatabaseError as error:
        return {"schema": None, "schema_trouble": str(error), "find": find}


def _opened(request: HttpRequest, found: Database) -> dict[str, Any]:
    """Return the statement that the address asks to open."""
    user = reader(request)
    if pk := request.GET.get("saved"):
        saved = get_object_or_404(
            saved_seen_by(user).filter(database=found), pk=_uuid(pk)
        )
        own = saved if saved.user_id == user.pk else None
        return {"sql": saved.sql, "saved": own}
    if pk := request.GET.get("run"):
        run = get_object_or_404(runs_seen_by(user).filter(database=found), pk=_uuid(pk))
        return {"sql": run.asked_sql, "question": run.question}
    if pk := request.GET.get("table"):
        tables = TurnTable.objects.filter(database=found, turn__conversation__user=user)
        table = get_object_or_404(tables, pk=_whole(pk))
        return {"sql": table.sql, "question": table.question}
    return {}


def _elsewhere(request: HttpRequest, project: Project | None) -> list[Project]:
    """Return the reader's other projects that have a database for them."""
    rows = open_databases(reader(request))
    ids = set(rows.values_list("project_id", flat=True))
    ids.discard(project.pk if project else 0)
    return [each for each in projects_of(reader(request)) if each.pk in ids]


def _page_number(request: HttpRequest) -> int:
    asked = request.GET.get("page", "1")
    return min(max(_whole(asked), 1), 1_000) if asked.isascii() else 1


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 19):
        raise Http404(f"{text[:40]!r} is no number.")
    return int(text)


def _uuid(text: str) -> uuid.UUID:
    try:
        return uuid.UUID(text)
    except ValueError:
        raise Http404(f"{text[:40]!r} names nothing.") from None
