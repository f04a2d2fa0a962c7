"""Databases asked through the API: in SQL, in words; runs and saved statements."""

from __future__ import annotations

import uuid
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import mixins, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from connections.api.parameters import JSONBody
from connections.api.permissions import caller
from connections.databases.runner import cancel
from connections.models import ApiToken, DatabaseQuery, Scope
from connections.refusals import Refused
from memory.api.database_fields import (
    AnswerResponse,
    CancelResponse,
    QueryParameters,
    QuestionParameters,
    RowsResponse,
    RunParameters,
    RunSerializer,
    SavedChanges,
    SavedListParameters,
    SavedParameters,
    SavedSerializer,
    open_database,
    rows_told,
)
from memory.models import SavedQuery
from memory.sql.asking import Unanswered, ask_database
from memory.sql.saved import delete_saved, save_query, saved_seen_by
from memory.sql.statements import run_statement, runs_seen_by

SHOWN_IN = "api"
PROBLEM = "application/problem+json"
# What a database may answer besides; each is a problem as any other.
REFUSALS: dict[Any, Any] = {
    (status, PROBLEM): OpenApiResponse(OpenApiTypes.OBJECT, description=description)
    for status, description in {
        422: "It is not run, or not answered; `rule` names the guard's rule.",
        502: "The database could not be read; `code` and `detail` say why.",
    }.items()
}
TAKEN: dict[Any, Any] = {
    (409, PROBLEM): OpenApiResponse(
        OpenApiTypes.OBJECT, description="You have saved another by that title."
    )
}


class NotAnswered(Refused):
    """A question that this database does not answer; the message says why."""

    code = "not_answered"
    status_code = 422


class DatabaseQueryView(APIView):
    """Runs one statement that reads, after the guard has let it through."""

    scope = Scope.ASK
    parser_classes = (JSONBody,)

    @extend_schema(
        tags=["databases"],
        request=QueryParameters,
        responses={200: RowsResponse, **REFUSALS},
        operation_id="database_query",
        summary="Run a statement",
    )
    def post(self, request: Request, pk: uuid.UUID) -> Response:
        database = open_database(request, pk)
        asked = QueryParameters.of_body(request)
        rows = run_statement(
            database,
            asked["sql"],
            user=caller(request),
            shown_in=SHOWN_IN,
            limit=asked.get("limit"),
        )
        return Response(rows_told(database, rows))


class DatabaseAskView(APIView):
    """Answers a question in words with the rows of a statement it writes."""

    scope = Scope.ASK
    parser_classes = (JSONBody,)

    @extend_schema(
        tags=["databases"],
        request=QuestionParameters,
        responses={200: AnswerResponse, **REFUSALS},
        operation_id="database_ask",
        summary="Ask in words",
    )
    def post(self, request: Request, pk: uuid.UUID) -> Response:
        database = open_database(request, pk)
        asked = QuestionParameters.of_body(request)
        answer = ask_database(
            database,
            asked["question"],
            user=caller(request),
            project=database.project,
            shown_in=SHOWN_IN,
        )
        if isinstance(answer, Unanswered):
            raise NotAnswered(answer.reason)
        read = {
            "reading": answer.reading,
            "assumptions": list(answer.assumptions),
            "tables": list(answer.tables),
            "by": answer.by,
            "model": answer.model,
        }
        told = rows_told(database, answer.rows)
        return Response({**told, "sql": answer.sql, **read})


@extend_schema(tags=["databases"])
class RunViewSet(
    mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet
):
    """What was run: the caller's own; all of a project to its administrators."""

    serializer_class = RunSerializer
    queryset = DatabaseQuery.objects.none()
    lookup_value_converter = "uuid"
    page_by = ("-started_at", "-pk")
    scopes = {"cancel": Scope.ASK}

    def get_queryset(self) -> Any:
        rows = _of_token(runs_seen_by(caller(self.request)), self.request, "")
        if self.action != "list":
            return rows
        asked = RunParameters.of_query(self.request)
        if database := asked.get("database"):
            rows = rows.filter(database=database)
        if verdict := asked.get("verdict"):
            rows = rows.filter(verdict=verdict)
        return rows

    @extend_schema(parameters=[RunParameters], summary="What was run")
    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().list(request, *args, **kwargs)

    @extend_schema(request=None, responses=CancelResponse, summary="Cancel a run")
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        row: DatabaseQuery = self.get_object()
        cancelled = cancel(row.pk, user=caller(request))
        return Response({"id": str(row.pk), "cancelled": cancelled})


@extend_schema(tags=["databases"])
class SavedQueryViewSet(
    mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet
):
    """Statements that the caller kept, and those that others share."""

    serializer_class = SavedSerializer
    queryset = SavedQuery.objects.none()
    parser_classes = (JSONBody,)
    lookup_value_converter = "uuid"
    page_by = ("title", "pk")
    scopes = dict.fromkeys(("create", "partial_update", "destroy"), Scope.WRITE)

    def get_queryset(self) -> Any:
        rows = saved_seen_by(caller(self.request))
        rows = _of_token(rows, self.request, "database__")
        if self.action != "list":
            return rows
        asked = SavedListParameters.of_query(self.request)
        database = asked.get("database")
        return rows.filter(database=database) if database else rows

    @extend_schema(parameters=[SavedListParameters], summary="Saved statements")
    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().list(request, *args, **kwargs)

    @extend_schema(
        request=SavedParameters,
        responses={201: SavedSerializer, **TAKEN},
        summary="Save",
    )
    def create(self, request: Request) -> Response:
        asked = SavedParameters.of_body(request)
        row = save_query(
            asked["database"],
            caller(request),
            title=asked["title"],
            sql=asked["sql"],
            is_shared=asked["shared"],
        )
        return Response(self.get_serializer(row).data, 201)

    @extend_schema(
        request=SavedChanges,
        responses={200: SavedSerializer, **TAKEN},
        summary="Change or share",
    )
    def partial_update(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        asked = SavedChanges.of_body(request)
        row = self._own()
        changed = save_query(
            row.database,
            caller(request),
            title=asked.get("title", row.title),
            sql=asked.get("sql", row.sql),
            is_shared=asked.get("shared", row.is_shared),
            instead_of=row,
        )
        return Response(self.get_serializer(changed).data)

    @extend_schema(summary="Delete")
    def destroy(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        delete_saved(self._own(), by=caller(request))
        return Response(status=204)

    def _own(self) -> SavedQuery:
        row: SavedQuery = self.get_object()
        if row.user_id != caller(self.request).pk:
            message = "It is shared with you; only who saved it changes it."
            raise PermissionDenied(message)
        return row


def _of_token(rows: Any, request: Request, path: str) -> Any:
    """Keep of `rows` those of the token's tenant, where a token asks."""
    if isinstance(request.auth, ApiToken):
        return rows.filter(**{f"{path}tenant_id": request.auth.tenant_id})
    return rows
