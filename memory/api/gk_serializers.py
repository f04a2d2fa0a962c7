"""The graph of memory as the API is asked for it and shows it."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import inline_serializer
from rest_framework import serializers

from connections.api.parameters import Parameters, ProjectField
from memory.gk import LIMIT, LIMIT_MOST, MIN_DEGREE_MOST, NODE_TYPES

QUERY_CHARACTERS = 2000


class TypesField(serializers.CharField):
    """Node types of the view, with commas between them; another is an error."""

    def to_internal_value(self, data: Any) -> Any:
        given = super().to_internal_value(data).split(",")
        names = tuple(dict.fromkeys(name.strip() for name in given if name.strip()))
        if unknown := [name for name in names if name not in NODE_TYPES]:
            raise serializers.ValidationError(
                f"There is no node type {unknown[0]!r} in this view; there are: "
                f"{', '.join(NODE_TYPES)}."
            )
        return names


class MemoryGraphParameters(Parameters):
    project = ProjectField(required=False)
    query = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=QUERY_CHARACTERS,
        help_text="Only what is found for it; each fact says which retrievers did.",
    )
    limit = serializers.IntegerField(
        default=LIMIT,
        min_value=1,
        max_value=LIMIT_MOST,
        help_text="So many facts, and as many episodes, the latest or best.",
    )
    min_degree = serializers.IntegerField(
        default=0,
        min_value=0,
        max_value=MIN_DEGREE_MOST,
        help_text="Only what has so many edges to others that have.",
    )
    types = TypesField(
        required=False,
        allow_blank=True,
        help_text=f"Of {', '.join(NODE_TYPES)}; with commas between several.",
    )


_Node = inline_serializer(
    "MemoryNode",
    {
        "id": serializers.CharField(),
        "node_type": serializers.ChoiceField(choices=NODE_TYPES),
        "content": serializers.CharField(
            allow_blank=True, help_text="A short label; metadata.text is all of it."
        ),
        "metadata": serializers.DictField(),
        "degree": serializers.IntegerField(help_text="Its edges in this answer."),
    },
    many=True,
)
_Edge = inline_serializer(
    "MemoryEdge",
    {
        "source": serializers.CharField(),
        "target": serializers.CharField(),
        "label": serializers.CharField(),
        "weight": serializers.FloatField(),
    },
    many=True,
)
_Hub = inline_serializer(
    "MemoryHub",
    {
        "id": serializers.CharField(),
        "node_type": serializers.CharField(),
        "content": serializers.CharField(),
        "degree": serializers.IntegerField(),
    },
    many=True,
)
_Statistics = inline_serializer(
    "MemoryGraphStatistics",
    {
        "node_count": serializers.IntegerField(),
        "edge_count": serializers.IntegerField(),
        "nodes_by_type": serializers.DictField(child=serializers.IntegerField()),
        "edges_by_label": serializers.DictField(child=serializers.IntegerField()),
        "edges_by_group": serializers.DictField(child=serializers.IntegerField()),
        "mean_degree": serializers.FloatField(),
        "max_degree": serializers.IntegerField(),
        "density": serializers.FloatField(),
        "hubs": _Hub,
        "truncated": serializers.BooleanField(
            help_text="There is more than the limit let in."
        ),
    },
)
MemoryGraphResponse = inline_serializer(
    "MemoryGraph", {"nodes": _Node, "edges": _Edge, "statistics": _Statistics}
)
EnvironmentResponse = inline_serializer(
    "MemoryEnvironment",
    {
        "providers": serializers.ListField(child=serializers.DictField()),
        "models": serializers.ListField(child=serializers.DictField()),
        "dimensions": serializers.IntegerField(allow_null=True),
        "versions": serializers.DictField(),
        "limits": serializers.DictField(),
        "memory": serializers.DictField(),
    },
)
