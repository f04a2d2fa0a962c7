"""Trails as the API gives them: back to the sources, and forward from a record."""

from __future__ import annotations

from rest_framework import serializers

from connections.api.parameters import ListParameters

BACKWARD, FORWARD = "backward", "forward"


class ProvenanceParameters(ListParameters):
    direction = serializers.ChoiceField(
        choices=(BACKWARD, FORWARD),
        default=BACKWARD,
        help_text="backward: its evidence; forward: what came of it.",
    )


class OriginSerializer(serializers.Serializer):
    """The record a proof is from, back to its source, run and original bytes."""

    record_id = serializers.IntegerField()
    key = serializers.CharField()
    kind = serializers.CharField()
    source_name = serializers.CharField(source="source")
    source_kind = serializers.CharField()
    run = serializers.IntegerField(allow_null=True)
    read_at = serializers.DateTimeField(allow_null=True)
    url = serializers.CharField()
    raw_sha256 = serializers.CharField()
    first_fetched_at = serializers.DateTimeField()
    gone_at = serializers.DateTimeField(allow_null=True)


class ProofSerializer(serializers.Serializer):
    """A piece of evidence, its words, where they stand, and where it is from."""

    id = serializers.IntegerField()
    kind = serializers.CharField()
    part = serializers.CharField()
    quote = serializers.CharField()
    start = serializers.IntegerField(allow_null=True)
    end = serializers.IntegerField(allow_null=True)
    origin = OriginSerializer(allow_null=True)


class NamedSerializer(serializers.Serializer):
    """Something on a trail, by kind and name; `address` is that of its page."""

    kind = serializers.CharField()
    name = serializers.CharField()
    address = serializers.CharField()
    detail = serializers.CharField()


class TrailSerializer(NamedSerializer):
    """What rests on proofs; those the caller may not see are counted in `hidden`."""

    quote = serializers.CharField()
    proofs = ProofSerializer(many=True)
    hidden = serializers.IntegerField()
    more = serializers.IntegerField(help_text="How many proofs are left out here.")


class CausedSerializer(serializers.Serializer):
    """What came of it, of one sort; `hidden` are those the caller may not see."""

    sort = serializers.CharField()
    title = serializers.CharField()
    count = serializers.IntegerField()
    hidden = serializers.IntegerField()
    examples = NamedSerializer(many=True)


class ForwardSerializer(serializers.Serializer):
    """All that came of it, sort by sort."""

    caused = CausedSerializer(many=True)
