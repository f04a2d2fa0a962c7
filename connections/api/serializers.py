"""Projects as the API shows them."""

from __future__ import annotations

from rest_framework import serializers

from connections.models import Project, Role


class ProjectSerializer(serializers.ModelSerializer):
    """A project and what the caller is in it."""

    project = serializers.CharField(source="path", help_text="As tenant/project.")
    tenant = serializers.CharField(source="tenant.slug")
    role = serializers.ChoiceField(choices=Role.choices)

    class Meta:
        model = Project
        fields = ("id", "project", "tenant", "name", "language", "role")
