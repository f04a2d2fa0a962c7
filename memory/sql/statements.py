"""Statements that people give to databases: guarded, run, noted, cancelled."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from django.db.models import Q, QuerySet

from connections.databases.base import GuardRefused, Rows
from connections.databases.guard import guard
from connections.databases.runner import refused, run
from connections.databases.snapshot import schema_of
from connections.models import Database, DatabaseQuery, Project, User
from connections.roles import Act, projects_where

LONGEST_SQL = 20_000


def open_databases(user: User) -> QuerySet[Database]:
    """Return the databases that `user` may ask, with their projects."""
    rows = Database.objects.visible_to(user).filter(enabled=True)
    return rows.select_related("project__tenant")


def run_statement(
    database: Database,
    sql: str,
    *,
    user: User,
    shown_in: str,
    limit: int | None = None,
    question: str = "",
) -> Rows:
    """Return the rows of a person's statement, at most `limit` of them.

    It goes through the guard; a refusal is kept among the runs and then raised, as
    every other `DatabaseError` is.
    """
    most = min(limit or database.rows_most, database.rows_most)
    try:
        guarded = guard(sql, schema_of(database), limit=most)
    except GuardRefused as error:
        refused(database, sql, error, user=user, question=question, shown_in=shown_in)
        raise
    return run(database, guarded, user=user, question=question, shown_in=shown_in)


def runs_seen_by(user: User) -> QuerySet[DatabaseQuery]:
    """Return the runs that `user` may read about.

    Their own, and in projects where they are an administrator everybody's; never of a
    database that is closed to them, nor of a project that they have left.
    """
    ruled = projects_ruled_by(user)
    of_open = Q(database=None) | Q(database__in=Database.objects.visible_to(user))
    rows = DatabaseQuery.objects.filter(
        of_open,
        Q(user=user) | Q(project__in=ruled),
        project__in=Project.objects.visible_to(user),
    )
    return rows.select_related("user", "database", "project__tenant")


def projects_ruled_by(user: User) -> QuerySet[Project]:
    """Return the projects in which `user` is an administrator."""
    return projects_where(user, Act.READ_RUNS)


def running_as(
    database: Database, user: User, places: Sequence[str]
) -> QuerySet[DatabaseQuery]:
    """Return the running statements of `user` that were begun for `places`."""
    return DatabaseQuery.objects.filter(
        database=database,
        user=user,
        shown_in__in=places,
        verdict=DatabaseQuery.Verdict.RUNNING,
    )


def place_of_page(sent: str) -> str:
    """Return where a page's run is shown: with the mark that the page gave it.

    By that mark the page can cancel what it has begun, before it knows the run's id.
    """
    try:
        return f"page:{uuid.UUID(sent)}"
    except ValueError:
        return "page"
