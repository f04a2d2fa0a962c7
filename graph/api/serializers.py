"""Nodes, edges and their evidence as the API shows them."""

from __future__ import annotations

from django.utils.text import Truncator
from drf_spectacular.utils import inline_serializer
from rest_framework import serializers

from connections.models import Source, SyncRun
from graph.models import Edge, Evidence, Node, Record
from graph.timeline import KINDS

TEXT_SHOWN = 500


class NodeSerializer(serializers.ModelSerializer):
    """A node: `content` is the source's own words, `url` where the original is."""

    type = serializers.CharField(source="node_type")
    project = serializers.CharField(source="project.path")
    url = serializers.CharField(help_text="Empty where the source has no address.")
    icon = serializers.CharField(help_text="A Material Symbols name.")
    tags = serializers.ListField(child=serializers.CharField())
    metadata = serializers.DictField()
    is_implied = serializers.BooleanField(
        help_text="Made for an edge; nothing of its own says that there is one yet."
    )

    class Meta:
        model = Node
        fields = (
            "id",
            "project",
            "key",
            "type",
            "title",
            "content",
            "context",
            "url",
            "icon",
            "tags",
            "metadata",
            "source_kind",
            "origin",
            "language",
            "occurred_at",
            "valid_from",
            "valid_to",
            "confirmed_at",
            "last_evidence_at",
            "gone_at",
            "is_implied",
        )


class EndSerializer(serializers.ModelSerializer):
    """An end of an edge."""

    type = serializers.CharField(source="node_type")

    class Meta:
        model = Node
        fields = ("id", "key", "type", "title")


class EdgeSerializer(serializers.ModelSerializer):
    """An edge: `source` -relation-> `target`."""

    project = serializers.CharField(source="project.path")
    source = EndSerializer()  # type: ignore[assignment] # a field's name
    target = EndSerializer()

    class Meta:
        model = Edge
        fields = (
            "id",
            "project",
            "source",
            "relation",
            "target",
            "weight",
            "origin",
            "occurred_at",
            "valid_from",
            "valid_to",
        )


class WrittenNodeSerializer(serializers.Serializer):
    """What came of writing a node; `merged`: one of that name was there."""

    outcome = serializers.ChoiceField(choices=("created", "merged"))
    node = NodeSerializer()


class WrittenEdgeSerializer(serializers.Serializer):
    """What came of writing an edge; `implied` are the keys of ends made for it."""

    outcome = serializers.ChoiceField(choices=("created", "merged"))
    implied = serializers.ListField(child=serializers.CharField())
    edge = EdgeSerializer()


class WalkedEdgeSerializer(serializers.ModelSerializer):
    """An edge between nodes that are given beside it; its ends are their ids."""

    source = serializers.IntegerField(source="source_id")  # type: ignore[assignment] # a field's name
    target = serializers.IntegerField(source="target_id")

    class Meta:
        model = Edge
        fields = ("id", "source", "relation", "target", "weight", "occurred_at")


class NeighbourSerializer(NodeSerializer):
    """A node and how many edges away it is."""

    distance = serializers.SerializerMethodField()

    class Meta:
        model = Node
        fields = (*NodeSerializer.Meta.fields, "distance")

    def get_distance(self, node: Node) -> int:
        distances: dict[int, int] = self.context["distances"]
        return distances[node.pk]


class CutSerializer(serializers.Serializer):
    """A node of whose edges in a direction only the best were walked."""

    node = serializers.IntegerField(source="node_id")
    direction = serializers.ChoiceField(choices=("out", "in"))
    shown = serializers.IntegerField(help_text="The best by weight, then recency.")
    total = serializers.IntegerField(help_text="How many there are.")
    is_exact = serializers.BooleanField(help_text="False: `total` or more.")


class NeighboursSerializer(serializers.Serializer):
    """What lies around a node, nearest first, and the edges among all of it."""

    node = NodeSerializer()
    nodes = NeighbourSerializer(many=True)
    edges = WalkedEdgeSerializer(many=True)
    cut = CutSerializer(many=True)
    is_complete = serializers.BooleanField(
        help_text="False where `limit` or `fan_out` left out nodes or edges."
    )


class SourceSerializer(serializers.ModelSerializer):
    class Meta:
        model = Source
        fields = ("id", "kind", "name")


class RunSerializer(serializers.ModelSerializer):
    """The run of a source in which its record was last read."""

    class Meta:
        model = SyncRun
        fields = ("id", "state", "started_at", "finished_at")


class RecordSerializer(serializers.ModelSerializer):
    """What a source said; `raw_sha256` is of its bytes as they were read."""

    source = SourceSerializer()  # type: ignore[assignment] # a field's name
    run = RunSerializer(allow_null=True)

    class Meta:
        model = Record
        fields = (
            "id",
            "key",
            "kind",
            "permalink",
            "raw_sha256",
            "content_hash",
            "occurred_at",
            "first_fetched_at",
            "gone_at",
            "source",
            "run",
        )


class EvidenceSerializer(serializers.ModelSerializer):
    """Why a node or an edge exists: the record, and where in it.

    `quote` is the words that say so, `start` and `end` their place in the record's
    text. Without a record it is only `implied` by something else.
    """

    record = RecordSerializer(allow_null=True)

    class Meta:
        model = Evidence
        fields = ("id", "kind", "part", "start", "end", "quote", "weight", "record")


class EvidencePageSerializer(serializers.Serializer):
    """A page of evidence."""

    results = EvidenceSerializer(many=True)
    next_cursor = serializers.CharField(allow_null=True)


class MomentNodeSerializer(EndSerializer):
    """What a moment is about; `text` are its first words."""

    text = serializers.SerializerMethodField()

    class Meta:
        model = Node
        fields = (*EndSerializer.Meta.fields, "text")

    def get_text(self, node: Node) -> str:
        return Truncator(node.content).chars(TEXT_SHOWN)


class MomentSerializer(serializers.Serializer):
    """Something of a node's that has a date.

    `node` is the other end of the edge, or the node itself where there is no `edge`.
    """

    at = serializers.DateTimeField()
    kind = serializers.ChoiceField(
        choices=tuple(KINDS),
        help_text=" ".join(f"{kind}: {meaning}" for kind, meaning in KINDS.items()),
    )
    node = MomentNodeSerializer()
    edge = serializers.IntegerField(allow_null=True)
    relation = serializers.CharField(allow_blank=True)
    forward = serializers.BooleanField(
        help_text="False where the edge points to the node whose timeline it is."
    )
    evidence = EvidenceSerializer(allow_null=True)


class TimelineSerializer(serializers.Serializer):
    results = MomentSerializer(many=True)
    next_cursor = serializers.CharField(allow_null=True)


PathStep = inline_serializer(
    "PathStep",
    {
        "id": serializers.IntegerField(),
        "from": serializers.IntegerField(help_text="The node the step leaves."),
        "relation": serializers.CharField(),
        "to": serializers.IntegerField(help_text="The node the step reaches."),
        "forward": serializers.BooleanField(
            help_text="False where the edge points against the step."
        ),
        "weight": serializers.FloatField(),
    },
    many=True,
)
FoundPath = inline_serializer(
    "FoundPath",
    {
        "text": serializers.CharField(
            help_text="In words: `Ann <-sent_by- Re: launch -in_thread-> Launch`."
        ),
        "explanation": serializers.CharField(
            help_text="A sentence from one end to the other: `Ann wrote “Re: launch”.`"
        ),
        "explanation_back": serializers.CharField(
            help_text="The same, read from the other end."
        ),
        "cost": serializers.FloatField(help_text="Of a shortest path its length."),
        "nodes": EndSerializer(many=True),
        "edges": PathStep,
    },
    many=True,
)
PathsAnswer = inline_serializer(
    "Paths",
    {
        "from": EndSerializer(),
        "to": EndSerializer(),
        "kind": serializers.ChoiceField(choices=("shortest", "best")),
        "max_depth": serializers.IntegerField(),
        "length": serializers.IntegerField(
            allow_null=True, help_text="Edges of the shortest path; null: none found."
        ),
        "summary": serializers.CharField(
            help_text="How many ways there are and how long, in a sentence."
        ),
        "paths": FoundPath,
        "cut": CutSerializer(many=True),
        "left_out": serializers.ListField(
            child=serializers.CharField(),
            help_text="What was not walked, in sentences; the largest hubs first.",
        ),
        "is_complete": serializers.BooleanField(
            help_text="False where not all ways between them were tried."
        ),
    },
)
StatisticsAnswer = inline_serializer(
    "Statistics",
    {
        "project": serializers.CharField(),
        "nodes": serializers.IntegerField(),
        "edges": serializers.IntegerField(),
        "records": serializers.IntegerField(),
        "nodes_by_type": serializers.DictField(child=serializers.IntegerField()),
        "nodes_by_source": serializers.DictField(child=serializers.IntegerField()),
        "edges_by_relation": serializers.DictField(child=serializers.IntegerField()),
        "first_at": serializers.DateTimeField(allow_null=True),
        "last_at": serializers.DateTimeField(allow_null=True),
    },
)
