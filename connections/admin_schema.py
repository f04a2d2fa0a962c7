"""The admin of discovered schemas: seen, searched, and opened or closed by staff."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django.views.decorators.http import require_POST

from connections.admin_scope import FabricAdmin, staff
from connections.databases.base import DatabaseError
from connections.databases.discovery import discover
from connections.databases.exposure import expose_columns, expose_tables
from connections.models import (
    Database,
    DatabaseColumn,
    DatabaseTable,
    User,
)
from connections.refusals import Refused
from connections.roles import Act, may, projects_where
from connections.schema_page import (
    latest_changes,
    page_of,
    picture_of,
    schemas_of,
    tables_of,
)
from connections.tasks import follow_database

LISTED = 200
QUERY_CHARACTERS = 200


def databases_for(user: User) -> QuerySet[Database]:
    """Return the databases whose schema `user` may see here: those they administer,
    and those whose audience has them."""
    seen = Database.objects.visible_to(user).values("pk")
    ruled = projects_where(user, Act.EXPOSE).values("pk")
    return Database.objects.filter(Q(pk__in=seen) | Q(project__in=ruled))


def may_expose(user: User, database: Database) -> bool:
    """Return whether `user` may choose what is seen: administrators of its project."""
    return may(user, Act.EXPOSE, database.project_id)


@admin.register(DatabaseTable)
class SchemaAdmin(FabricAdmin):
    """Schemas of databases: a list of databases, and a page for each."""

    project_path, change_act = "database__project", Act.EXPOSE

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        name = "connections_databasetable"
        return [
            path("", wrap(self.list_view), name=f"{name}_changelist"),
            path("<uuid:pk>/", wrap(self.schema_view), name="database_schema"),
            path("<uuid:pk>/picture/", wrap(self.picture_view), name="schema_picture"),
            path(
                "<uuid:pk>/expose/",
                wrap(require_POST(self.expose_view)),
                name="schema_expose",
            ),
            path(
                "<uuid:pk>/discover/",
                wrap(require_POST(self.discover_view)),
                name="schema_discover",
            ),
        ]

    def list_view(self, request: HttpRequest) -> HttpResponse:
        """Show the databases there are, each with its number of tables."""
        self._check_view(request)
        rows = (
            databases_for(staff(request))
            .select_related("project__tenant")
            .annotate(found=Count("tables", filter=Q(tables__gone_at=None)))
        )
        context = self._context(request, "Schemas of databases")
        return TemplateResponse(
            request,
            "admin/databases/schemas.html",
            {**context, "databases": rows[:LISTED]},
        )

    def schema_view(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Show a page of tables, what changed, and the picture's frame."""
        database = self._database(request, pk)
        user, asked = staff(request), _asked(request)
        tables = tables_of(database, **asked)
        page = page_of(tables, request.GET.get("page", "1"))
        seen = Database.objects.visible_to(user).filter(pk=pk).exists()
        kept = {name: value for name, value in asked.items() if value}
        context = {
            **self._context(request, f"Schema of {database}"),
            "database": database,
            "asked": asked,
            "kept": kept,
            "kept_query": urlencode(kept),
            "page": page,
            "schemas": schemas_of(database),
            "changes": latest_changes(database),
            "exposures": DatabaseColumn.Exposure.choices,
            "may_expose": may_expose(user, database)
            and self.has_change_permission(request),
            "shows_values": seen,
        }
        return TemplateResponse(request, "admin/databases/schema.html", context)

    def picture_view(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Return the tables and keys to draw, as the page's search has them."""
        database = self._database(request, pk)
        tables = tables_of(database, **_asked(request))
        return JsonResponse(picture_of(database, tables))

    def expose_view(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Store what was chosen for a schema, or for a table and its columns."""
        database = self._database(request, pk, to_change=True)
        try:
            said = _expose(database, request)
        except Refused as error:
            self.message_user(request, str(error), messages.ERROR)
        else:
            self.message_user(request, said, messages.SUCCESS)
        return redirect(_back(request, pk))

    def discover_view(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Read the schema now, and tell what differs."""
        database = self._database(request, pk, to_change=True)
        try:
            found = discover(database, actor=staff(request))
        except DatabaseError as error:
            self.message_user(request, str(error), messages.ERROR)
        else:
            follow_database.delay(str(database.pk))
            said = (
                f"{found.tables} tables with {found.columns} columns read in "
                f"{found.seconds:.1f} s: {found.added} added, {found.removed} removed, "
                f"{found.changed} changed."
            )
            if found.waiting:
                said += f" The values of {found.waiting} tables wait for the next run."
            self.message_user(request, said, messages.SUCCESS)
        return redirect(_back(request, pk))

    def _context(self, request: HttpRequest, title: str) -> dict[str, Any]:
        return {
            **self.admin_site.each_context(request),
            "title": title,
            "opts": self.opts,
        }

    def _check_view(self, request: HttpRequest) -> None:
        if not self.has_view_permission(request):
            raise PermissionDenied

    def _database(
        self, request: HttpRequest, pk: UUID, *, to_change: bool = False
    ) -> Database:
        """Return the database, 404 where it is not theirs to see, 403 to change."""
        self._check_view(request)
        rows = databases_for(staff(request)).select_related("project__tenant")
        database = rows.filter(pk=pk).first()
        if database is None:
            raise Http404("There is no such database.")
        if to_change and not (
            self.has_change_permission(request) and may_expose(staff(request), database)
        ):
            raise PermissionDenied
        return database


def _asked(request: HttpRequest) -> dict[str, str]:
    names = ("query", "schema", "exposure")
    asked = {name: request.GET.get(name, "")[:QUERY_CHARACTERS] for name in names}
    if asked["exposure"] not in DatabaseColumn.Exposure.values:
        asked["exposure"] = ""
    # No name holds it, and no statement takes it.
    return {name: value.replace("\x00", "") for name, value in asked.items()}


def _back(request: HttpRequest, pk: UUID) -> str:
    """Return where the form was: an address of our own, else the first page."""
    wanted = request.POST.get("back", "")
    ours = url_has_allowed_host_and_scheme(wanted, allowed_hosts=None)
    return wanted if ours else reverse("admin:database_schema", args=[pk])


def _expose(database: Database, request: HttpRequest) -> str:
    actor, data = staff(request), request.POST
    if "schema" in data:
        exposure, schema = data.get("exposure", ""), data["schema"]
        chosen = expose_tables(database, exposure, schema=schema, actor=actor)
        return f"{chosen.tables} tables of {schema} are {exposure} now."
    table = _table(database, data.get("table", ""))
    done = 0
    if (wanted := data.get("table_exposure", table.exposure)) != table.exposure:
        expose_tables(database, wanted, tables=[table.pk], actor=actor)
        done += 1
    by_exposure: dict[str, list[int]] = {}
    for column in table.columns.filter(gone_at=None):
        chosen_one = data.get(f"column-{column.pk}", column.exposure)
        if chosen_one != column.exposure:
            by_exposure.setdefault(chosen_one, []).append(column.pk)
    for exposure, columns in by_exposure.items():
        done += expose_columns(database, exposure, columns=columns, actor=actor).columns
    return f"{table}: {done} changed." if done else f"{table} is as it was."


def _table(database: Database, given: str) -> DatabaseTable:
    rows = DatabaseTable.objects.filter(database=database, gone_at=None)
    table = rows.filter(pk=int(given)).first() if given.isdecimal() else None
    if table is None:
        raise Http404("There is no such table.")
    return table
