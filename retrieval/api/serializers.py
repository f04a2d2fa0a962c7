"""A search as the API reads it, and its answer as it is described."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from drf_spectacular.utils import inline_serializer
from rest_framework import serializers

from connections.api.parameters import Parameters, ProjectField
from connections.records import node_types
from retrieval.results import Filters

QUERY_CHARACTERS, NAME_CHARACTERS, NAMES_MOST = 10_000, 600, 50
DEFAULT_LIMIT = 20


def names(help_text: str) -> serializers.ListField:
    return serializers.ListField(
        child=serializers.CharField(max_length=NAME_CHARACTERS),
        required=False,
        max_length=NAMES_MOST,
        help_text=help_text,
    )


class FilterParameters(Parameters):
    """What a search keeps to."""

    types = names("Node types.")
    sources = names("Kinds of source: slack, mail, folder, ...")
    people = names("Keys or names of persons.")
    channels = names("Keys, names or paths of channels, folders, threads, meetings.")
    tags = names("Tags, all of which it has.")
    since = serializers.DateTimeField(
        required=False, help_text="Said at this or later."
    )
    until = serializers.DateTimeField(required=False, help_text="Said before this.")
    as_of = serializers.DateTimeField(required=False, help_text="Valid at this moment.")

    def validate_types(self, types: list[str]) -> list[str]:
        return [node_types[name].name for name in types]

    def validate(self, given: dict[str, Any]) -> dict[str, Any]:
        since, until = given.get("since"), given.get("until")
        if since and until and since >= until:
            raise serializers.ValidationError(
                {"until": ["It must be later than since."]}
            )
        return given


class SearchParameters(Parameters):
    """A search; an empty query asks for the most recent."""

    project = ProjectField(required=False)
    query = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=QUERY_CHARACTERS
    )
    limit = serializers.IntegerField(
        default=DEFAULT_LIMIT,
        min_value=1,
        max_value=settings.FABRIC["SEARCH_LIMIT_MOST"],
    )
    profile = serializers.CharField(default="default", max_length=NAME_CHARACTERS)
    filters = FilterParameters(required=False)
    ignore = names(
        "What not to read from the question: time, people, channel, type, spelling,"
        " a hint's name, a word that was read as another."
    )

    @staticmethod
    def filters_of(asked: dict[str, Any]) -> Filters:
        """Return the filters among what was asked, as search takes them."""
        given: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in asked.get("filters", {}).items()
        }
        return Filters(**given)


_Parsed = inline_serializer(
    "ParsedQuery",
    {
        "query": serializers.CharField(allow_blank=True),
        "entity_hints": serializers.ListField(child=serializers.CharField()),
        "intent": serializers.CharField(allow_blank=True),
        "filters": serializers.DictField(),
        "slips": serializers.DictField(
            child=serializers.CharField(),
            help_text="Words that no text has, and what each was read as.",
        ),
    },
)
_Stale = inline_serializer(
    "Staleness",
    {
        "is_stale": serializers.BooleanField(),
        "days": serializers.IntegerField(allow_null=True),
        "threshold": serializers.IntegerField(allow_null=True),
    },
)
_Contribution = inline_serializer(
    "Contribution",
    {"rank": serializers.IntegerField(), "score": serializers.FloatField()},
)
_Relation = inline_serializer(
    "GraphRelation",
    {name: serializers.CharField() for name in ("from", "relation", "to")},
    many=True,
)
_Result = inline_serializer(
    "SearchResult",
    {
        "id": serializers.CharField(),
        "key": serializers.CharField(),
        "node_id": serializers.IntegerField(),
        "type": serializers.CharField(),
        **{
            name: serializers.CharField(allow_blank=True)
            for name in ("title", "text", "context", "url", "source_kind")
        },
        **{
            name: serializers.FloatField()
            for name in ("score", "relevance", "recency", "authority")
        },
        "source": serializers.ChoiceField(choices=["graph", "memory"]),
        "timestamp": serializers.DateTimeField(allow_null=True),
        "entities": serializers.ListField(child=serializers.CharField()),
        "tags": serializers.ListField(child=serializers.CharField()),
        "cross_validated": serializers.BooleanField(),
        "cross_referenced": serializers.BooleanField(),
        "stale": _Stale,
        "graph_relations": _Relation,
        "contributions": serializers.DictField(child=_Contribution),
        "metadata": serializers.DictField(),
    },
    many=True,
)
SearchResponse = inline_serializer(
    "SearchAnswer",
    {
        "query": serializers.CharField(allow_blank=True),
        "parsed": _Parsed,
        "profile": serializers.CharField(),
        "total_results": serializers.IntegerField(),
        "sources": serializers.DictField(child=serializers.IntegerField()),
        "arms": serializers.DictField(child=serializers.IntegerField()),
        "timings": serializers.DictField(child=serializers.FloatField()),
        "dropped": serializers.ListField(child=serializers.CharField()),
        "reranked_by": serializers.CharField(allow_blank=True),
        "took_ms": serializers.FloatField(),
        "lambda": serializers.IntegerField(),
        "results": _Result,
    },
)
