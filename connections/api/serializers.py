"""Projects as the API shows them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from connections.models import Project, Role
from connections.secrets import EncryptedField, Secret


class SecretField(serializers.CharField):
    """A secret that is sent to the API and never comes from it."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{**kwargs, "write_only": True, "trim_whitespace": True})

    def to_internal_value(self, data: Any) -> Secret:  # type: ignore[override] # no text
        return Secret(super().to_internal_value(data))


# Whoever serialises a model with a secret gets it write-only without asking.
serializers.ModelSerializer.serializer_field_mapping[EncryptedField] = SecretField


class ProjectSerializer(serializers.ModelSerializer):
    """A project and what the caller is in it."""

    project = serializers.CharField(source="path", help_text="As tenant/project.")
    tenant = serializers.CharField(source="tenant.slug")
    role = serializers.ChoiceField(choices=Role.choices)

    class Meta:
        model = Project
        fields = ("id", "project", "tenant", "name", "language", "role")
