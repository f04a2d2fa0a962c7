"""What a caller may ask of the graph."""

from __future__ import annotations

import json
from typing import Any

from django.conf import settings
from django.db.models import Q
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.fields import empty
from rest_framework.request import Request

from connections.api.pagination import LIMIT, LIMIT_MOST
from connections.api.parameters import (
    LARGEST_ID,
    ListParameters,
    Parameters,
    ProjectField,
)
from connections.api.permissions import visible
from connections.models import Project
from connections.records import clean_key, node_types, relations
from graph.merged import resolved
from graph.models import Node
from graph.steps import FAN_OUT
from graph.timeline import NEWEST, OLDEST

KEY_CHARACTERS, TEXT_CHARACTERS = 2000, 500
TITLE_CHARACTERS, CONTENT_CHARACTERS, METADATA_CHARACTERS = 500, 20_000, 20_000
END_HELP = "Where the node is missing, it is made as this, marked as implied."
NODE_HELP = "The id of a node, or its key."


class NodeTypeField(serializers.CharField):
    """A registered node type; another is an error that lists them."""

    def to_internal_value(self, data: Any) -> str:
        return node_types[super().to_internal_value(data)].name


class RelationField(serializers.CharField):
    """A registered relation; another is an error that lists them."""

    def to_internal_value(self, data: Any) -> str:
        return relations[super().to_internal_value(data)].name


class RelationsField(serializers.ListField):
    """Relations, one or several; empty ones count as not given."""

    child = RelationField()

    def get_value(self, dictionary: Any) -> Any:
        given = super().get_value(dictionary)
        if isinstance(given, list):
            return [name for name in given if name != ""] or empty
        return given


class NodeParameters(ListParameters):
    project = ProjectField(required=False)
    type = NodeTypeField(required=False)
    key = serializers.CharField(required=False, max_length=KEY_CHARACTERS)
    tag = serializers.CharField(required=False, max_length=TEXT_CHARACTERS)
    q = serializers.CharField(
        required=False,
        max_length=TEXT_CHARACTERS,
        help_text="Words of its text, or a part of its title.",
    )
    as_of = serializers.DateTimeField(
        required=False, help_text="Only what was valid then."
    )


class EdgeParameters(ListParameters):
    project = ProjectField(required=False)
    source = serializers.CharField(  # type: ignore[assignment] # a field's name
        required=False, max_length=KEY_CHARACTERS, help_text=NODE_HELP
    )
    target = serializers.CharField(
        required=False, max_length=KEY_CHARACTERS, help_text=NODE_HELP
    )
    relation = RelationField(required=False)
    as_of = serializers.DateTimeField(
        required=False, help_text="What was valid then; now, where it is not given."
    )


AS_OF_HELP = "What was valid then; now, where it is not given."
FAN_OUT_HELP = "Of each node, so many of its best edges in each direction."


def _fan_out() -> serializers.IntegerField:
    most = settings.FABRIC["WALK_FAN_OUT_MOST"]
    return serializers.IntegerField(
        default=min(FAN_OUT, most), min_value=1, max_value=most, help_text=FAN_OUT_HELP
    )


class WalkParameters(Parameters):
    depth = serializers.IntegerField(
        default=1,
        min_value=1,
        max_value=settings.FABRIC["WALK_DEPTH_MOST"],
        help_text="How many edges away at most.",
    )
    relation = RelationsField(
        required=False,
        max_length=50,
        help_text="Only over these relations; repeat it for several.",
    )
    as_of = serializers.DateTimeField(required=False, help_text=AS_OF_HELP)
    fan_out = _fan_out()
    limit = serializers.IntegerField(default=LIMIT, min_value=1, max_value=LIMIT_MOST)


def _path_fields() -> dict[str, serializers.Field]:
    return {
        "project": ProjectField(required=False),
        "from": serializers.CharField(max_length=KEY_CHARACTERS, help_text=NODE_HELP),
        "to": serializers.CharField(max_length=KEY_CHARACTERS, help_text=NODE_HELP),
        "max_depth": serializers.IntegerField(
            default=4,
            min_value=1,
            max_value=settings.FABRIC["WALK_DEPTH_MOST"],
            help_text="How many edges a path has at most.",
        ),
        "kind": serializers.ChoiceField(
            choices=("shortest", "best"),
            default="shortest",
            help_text="`best` prefers strong, recent edges and goes around hubs.",
        ),
        "learned": serializers.BooleanField(
            default=False,
            help_text="Of `best`: prefer edges that led to cited sources, too.",
        ),
        "as_of": serializers.DateTimeField(required=False, help_text=AS_OF_HELP),
        "fan_out": _fan_out(),
    }


class TimelineParameters(ListParameters):
    relation = RelationsField(
        required=False,
        max_length=50,
        help_text="Only ties of these relations; repeat it for several.",
    )
    order = serializers.ChoiceField(choices=(OLDEST, NEWEST), default=OLDEST)
    as_of = serializers.DateTimeField(
        required=False, help_text="Nothing later, and what was valid then."
    )


class StatisticsParameters(Parameters):
    project = ProjectField(required=False)


class PathParameters(Parameters):
    """`from` is no name Python gives a field, so the fields are made, not written."""

    def get_fields(self) -> dict[str, serializers.Field]:
        return _path_fields()


def find_node(request: Request, named: str, project: Project | None) -> Node:
    """Return the node that an id or a key names among those the caller may see."""
    rows = visible(Node.objects.current(), request).select_related("project__tenant")
    if project is not None:
        rows = rows.filter(tenant_id=project.tenant_id, project_id=project.pk)
    wanted = Q(key=clean_key(named))
    if project is not None:
        # A key that was merged into another still names the node.
        key = clean_key(named)
        wanted = Q(key=resolved(project, [key]).get(key, key))
    number = int(named) if named.isascii() and named.isdigit() else None
    if number is not None and number <= LARGEST_ID:
        wanted |= Q(pk=number)
    found = list(
        rows.filter(wanted).only("key", "project", "tenant").order_by("pk")[:3]
    )
    by_id = [node for node in found if node.pk == number]
    if by_id or len(found) == 1:
        return (by_id or found)[0]
    if not found:
        raise NotFound(f"There is no node {named!r} that you may see.")
    message = f"Several projects have a node {named!r}; name the project."
    raise serializers.ValidationError({"project": [message]})


def short_metadata(value: dict[str, Any]) -> dict[str, Any]:
    """Return `value`, or raise `ValidationError` where it is too long to keep."""
    if len(json.dumps(value)) > METADATA_CHARACTERS:
        raise serializers.ValidationError(
            f"At most {METADATA_CHARACTERS} characters of JSON."
        )
    return value


class NodeWriteParameters(Parameters):
    """A node as it is written."""

    project = ProjectField(required=False)
    type = NodeTypeField()
    title = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=TITLE_CHARACTERS
    )
    content = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=CONTENT_CHARACTERS
    )
    key = serializers.CharField(
        required=False,
        default="",
        max_length=KEY_CHARACTERS,
        help_text="Left out, it is the key of the name: two of one name are one node.",
    )
    tags = serializers.ListField(
        child=serializers.CharField(max_length=100),
        required=False,
        default=list,
        max_length=50,
    )
    metadata = serializers.DictField(required=False, default=dict)

    def validate_metadata(self, value: dict[str, Any]) -> dict[str, Any]:
        return short_metadata(value)


class EdgeWriteParameters(Parameters):
    """An edge as it is written, between keys."""

    project = ProjectField(required=False)
    source = serializers.CharField(max_length=KEY_CHARACTERS)  # type: ignore[assignment] # a field's name
    relation = RelationField()
    target = serializers.CharField(max_length=KEY_CHARACTERS)
    source_type = NodeTypeField(required=False, default="", help_text=END_HELP)
    target_type = NodeTypeField(required=False, default="", help_text=END_HELP)
    quote = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=2000
    )
