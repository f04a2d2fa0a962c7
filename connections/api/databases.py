"""Connections to databases: listed, made, changed, deleted, tested."""

from __future__ import annotations

from copy import copy
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from connections.api.database_fields import (
    DatabaseChanges,
    DatabaseListParameters,
    DatabaseParameters,
    DatabaseSerializer,
    TestReportSerializer,
    report_for,
)
from connections.api.parameters import JSONBody
from connections.api.permissions import caller, visible
from connections.databases import changing
from connections.databases.rights import test_database
from connections.models import ApiToken, Database, Project, Scope

WRITES = ("create", "update", "partial_update", "destroy", "test")


@extend_schema(tags=["databases"])
class DatabaseViewSet(
    mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet
):
    """Databases whose audience has the caller; admins of the project change them."""

    serializer_class = DatabaseSerializer
    queryset = Database.objects.none()
    parser_classes = (JSONBody,)
    lookup_value_converter = "uuid"
    scopes = dict.fromkeys(WRITES, Scope.ADMIN)

    def get_queryset(self) -> QuerySet[Database]:
        rows = Database.objects.select_related("project__tenant", "audience")
        rows = visible(rows, self.request)
        if self.action != "list":
            return rows
        asked = DatabaseListParameters.of_query(self.request)
        return rows.filter(project=asked["project"]) if "project" in asked else rows

    @extend_schema(
        parameters=[DatabaseListParameters], summary="Databases that may be asked"
    )
    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().list(request, *args, **kwargs)

    @extend_schema(summary="One database")
    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().retrieve(request, *args, **kwargs)

    @extend_schema(
        request=DatabaseParameters,
        responses={201: DatabaseSerializer},
        summary="Connect a database",
    )
    def create(self, request: Request) -> Response:
        asked = DatabaseParameters.of_body(request)
        project = asked["project"]
        self._must_manage(project)
        asked.setdefault("audience", changing.public_audience(project))
        database = Database(tenant_id=project.tenant_id)
        self._store(database, None, asked)
        return Response(self.get_serializer(database).data, 201)

    @extend_schema(
        request=DatabaseChanges,
        responses=DatabaseSerializer,
        summary="Replace what is set; the password is kept where none is sent",
    )
    def update(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return self._change(request, partial=False)

    @extend_schema(
        request=DatabaseChanges,
        responses=DatabaseSerializer,
        summary="Change some of it; the password is kept where none is sent",
    )
    def partial_update(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return self._change(request, partial=True)

    @extend_schema(
        summary="Disconnect, with what was discovered", responses={204: None}
    )
    def destroy(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        database = self.get_object()
        self._must_manage(database.project)
        changing.remove_database(database, by=caller(request), token_id=self._token())
        return Response(status=204)

    @extend_schema(
        request=None,
        responses=TestReportSerializer,
        summary="Connect, and say what the login may do beyond reading",
    )
    @action(detail=True, methods=["post"])
    def test(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        database = self.get_object()
        self._must_manage(database.project)
        report = test_database(database, by=caller(request))
        return Response(report_for(report, database, caller(request)))

    def _change(self, request: Request, *, partial: bool) -> Response:
        before = self.get_object()
        self._must_manage(before.project)
        given = DatabaseChanges(
            data=request.data, partial=partial, context={"request": request}
        )
        given.is_valid(raise_exception=True)
        database = copy(before)
        self._store(database, before, given.validated_data)
        return Response(self.get_serializer(database).data)

    def _store(
        self, database: Database, before: Database | None, asked: dict[str, Any]
    ) -> None:
        by = caller(self.request)
        for name, value in asked.items():
            setattr(database, name, value)
        wrong = changing.wrong_changes(
            database, before, by=by, has_password="password" in asked
        )
        if wrong:
            raise serializers.ValidationError(
                {name: [said] for name, said in wrong.items()}
            )
        changing.keep_database(
            database, before, by=by, fields=asked, token_id=self._token()
        )

    def _must_manage(self, project: Project) -> None:
        if not changing.may_change(caller(self.request), project):
            raise PermissionDenied(
                f"Only admins of {project} change its connections.", code="not_admin"
            )

    def _token(self) -> UUID | None:
        token = self.request.auth
        return token.pk if isinstance(token, ApiToken) else None
