"""What is done with a result under an answer: hand it out, say right or wrong."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from connections.databases.base import DatabaseError
from connections.models import Database, User, record_audit
from connections.pages import private, reader, signed_in
from connections.refusals import Refused
from memory.feedback import NOTE_CHARACTERS, give_feedback
from memory.models import Feedback, Turn, TurnTable
from memory.sql.csv_export import csv_response
from memory.sql.examples import propose
from memory.sql.result_grids import shown_turn_tables
from memory.sql.statements import open_databases, run_statement
from memory.turn_pages import own_turn

VERDICTS = ("right", "wrong")


@signed_in
@require_POST
def turn_table_csv(request: HttpRequest, pk: int, place: int) -> HttpResponse:
    """Return a result of an answer as CSV: what is stored, or all of it run anew."""
    turn, row = _own_table(request, pk, place)
    names = [str(column.get("name", "")) for column in row.columns]
    if len(row.rows) == row.row_count and not row.truncated:
        record_audit(
            "table.exported",
            target=f"turn:{turn.pk}",
            project=turn.conversation.project,
            actor=reader(request),
            sql=row.sql,
            rows=len(row.rows),
        )
        return csv_response(row.database_name, names, row.rows)
    database = _database(row, reader(request))
    if database is None:
        messages.error(request, "This database cannot be asked any more.")
        return redirect(_address(turn))
    try:
        rows = run_statement(
            database,
            row.sql,
            user=reader(request),
            shown_in=f"turn:{pk}:csv",
            question=row.question,
        )
    except DatabaseError as error:
        messages.error(request, str(error))
        return redirect(_address(turn))
    except Refused as error:
        messages.error(request, f"It may not be run any more: {error}")
        return redirect(_address(turn))
    return csv_response(
        row.database_name, [column.name for column in rows.columns], rows.rows
    )


@signed_in
@require_POST
def turn_table_verdict(request: HttpRequest, pk: int, place: int) -> HttpResponse:
    """Take that a result is right, which proposes an example, or wrong: a complaint."""
    turn, row = _own_table(request, pk, place)
    verdict, user = request.POST.get("verdict", ""), reader(request)
    if verdict not in VERDICTS:
        raise Http404("A result is right or wrong.")
    said = _right(row, user) if verdict == "right" else _wrong(turn, row, user, request)
    if not request.htmx:  # type: ignore[attr-defined] # set by its middleware
        messages.success(request, said)
        return redirect(_address(turn))
    context = {"row": row, "said": said, "verdict": verdict}
    return private(render(request, "chat/_table_verdict.html", context))


def _right(row: TurnTable, user: User) -> str:
    database = _database(row, user)
    if database is None:
        return "This database cannot be asked any more; nothing was kept."
    try:
        propose(database, row.question, row.sql, by=user)
    except Refused as error:
        return str(error)
    return "Marked as right: a reviewer will verify it as an example."


def _wrong(turn: Turn, row: TurnTable, user: User, request: HttpRequest) -> str:
    note = request.POST.get("note", "").strip()
    about = f"The result of {row.database_name} is wrong. {note}".strip()
    give_feedback(turn, user, Feedback.Verdict.WRONG, about[:NOTE_CHARACTERS])
    return "Marked as wrong: those who run the project will look into it."


def _own_table(request: HttpRequest, pk: int, place: int) -> tuple[Turn, TurnTable]:
    """Return a result of the reader's own turn; a withheld one does not exist."""
    turn, user = own_turn(request, pk), reader(request)
    row = get_object_or_404(TurnTable, turn=turn, place=place)
    shown = shown_turn_tables([turn], user).get(turn.pk, [])
    if any(one.row.pk == row.pk and one.is_withheld for one in shown):
        raise Http404("This result is of a database that is closed to you now.")
    return turn, row


def _database(row: TurnTable, user: User) -> Database | None:
    if row.database_id is None:
        return None
    return open_databases(user).filter(pk=row.database_id).first()


def _address(turn: Turn) -> str:
    address = reverse("conversation", args=[turn.conversation_id])
    return f"{address}#turn-{turn.pk}"
