"""What the page of a database does: run, ask, cancel, keep, hand out as CSV."""

from __future__ import annotations

import uuid

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from connections.databases import runner
from connections.databases.base import DatabaseError, GuardRefused
from connections.models import Database
from connections.pages import private, reader, signed_in
from connections.refusals import Refused
from memory.sql.csv_export import csv_response
from memory.sql.outcomes import (
    ENDED,
    NO_ANSWER,
    NOT_RUN,
    Outcome,
    outcome_of_question,
    outcome_of_statement,
)
from memory.sql.pages import database_page, kept, open_database, own_saved
from memory.sql.saved import delete_saved, save_query, saved_seen_by
from memory.sql.statements import (
    LONGEST_SQL,
    place_of_page,
    run_statement,
    running_as,
)

LONGEST_QUESTION = 2_000


class StatementForm(forms.Form):
    """A statement as a person wrote it."""

    sql = forms.CharField(
        max_length=LONGEST_SQL,
        strip=False,
        error_messages={"required": "Write a statement first."},
    )


class QuestionForm(forms.Form):
    """A question in words."""

    question = forms.CharField(
        max_length=LONGEST_QUESTION,
        error_messages={"required": "Write a question first."},
    )


class SaveForm(StatementForm):
    """A statement with the title under which it is kept."""

    title = forms.CharField(
        max_length=200, error_messages={"required": "Give it a title."}
    )
    shared = forms.BooleanField(required=False)


@signed_in
@require_POST
def run(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Run a statement through the guard, and show its rows or why there are none."""
    found, form = open_database(request, pk), StatementForm(request.POST)
    sql = request.POST.get("sql", "")
    if form.is_valid():
        outcome = outcome_of_statement(
            found, sql, user=reader(request), shown_in=_place(request)
        )
    else:
        outcome = Outcome(sql=sql, title=NOT_RUN, trouble=_complaint(form))
    return _answered(request, found, outcome)


@signed_in
@require_POST
def ask(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Ask a database in words; the statement is shown with what it gave."""
    found, form = open_database(request, pk), QuestionForm(request.POST)
    typed = request.POST.get("question", "")
    if form.is_valid():
        outcome = outcome_of_question(
            found,
            form.cleaned_data["question"],
            user=reader(request),
            shown_in=_place(request),
        )
    else:
        outcome = Outcome(
            sql="", question=typed, title=NO_ANSWER, trouble=_complaint(form)
        )
    return _answered(request, found, outcome)


@signed_in
@require_POST
def cancel(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Stop what the page has running; it says how many statements it stopped."""
    found, user = open_database(request, pk), reader(request)
    running = list(running_as(found, user, [_place(request)]))
    stopped = [runner.cancel(query.pk, user=user) for query in running]
    return private(JsonResponse({"stopped": sum(stopped)}))


@signed_in
@require_POST
def as_csv(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Run a statement anew, and return all of its rows that may be read as CSV."""
    found, form = open_database(request, pk), StatementForm(request.POST)
    sql = request.POST.get("sql", "")
    if not form.is_valid():
        outcome = Outcome(sql=sql, title=NOT_RUN, trouble=_complaint(form))
        return database_page(request, found, sql=sql, outcome=outcome, status=422)
    try:
        rows = run_statement(found, sql, user=reader(request), shown_in="page:csv")
    except GuardRefused as error:
        outcome = Outcome(sql=sql, title=NOT_RUN, trouble=str(error), rule=error.rule)
    except DatabaseError as error:
        outcome = Outcome(sql=sql, title=ENDED, trouble=str(error))
    else:
        names = [column.name for column in rows.columns]
        return csv_response(found.name, names, rows.rows)
    return database_page(request, found, sql=sql, outcome=outcome, status=422)


@signed_in
@require_POST
def save(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Keep a statement under a title, anew or in place of one of the reader's own."""
    found, form = open_database(request, pk), SaveForm(request.POST)
    sql, complaint = request.POST.get("sql", ""), ""
    instead_of = own_saved(request, found, request.POST.get("instead_of", ""))
    if form.is_valid():
        try:
            row = save_query(
                found,
                reader(request),
                title=form.cleaned_data["title"],
                sql=sql,
                is_shared=form.cleaned_data["shared"],
                instead_of=instead_of,
            )
        except Refused as error:
            complaint = str(error)
        else:
            messages.success(request, f"Saved as “{row.title}”.")
            return redirect(f"{_address(found)}?saved={row.pk}")
    outcome = Outcome(sql=sql, title="Not saved", trouble=complaint or _complaint(form))
    return database_page(
        request, found, sql=sql, saved=instead_of, outcome=outcome, status=422
    )


@signed_in
@require_POST
def delete(request: HttpRequest, pk: uuid.UUID, saved: uuid.UUID) -> HttpResponse:
    """Delete a saved query of the reader's own."""
    found, user = open_database(request, pk), reader(request)
    mine = saved_seen_by(user).filter(database=found, user=user)
    row = get_object_or_404(mine, pk=saved)
    delete_saved(row, by=user)
    messages.success(request, f"“{row.title}” is deleted.")
    return redirect(_address(found))


def _answered(request: HttpRequest, found: Database, outcome: Outcome) -> HttpResponse:
    """Return the result alone to a page that asks for it, else the whole page."""
    saved = own_saved(request, found, request.POST.get("saved", ""))
    if request.htmx:  # type: ignore[attr-defined] # set by its middleware
        context = {
            "database": found,
            "outcome": outcome,
            "saved": saved,
            **kept(request, found),
        }
        # htmx swaps only what succeeded; what went wrong stands within the result.
        return private(render(request, "databases/answered.html", context))
    return database_page(
        request,
        found,
        sql=outcome.sql,
        saved=saved,
        outcome=outcome,
        question=outcome.question,
        status=422 if outcome.trouble else 200,
    )


def _place(request: HttpRequest) -> str:
    return place_of_page(request.POST.get("mark", ""))


def _address(found: Database) -> str:
    return reverse("database", args=[found.pk])


def _complaint(form: forms.Form) -> str:
    return " ".join(str(error) for errors in form.errors.values() for error in errors)
