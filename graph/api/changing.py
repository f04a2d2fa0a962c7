"""Changing what was written by hand: who asks, what of, and as it was seen when."""

from __future__ import annotations

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.response import Response

from connections.api.parameters import Parameters
from connections.api.permissions import caller, token_of
from connections.roles import Act, must
from graph.api.parameters import (
    CONTENT_CHARACTERS,
    KEY_CHARACTERS,
    TITLE_CHARACTERS,
    RelationField,
    short_metadata,
)
from graph.hand import Author
from graph.models import Edge, Node
from graph.versions import ANY, version_of_edge, version_of_node

IF_MATCH = OpenApiParameter(
    "If-Match",
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    required=True,
    description='The ETag it was read with; "*" for whatever it is now.',
)
CHANGED = OpenApiParameter(
    "ETag",
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    response=[200],
    description="Which state this is; send it as If-Match to change or delete.",
)


class VersionMissing(APIException):
    """A change that does not say what of."""

    status_code = 428
    default_code = "version_missing"
    default_detail = "Send the ETag that it was read with as If-Match."


def author(request: Request) -> Author:
    """Return who writes: the caller, by a token or signed in."""
    return Author(caller(request), token_of(request))


def with_version(answer: Response, row: Node | Edge) -> Response:
    """Return `answer` with the version of what it shows."""
    version = version_of_node if isinstance(row, Node) else version_of_edge
    answer["ETag"] = f'"{version(row)}"'  # type: ignore[arg-type] # of its own sort
    return answer


def seen_version(request: Request, project_id: int) -> str:
    """Return the version that a caller who may write saw; raise `VersionMissing`
    where they do not say."""
    must(caller(request), Act.WRITE_GRAPH, project_id)
    # A proxy or the compression of an answer makes an ETag a weak one.
    said = request.headers.get("If-Match", "").strip().removeprefix("W/")
    if not said:
        raise VersionMissing
    return said if said == ANY else said.strip('"')


class NodeChangeParameters(Parameters):
    """What a node is to say; what is left out stays. Type and key are its own."""

    title = serializers.CharField(
        required=False, allow_blank=True, max_length=TITLE_CHARACTERS
    )
    content = serializers.CharField(
        required=False, allow_blank=True, max_length=CONTENT_CHARACTERS
    )
    tags = serializers.ListField(
        child=serializers.CharField(max_length=100), required=False, max_length=50
    )
    metadata = serializers.DictField(required=False)

    def validate_metadata(self, value: dict[str, Any]) -> dict[str, Any]:
        return short_metadata(value)


class EdgeChangeParameters(Parameters):
    """What an edge is to be, between keys; what is left out stays."""

    source = serializers.CharField(  # type: ignore[assignment] # a field's name
        required=False, max_length=KEY_CHARACTERS
    )
    relation = RelationField(required=False)
    target = serializers.CharField(required=False, max_length=KEY_CHARACTERS)
    quote = serializers.CharField(required=False, allow_blank=True, max_length=2000)
