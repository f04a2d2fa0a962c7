"""Connections to databases as the API shows and takes them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from connections.api.parameters import ListParameters, Parameters, ProjectField
from connections.api.serializers import SecretField
from connections.databases.changing import may_change
from connections.databases.rights import TestReport
from connections.models import Audience, Database, User
from connections.secrets import Secret

PASSWORD_MOST = 1000
# Where it is and with which login it is asked: of use to those who may change it.
FOR_EDITORS = (
    "host",
    "port",
    "database",
    "user",
    "certificate",
    "has_password",
    "discovery_error",
)


class DatabaseSerializer(serializers.ModelSerializer):
    """A connection; its address and login are null for those who may not change it."""

    project = serializers.CharField(
        source="project.path", help_text="As tenant/project."
    )
    audience = serializers.IntegerField(source="audience_id")
    audience_name = serializers.CharField(source="audience.__str__")
    host = serializers.CharField(allow_null=True)
    port = serializers.IntegerField(allow_null=True)
    database = serializers.CharField(allow_null=True)
    user = serializers.CharField(allow_null=True)
    certificate = serializers.CharField(allow_null=True)
    discovery_error = serializers.CharField(allow_null=True)
    has_password = serializers.BooleanField(source="password", allow_null=True)
    is_fine = serializers.SerializerMethodField(
        help_text="What the last test said; null: it was not tested."
    )

    class Meta:
        model = Database
        fields = (
            "id",
            "project",
            "name",
            "title",
            "audience",
            "audience_name",
            "engine",
            *FOR_EDITORS[:-1],
            "encryption",
            "superuser_allowed",
            "rows_most",
            "seconds_most",
            "enabled",
            "flavour",
            "version",
            "default_schema",
            "tested_at",
            "is_fine",
            "discovered_at",
            "discovery_error",
            "created_at",
            "updated_at",
        )

    def get_is_fine(self, database: Database) -> bool | None:
        found = database.test_report.get("is_fine")
        return None if found is None else bool(found)

    def to_representation(self, instance: Database) -> dict[str, Any]:
        shown: dict[str, Any] = super().to_representation(instance)
        if not self._is_editors(instance):
            shown |= dict.fromkeys(FOR_EDITORS)
        return shown

    def _is_editors(self, database: Database) -> bool:
        """Return whether the caller may change it, asked once a project and answer."""
        known: dict[int, bool] = self.root.__dict__.setdefault("_editors", {})
        user = self.context["request"].user
        if database.project_id not in known:
            is_user = isinstance(user, User)
            known[database.project_id] = is_user and may_change(user, database.project)
        return known[database.project_id]


class PasswordField(SecretField):
    """A password, taken as it is, blanks at its ends and all."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.trim_whitespace = False

    def to_internal_value(self, data: Any) -> Secret:  # type: ignore[override] # no text
        if len(str(data)) > PASSWORD_MOST or "\0" in str(data):
            raise serializers.ValidationError(
                f"At most {PASSWORD_MOST} characters, and no NUL."
            )
        return super().to_internal_value(data)


class DatabaseParameters(Parameters, serializers.ModelSerializer):
    """A connection as it is written."""

    project = ProjectField(
        help_text="As tenant/project; it stays what it was made with."
    )
    password = PasswordField(
        required=False,
        help_text="Never shown again. Left out of a change, the stored one is kept; "
        "with another engine, host, port or database it is entered anew.",
    )
    audience = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=2**63 - 1,
        help_text="Who may see and ask it; one that you belong to. Left out of a new "
        "one: everybody in the project.",
    )

    class Meta:
        model = Database
        fields = (
            "project",
            "name",
            "title",
            "audience",
            "engine",
            "host",
            "port",
            "database",
            "user",
            "password",
            "encryption",
            "certificate",
            "superuser_allowed",
            "rows_most",
            "seconds_most",
            "enabled",
        )

    def validate_audience(self, value: int) -> Audience:
        found = Audience.objects.filter(pk=value).first()
        ids = Audience.objects.ids_of(self.context["request"].user)
        if found is None or found.pk not in ids:
            raise serializers.ValidationError("There is no such audience of yours.")
        return found


class DatabaseChanges(DatabaseParameters):
    """A change of a connection; it stays its project's."""

    class Meta(DatabaseParameters.Meta):
        fields = DatabaseParameters.Meta.fields[1:]  # type: ignore[assignment] # shorter

    project = None  # type: ignore[assignment] # not declared for a change


class DatabaseListParameters(ListParameters):
    """Which connections are listed."""

    project = ProjectField(required=False)


class FindingSerializer(serializers.Serializer):
    level = serializers.ChoiceField(
        choices=("superuser", "beyond", "note"),
        help_text="note: harmless in the read-only transactions that are used.",
    )
    right = serializers.CharField()
    where = serializers.CharField()
    words = serializers.CharField()


class RightsSerializer(serializers.Serializer):
    findings = FindingSerializer(many=True)
    advice = serializers.ListField(
        child=serializers.CharField(),
        help_text="SQL that makes a login that only reads.",
    )


class TestReportSerializer(serializers.Serializer):
    """What a test of a connection found."""

    is_reached = serializers.BooleanField()
    is_fine = serializers.BooleanField(help_text="It may be asked as it is.")
    sentence = serializers.CharField()
    error = serializers.CharField()
    code = serializers.CharField()
    why = serializers.CharField(
        help_text="For those who may change it; empty for others."
    )
    is_encrypted = serializers.BooleanField()
    flavour = serializers.CharField()
    version = serializers.CharField()
    took_ms = serializers.FloatField()
    unusual = serializers.ListField(child=serializers.CharField())
    is_superuser = serializers.BooleanField()
    rights = RightsSerializer()


def report_for(report: TestReport, database: Database, user: User) -> dict[str, Any]:
    """Return a report as `user` may read it.

    Why nobody was reached names addresses, by which a network could be scanned: it is
    for staff, and of those for who may change the connection.
    """
    plain = report.as_json()
    is_told = user.is_staff and may_change(user, database.project)
    return plain if is_told else {**plain, "why": ""}
