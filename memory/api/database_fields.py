"""What is sent to databases through the API, and what comes of it."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request

from connections.api.parameters import ListParameters, Parameters
from connections.api.permissions import caller, visible
from connections.databases.base import Rows
from connections.models import Database, DatabaseQuery
from memory.models import SavedQuery
from memory.sql.cells import as_json
from memory.sql.statements import LONGEST_SQL

LONGEST_QUESTION = 2_000
MOST_ROWS = 100_000


def open_database(request: Request, pk: Any) -> Database:
    """Return a database that the caller may ask; any other is a 404."""
    rows = visible(Database.objects.all(), request).filter(enabled=True)
    found: Database | None = (
        rows.select_related("project__tenant").filter(pk=pk).first()
    )
    if found is None:
        raise NotFound(f"There is no database {pk} that you may ask.")
    return found


class DatabaseField(serializers.UUIDField):
    """A database that the caller may ask, by its id; any other is a 404."""

    def run_validation(self, data: Any = serializers.empty) -> Any:
        value = super().run_validation(data)
        if value is serializers.empty or value is None:
            return value
        return open_database(self.context["request"], value)


class QueryParameters(Parameters):
    """A statement, and how many rows of it are wanted."""

    sql = serializers.CharField(
        max_length=LONGEST_SQL, trim_whitespace=False, help_text="One that reads."
    )
    limit = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=MOST_ROWS,
        help_text="At most so many rows; never more than the database allows.",
    )


class QuestionParameters(Parameters):
    """A question in words."""

    question = serializers.CharField(max_length=LONGEST_QUESTION)


class RunParameters(ListParameters):
    """Which runs are listed."""

    database = DatabaseField(required=False, help_text="Only of this one.")
    verdict = serializers.ChoiceField(
        required=False,
        choices=DatabaseQuery.Verdict.choices,
        help_text="Only those that ended so.",
    )


class SavedListParameters(ListParameters):
    """Which saved statements are listed."""

    database = DatabaseField(required=False, help_text="Only of this one.")


class SavedParameters(Parameters):
    """A statement to keep."""

    database = DatabaseField(help_text="The id of the database it is for.")
    title = serializers.CharField(max_length=200)
    sql = serializers.CharField(max_length=LONGEST_SQL, trim_whitespace=False)
    shared = serializers.BooleanField(
        required=False, default=False, help_text="With all who may ask the database."
    )


class SavedChanges(Parameters):
    """What changes of a kept statement."""

    title = serializers.CharField(max_length=200, required=False)
    sql = serializers.CharField(
        max_length=LONGEST_SQL, trim_whitespace=False, required=False
    )
    shared = serializers.BooleanField(required=False)


class ColumnResponse(serializers.Serializer):
    name = serializers.CharField()
    family = serializers.CharField(help_text="How its values compare: number, text …")


class RowsResponse(serializers.Serializer):
    """Rows of a database; a number that JSON could not hold exactly is a string."""

    connection = serializers.CharField(help_text="The database's name.")
    sql = serializers.CharField(help_text="As it was sent.")
    columns = ColumnResponse(many=True)
    rows = serializers.ListField(child=serializers.ListField())
    row_count = serializers.IntegerField()
    truncated = serializers.BooleanField(help_text="There were more rows.")
    took_ms = serializers.FloatField()
    query = serializers.UUIDField(allow_null=True, help_text="The run's id.")


class AnswerResponse(RowsResponse):
    """Rows that answer a question, with how it was read."""

    reading = serializers.CharField()
    assumptions = serializers.ListField(child=serializers.CharField())
    tables = serializers.ListField(child=serializers.CharField())
    by = serializers.ChoiceField(choices=("model", "rules", "example"))
    model = serializers.CharField()


class CancelResponse(serializers.Serializer):
    id = serializers.UUIDField()
    cancelled = serializers.BooleanField(help_text="False: it had ended already.")


class RunSerializer(serializers.ModelSerializer):
    """A statement that was asked for, and what became of it."""

    project = serializers.CharField(source="project.path")
    user = serializers.SerializerMethodField()

    class Meta:
        model = DatabaseQuery
        fields = (
            "id",
            "project",
            "database",
            "database_name",
            "user",
            "question",
            "asked_sql",
            "sent_sql",
            "verdict",
            "rule",
            "error",
            "rows",
            "truncated",
            "took_ms",
            "shown_in",
            "started_at",
            "finished_at",
        )

    def get_user(self, row: DatabaseQuery) -> str | None:
        return row.user.email if row.user else None


class SavedSerializer(serializers.ModelSerializer):
    """A statement that was kept."""

    project = serializers.CharField(source="database.project.path")
    shared = serializers.BooleanField(source="is_shared")
    own = serializers.SerializerMethodField()

    class Meta:
        model = SavedQuery
        fields = (
            "id",
            "project",
            "database",
            "title",
            "sql",
            "shared",
            "own",
            "created_at",
            "updated_at",
        )

    def get_own(self, row: SavedQuery) -> bool:
        return row.user_id == caller(self.context["request"]).pk


def rows_told(database: Database, rows: Rows) -> dict[str, Any]:
    """Return rows as the API gives them."""
    return {
        "connection": database.name,
        "sql": rows.sql,
        "columns": [{"name": one.name, "family": one.family} for one in rows.columns],
        "rows": [[as_json(cell) for cell in row] for row in rows.rows],
        "row_count": len(rows.rows),
        "truncated": rows.truncated,
        "took_ms": round(rows.took_ms, 1),
        "query": str(rows.run) if rows.run else None,
    }
