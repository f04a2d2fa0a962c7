"""What a caller sends: read strictly, with errors that say what would be right."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import IO, Any, ClassVar

from django.conf import settings
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import NotFound, ParseError
from rest_framework.fields import empty
from rest_framework.parsers import JSONParser
from rest_framework.request import Request

from connections.api.pagination import PageParameters
from connections.api.permissions import visible
from connections.api.problems import TooLarge
from connections.models import Project

LARGEST_ID = 2**63 - 1
PATH_CHARACTERS = 120


class JSONBody(JSONParser):
    """Reads a JSON body of bounded size; it is UTF-8 whatever its header says."""

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        body = stream.read(most + 1)
        if len(body) > most:
            raise TooLarge(f"The body is longer than {most} bytes.")
        try:
            return super().parse(BytesIO(body), media_type, {"encoding": "utf-8"})
        except RecursionError:
            raise ParseError("The JSON is nested too deeply.") from None


class Parameters(serializers.Serializer):
    """Parameters of a query or a body; a name that it does not know is an error.

    A misspelt filter would otherwise be a filter that was silently not applied.
    """

    also: ClassVar[frozenset[str]] = frozenset()

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping):
            known = set(self.fields) | self.also
            if unknown := sorted(set(data) - known):
                names = ", ".join(sorted(known))
                message = f"There is no such parameter; there are: {names}."
                raise serializers.ValidationError(
                    {str(name): [message] for name in unknown[:5]}
                )
        return super().to_internal_value(data)

    @classmethod
    def of_query(cls, request: Request) -> dict[str, Any]:
        """Return the parameters in the address of `request`, checked."""
        return cls._read(request.query_params, request)

    @classmethod
    def of_body(cls, request: Request) -> dict[str, Any]:
        """Return the parameters in the body of `request`, checked."""
        return cls._read(request.data, request)

    @classmethod
    def _read(cls, data: Any, request: Request) -> dict[str, Any]:
        given = cls(data=data, context={"request": request})
        given.is_valid(raise_exception=True)
        values: dict[str, Any] = given.validated_data
        return values


class ListParameters(Parameters):
    """Parameters of a list, beside those of its page."""

    also = frozenset(PageParameters().fields)


@extend_schema_field(OpenApiTypes.STR)
class ProjectField(serializers.CharField):
    """A project of the caller's by its path, "tenant/project"; any other is a 404."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("help_text", "As tenant/project.")
        super().__init__(**{"max_length": PATH_CHARACTERS, **options})

    def run_validation(self, data: Any = empty) -> Any:
        path = super().run_validation(data)
        tenant, _, project = path.partition("/")
        rows = visible(
            Project.objects.select_related("tenant"), self.context["request"]
        )
        try:
            return rows.get(tenant__slug=tenant, slug=project)
        except Project.DoesNotExist:
            raise NotFound(
                f"There is no project {path!r} that you belong to."
            ) from None


def project_or_only(request: Request, given: Project | None) -> Project:
    """Return the project that was named, else the only one the caller belongs to."""
    if given is not None:
        return given
    rows = visible(Project.objects.select_related("tenant"), request)
    several = list(rows.order_by("tenant__slug", "slug")[:2])
    if len(several) != 1:
        message = "Name the project, as tenant/project; projects/ lists yours."
        raise serializers.ValidationError({"project": [message]})
    return several[0]
