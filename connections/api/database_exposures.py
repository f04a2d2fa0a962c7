"""What of a database may be seen, read and chosen over the API by its admins."""

from __future__ import annotations

from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from connections.api.database_schema import database_of
from connections.api.parameters import JSONBody, Parameters
from connections.api.permissions import caller
from connections.databases.exposure import (
    Chosen,
    ExposureRefused,
    expose_columns,
    expose_tables,
)
from connections.models import Database, DatabaseColumn, DatabaseTable, Scope
from connections.roles import Act, must

MOST_COLUMNS = 500


class ExposureParameters(Parameters):
    """An exposure, and what it is chosen for: a schema, a table, columns of one."""

    exposure = serializers.ChoiceField(
        choices=DatabaseColumn.Exposure.choices,
        help_text="Tables are visible or hidden; columns masked or aggregate besides.",
    )
    schema = serializers.CharField(max_length=200)
    table = serializers.CharField(
        required=False, max_length=200, help_text="Left out: all tables of the schema."
    )
    columns = serializers.ListField(
        child=serializers.CharField(max_length=200),
        required=False,
        min_length=1,
        max_length=MOST_COLUMNS,
        help_text="Left out: the table itself.",
    )

    def validate(self, asked: dict[str, object]) -> dict[str, object]:
        if "columns" in asked and "table" not in asked:
            raise serializers.ValidationError({"table": ["Columns are of a table."]})
        return asked


class ChosenSerializer(serializers.Serializer):
    """How many tables and columns the choice is for."""

    tables = serializers.IntegerField()
    columns = serializers.IntegerField()


class ExposuresView(APIView):
    """Chooses what of a schema may be seen; what is hidden is nobody's to ask."""

    scope = Scope.ADMIN
    parser_classes = (JSONBody,)

    @extend_schema(
        summary="Choose what of a database may be seen",
        tags=["databases"],
        request=ExposureParameters,
        responses=ChosenSerializer,
        operation_id="database_expose",
    )
    def post(self, request: Request, pk: UUID) -> Response:
        database, user = database_of(request, pk), caller(request)
        must(user, Act.EXPOSE, database.project_id)
        asked = ExposureParameters.of_body(request)
        tables = _tables(database, asked["schema"], asked.get("table"))
        if "columns" in asked:
            columns = _columns(tables[0], asked["columns"])
            chosen: Chosen = expose_columns(
                database,
                asked["exposure"],
                columns=[column.pk for column in columns],
                actor=user,
            )
        else:
            chosen = expose_tables(
                database,
                asked["exposure"],
                tables=[table.pk for table in tables],
                actor=user,
            )
        return Response(ChosenSerializer(chosen).data)


def _tables(database: Database, schema: str, name: str | None) -> list[DatabaseTable]:
    rows: QuerySet[DatabaseTable] = DatabaseTable.objects.filter(
        database=database, gone_at=None, schema=schema
    )
    found = list(rows if name is None else rows.filter(name=name))
    if not found:
        what = f"the schema {schema!r}" if name is None else f"{schema}.{name}"
        raise ExposureRefused(f"{database.name} has not {what}; names are exact.")
    return found


def _columns(table: DatabaseTable, names: list[str]) -> list[DatabaseColumn]:
    found = list(table.columns.filter(gone_at=None, name__in=names))
    if unknown := sorted(set(names) - {column.name for column in found}):
        raise ExposureRefused(f"{table} has no column {', '.join(unknown)}.")
    return found
