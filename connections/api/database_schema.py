"""The schema of a database over the API, and its discovery."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import Prefetch, Q, QuerySet
from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from connections.api.parameters import Parameters
from connections.api.permissions import caller, visible
from connections.databases.discovery import discover
from connections.models import (
    Database,
    DatabaseColumn,
    DatabaseKey,
    DatabaseTable,
    Role,
    Scope,
)
from connections.roles import require
from connections.schema_page import tables_of
from connections.tasks import follow_database

MOST_TABLES = 200


class SchemaParameters(Parameters):
    """What is asked of a schema: words that tables and columns are found by."""

    query = serializers.CharField(required=False, default="", max_length=200)
    limit = serializers.IntegerField(
        required=False, default=50, min_value=1, max_value=MOST_TABLES
    )
    cursor = serializers.IntegerField(
        required=False, min_value=1, max_value=2**63 - 1, help_text="From `next`."
    )


class ColumnSerializer(serializers.ModelSerializer):
    class Meta:
        model = DatabaseColumn
        fields = (
            "name",
            "data_type",
            "family",
            "nullable",
            "is_key",
            "comment",
            "exposure",
            "values",
            "values_complete",
        )


class KeySerializer(serializers.ModelSerializer):
    """A foreign key: pairs of columns, and the table that they name."""

    schema = serializers.CharField(source="target.schema")
    table = serializers.CharField(source="target.name")

    class Meta:
        model = DatabaseKey
        fields = ("name", "columns", "schema", "table", "target_columns")


class TableSerializer(serializers.ModelSerializer):
    columns = ColumnSerializer(many=True)
    keys = KeySerializer(many=True)

    class Meta:
        model = DatabaseTable
        fields = ("schema", "name", "kind", "comment", "rows", "columns", "keys")


class SchemaSerializer(serializers.Serializer):
    """A page of a schema; `next` is the cursor of the next, if there is one."""

    database = serializers.CharField()
    discovered_at = serializers.DateTimeField(allow_null=True)
    error = serializers.CharField()
    tables = TableSerializer(many=True)
    next = serializers.IntegerField(allow_null=True)


class DiscoveredSerializer(serializers.Serializer):
    """What a discovery found, and how it differs from the one before."""

    added = serializers.IntegerField()
    removed = serializers.IntegerField()
    changed = serializers.IntegerField()
    tables = serializers.IntegerField()
    columns = serializers.IntegerField()
    waiting = serializers.IntegerField()
    seconds = serializers.FloatField()


class SchemaView(APIView):
    """Tables that may be asked, by schema and name; what is hidden is not told of."""

    @extend_schema(
        summary="The discovered schema of a database",
        tags=["databases"],
        parameters=[SchemaParameters],
        responses=SchemaSerializer,
    )
    def get(self, request: Request, pk: UUID) -> Response:
        database = database_of(request, pk)
        asked = SchemaParameters(data=request.query_params)
        asked.is_valid(raise_exception=True)
        found, following = _page(database, asked.validated_data)
        answer = {
            "database": database.name,
            "discovered_at": database.discovered_at,
            "error": database.discovery_error,
            "tables": found,
            "next": following,
        }
        return Response(SchemaSerializer(answer).data)


class DiscoverView(APIView):
    """Reads a schema now; search follows in the background."""

    scope = Scope.WRITE

    @extend_schema(
        summary="Discover the schema of a database",
        tags=["databases"],
        request=None,
        responses=DiscoveredSerializer,
    )
    def post(self, request: Request, pk: UUID) -> Response:
        database, user = database_of(request, pk), caller(request)
        require(user, database.project_id, Role.EDITOR)
        found = discover(database, actor=user)
        follow_database.delay(str(database.pk))
        return Response(DiscoveredSerializer(found).data)


def database_of(request: Request, pk: UUID) -> Database:
    """Return a database that the caller may see; any other is a 404."""
    rows = visible(Database.objects.all(), request)
    database: Database | None = (
        rows.select_related("project__tenant").filter(pk=pk).first()
    )
    if database is None:
        raise NotFound("There is no such database.")
    return database


def _page(
    database: Database, asked: dict[str, Any]
) -> tuple[list[DatabaseTable], int | None]:
    """Return the tables of a page, and the cursor of the next."""
    rows: QuerySet[DatabaseTable] = tables_of(database, query=asked["query"]).filter(
        exposure=DatabaseTable.Exposure.VISIBLE
    )
    if cursor := asked.get("cursor"):
        last = DatabaseTable.objects.filter(database=database, pk=cursor).first()
        if last is None:
            message = "This is no cursor of this schema; begin without one."
            raise serializers.ValidationError({"cursor": [message]}, "invalid")
        rows = rows.filter(
            Q(schema__gt=last.schema) | Q(schema=last.schema, name__gt=last.name)
        )
    hidden = DatabaseColumn.Exposure.HIDDEN
    seen = DatabaseColumn.objects.filter(gone_at=None).exclude(exposure=hidden)
    full = rows.prefetch_related(
        Prefetch("columns", queryset=seen.order_by("position")),
        Prefetch("keys", queryset=_seen_keys(database)),
    )
    found = list(full[: asked["limit"] + 1])
    shown = found[: asked["limit"]]
    return shown, shown[-1].pk if len(found) > len(shown) else None


def _seen_keys(database: Database) -> QuerySet[DatabaseKey]:
    """Return keys to tables that may be seen, of which no column is hidden."""
    closed = DatabaseColumn.objects.filter(
        table__database=database, exposure=DatabaseColumn.Exposure.HIDDEN
    )
    return (
        DatabaseKey.objects.select_related("target")
        .filter(target__exposure=DatabaseTable.Exposure.VISIBLE, target__gone_at=None)
        .order_by("name")
        .exclude(pk__in=_keys_with(closed))
    )


def _keys_with(closed: QuerySet[DatabaseColumn]) -> list[int]:
    """Return the keys that use one of `closed`, on either side."""
    names: dict[int, set[str]] = {}
    for table, name in closed.values_list("table_id", "name"):
        names.setdefault(table, set()).add(name)
    rows = DatabaseKey.objects.filter(Q(table__in=names) | Q(target__in=names))
    return [
        key.pk
        for key in rows
        if names.get(key.table_id, set()) & set(key.columns)
        or names.get(key.target_id, set()) & set(key.target_columns)
    ]


urlpatterns = [
    path("<uuid:pk>/schema/", SchemaView.as_view(), name="database-schema"),
    path("<uuid:pk>/discover/", DiscoverView.as_view(), name="database-discover"),
]
