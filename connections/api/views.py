"""The projects of a caller."""

from __future__ import annotations

from django.db.models import F, QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, viewsets

from connections.api.parameters import ListParameters
from connections.api.permissions import visible
from connections.api.serializers import ProjectSerializer
from connections.models import Project


@extend_schema(summary="The projects the caller belongs to", tags=["projects"])
class ProjectViewSet(mixins.ListModelMixin, viewsets.GenericViewSet):
    serializer_class = ProjectSerializer
    queryset = Project.objects.none()

    def get_queryset(self) -> QuerySet[Project]:
        ListParameters.of_query(self.request)
        rows = visible(Project.objects.select_related("tenant"), self.request)
        return rows.annotate(role=F("memberships__role"))
