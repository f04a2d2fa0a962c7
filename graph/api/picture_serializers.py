"""What may be asked of a picture of the graph, and how it is answered."""

from __future__ import annotations

import re
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.fields import empty

from connections.api.parameters import LARGEST_ID, Parameters, ProjectField
from graph.api.parameters import (
    AS_OF_HELP,
    KEY_CHARACTERS,
    NODE_HELP,
    NodeTypeField,
    RelationsField,
)
from graph.pictures import DEPTH_MOST, LIMIT_MOST
from graph.surroundings import USUAL

EXPANDED_MOST = 50


class TypesField(serializers.ListField):
    """Node types, one or several; empty ones count as not given."""

    child = NodeTypeField()

    def get_value(self, dictionary: Any) -> Any:
        given = super().get_value(dictionary)
        if isinstance(given, list):
            return [name for name in given if name != ""] or empty
        return given


# Python refuses to read a number of some thousand digits.
ID = re.compile(r"[0-9]{1,19}")


@extend_schema_field({"type": "string", "pattern": r"^\d{1,19}(,\d{1,19})*$"})
class IdsField(serializers.CharField):
    """Ids with commas between them."""

    def to_internal_value(self, data: Any) -> Any:
        parts = super().to_internal_value(data).split(",")
        if not all(ID.fullmatch(part) for part in parts):
            raise serializers.ValidationError("Ids are numbers, with commas between.")
        ids = [int(part) for part in parts]
        if len(ids) > LIMIT_MOST or max(ids) > LARGEST_ID:
            raise serializers.ValidationError(f"Name up to {LIMIT_MOST} ids of nodes.")
        return ids


class ViewParameters(Parameters):
    """Which part of a graph is looked at."""

    project = ProjectField(required=False)
    relation = RelationsField(
        required=False, max_length=50, help_text="Only these relations; repeatable."
    )
    type = TypesField(
        required=False, max_length=50, help_text="Only these types; repeatable."
    )
    as_of = serializers.DateTimeField(required=False, help_text=AS_OF_HELP)


class PictureParameters(ViewParameters):
    node = serializers.CharField(
        required=False,
        max_length=KEY_CHARACTERS,
        help_text=f"{NODE_HELP} Without it, the best tied nodes of the project.",
    )
    depth = serializers.IntegerField(
        default=1,
        min_value=1,
        max_value=DEPTH_MOST,
        help_text="How many edges from the node at most.",
    )
    limit = serializers.IntegerField(default=USUAL, min_value=1, max_value=LIMIT_MOST)
    expand = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=EXPANDED_MOST,
        help_text=(
            "Instead of the whole picture, so many more of what is tied to `node` and "
            "not `drawn`; with one `relation`, of that only."
        ),
    )
    direction = serializers.ChoiceField(
        choices=("out", "in"), required=False, help_text="Of `expand`: only this way."
    )
    drawn = IdsField(
        required=False,
        max_length=20 * LIMIT_MOST,
        help_text="Of `expand`: the ids of what is drawn, with commas between.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if "expand" in attrs and "node" not in attrs:
            raise serializers.ValidationError({"node": ["Name the node to expand."]})
        return attrs


class PicturePathParameters(ViewParameters):
    """`from` is no name Python gives a field, so that one is made, not written."""

    to = serializers.CharField(max_length=KEY_CHARACTERS, help_text=NODE_HELP)

    def get_fields(self) -> dict[str, serializers.Field]:
        start = serializers.CharField(max_length=KEY_CHARACTERS, help_text=NODE_HELP)
        return {**super().get_fields(), "from": start}


class DrawnSerializer(serializers.Serializer):
    """A node at its place; `text` is how its content begins."""

    id = serializers.IntegerField()
    key = serializers.CharField()
    type = serializers.CharField()
    family = serializers.CharField(help_text="Which shape it has.")
    name = serializers.CharField()
    text = serializers.CharField()
    context = serializers.CharField()  # type: ignore[assignment] # a field's name
    source_kind = serializers.CharField()
    occurred_at = serializers.DateTimeField(allow_null=True)
    gone_at = serializers.DateTimeField(allow_null=True)
    page = serializers.CharField(help_text="The address of its page.")
    x = serializers.FloatField()
    y = serializers.FloatField()


class LineSerializer(serializers.Serializer):
    """An edge between two drawn nodes."""

    id = serializers.IntegerField()
    source = serializers.IntegerField()  # type: ignore[assignment] # a field's name
    target = serializers.IntegerField()
    relation = serializers.CharField()
    weight = serializers.FloatField()
    occurred_at = serializers.DateTimeField(allow_null=True)


class MoreSerializer(serializers.Serializer):
    """So many tied to `node` are not drawn; at least so many, if it `is_exact` not."""

    node = serializers.IntegerField()
    relation = serializers.CharField()
    direction = serializers.ChoiceField(choices=("out", "in"))
    label = serializers.CharField()  # type: ignore[assignment] # a field's name
    count = serializers.IntegerField()
    is_exact = serializers.BooleanField()


class RelationSerializer(serializers.Serializer):
    """What a relation is called from its source, and from its target."""

    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment] # a field's name
    label_back = serializers.CharField()


class PictureAnswer(serializers.Serializer):
    """Part of a graph to be drawn: each node with its place, the edges among them."""

    project = serializers.CharField()
    node = serializers.IntegerField(allow_null=True, help_text="The one in the centre.")
    nodes = DrawnSerializer(many=True)
    edges = LineSerializer(many=True)
    relations = RelationSerializer(many=True)
    more = MoreSerializer(many=True)
    is_complete = serializers.BooleanField(
        help_text="False where there are more edges among these than are drawn."
    )


class WaySerializer(serializers.Serializer):
    nodes = serializers.ListField(child=serializers.IntegerField())
    edges = serializers.ListField(child=serializers.IntegerField())
    text = serializers.CharField()


class PicturePathAnswer(serializers.Serializer):
    """The best ways between two nodes: in words, and with all they come by."""

    summary = serializers.CharField()
    ways = WaySerializer(many=True)
    nodes = DrawnSerializer(many=True)
    edges = LineSerializer(many=True)
    relations = RelationSerializer(many=True)
    is_complete = serializers.BooleanField()
