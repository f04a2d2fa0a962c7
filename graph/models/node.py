"""Nodes: what the sources speak of."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.models import Func, Q, Value
from django.db.models.functions import Left, Lower
from django.utils import timezone
from django.utils.text import Truncator
from pgvector.django import VectorField

from connections.records import node_types
from graph.models.embedding import EmbeddingModel
from graph.models.record import Record
from graph.models.scoped import InProject, Scoped
from graph.querysets import NodeQuerySet

# Where a node comes from, other than a source: read out of texts by rules or a model,
# or given by people and agents.
EXTRACTION, MEMORY = "extraction", "memory"
# Made for an edge that somebody wrote, until a record of its own comes.
IMPLIED = "implied"
# Claims say how things are, and may have ceased to be so; people look at them again. A
# record (a message, a mail, a sentence) says what was said that day, whatever came after.
CLAIMS = (
    "blocker",
    "commitment",
    "decision",
    "fact",
    "insight",
    "pattern",
    "preference",
    "risk",
    "technology",
)
# What nobody names in a text: texts themselves, containers, identities of persons,
# columns of databases.
UNNAMED_TYPES = (
    "account",
    "address",
    "community",
    "db_column",
    "db_table",
    "domain",
    "email",
    "episode",
    "folder",
    "message",
    "name",
    "section",
    "sentence",
    "thread",
)
# What only its source can say what it is: two of one name are two things.
OF_ITS_SOURCE = (*UNNAMED_TYPES, "channel", "file", "meeting", "person")


class Node(Scoped):
    """A message, mail, meeting, file, person, ... of one project, found by its key.

    `content` is the source's own words, `context` what helps to find them (author,
    day, place). `gone_at`: vanished at the source, still readable. `trashed_at`:
    pruned, in no read. `valid_to`: replaced by something newer, in no search.
    """

    key = models.TextField()
    node_type = models.CharField(max_length=32)
    title = models.TextField(blank=True)
    content = models.TextField(blank=True)
    context = models.TextField(blank=True)
    language = models.CharField(max_length=63, default="english")
    tags = ArrayField(models.TextField(), default=list, blank=True)
    metadata = models.JSONField(default=dict, blank=True)
    source_kind = models.CharField(max_length=32, blank=True)
    origin = models.CharField(max_length=32, default="source")
    record = models.ForeignKey(
        Record,
        models.DO_NOTHING,
        null=True,
        related_name="described",
        db_index=False,
        db_constraint=False,
    )
    precedence = models.FloatField(default=0)
    occurred_at = models.DateTimeField(null=True, blank=True)
    valid_from = models.DateTimeField(null=True, blank=True)
    valid_to = models.DateTimeField(null=True, blank=True)
    confirmed_at = models.DateTimeField(null=True, blank=True)
    last_evidence_at = models.DateTimeField(null=True, blank=True)
    gone_at = models.DateTimeField(null=True, blank=True)
    trashed_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    search_vector = SearchVectorField(null=True, editable=False)
    metadata_vector = SearchVectorField(null=True, editable=False)
    embedding = VectorField(null=True, editable=False)
    embedding_model = models.ForeignKey(
        EmbeddingModel, models.PROTECT, null=True, related_name="+", db_index=False
    )

    objects = NodeQuerySet.as_manager()

    class Meta:
        db_table = "graph_nodes"
        constraints = (
            models.UniqueConstraint(
                fields=("tenant", "project", "key"), name="graph_nodes_key"
            ),
            models.UniqueConstraint(
                fields=("tenant", "project", "id"), name="graph_nodes_scope"
            ),
            models.CheckConstraint(condition=~Q(key=""), name="graph_nodes_has_key"),
        )
        indexes: ClassVar[tuple[models.Index, ...]] = (
            models.Index(
                fields=("tenant", "project", "node_type", "-occurred_at"),
                name="graph_nodes_type",
            ),
            models.Index(
                fields=("tenant", "project", "audience"), name="graph_nodes_audience"
            ),
            models.Index(
                fields=("tenant", "project", "record"), name="graph_nodes_record"
            ),
            # Lists of the admin, newest first.
            models.Index(
                fields=("tenant", "project", "node_type", "-id"),
                name="graph_nodes_list_type",
            ),
            models.Index(
                fields=("tenant", "project", "source_kind", "-id"),
                name="graph_nodes_list_kind",
            ),
            models.Index(
                fields=("tenant", "project", "occurred_at"),
                name="graph_nodes_list_said",
            ),
            models.Index(
                fields=("tenant", "project", "-id"),
                condition=Q(gone_at__isnull=False),
                name="graph_nodes_list_gone",
            ),
            # All that a walk asks of the other end of an edge.
            models.Index(
                fields=("id",),
                include=(
                    "tenant",
                    "project",
                    "audience",
                    "trashed_at",
                    "valid_from",
                    "valid_to",
                ),
                name="graph_nodes_walk",
            ),
            GinIndex(fields=("search_vector",), name="idx_nodes_search"),
            GinIndex(
                fields=("metadata_vector",),
                condition=Q(metadata_vector__isnull=False),
                name="graph_nodes_metadata",
            ),
            GinIndex(fields=("tags",), name="graph_nodes_tags"),
            GinIndex(
                fields=("title",),
                opclasses=("gin_trgm_ops",),
                name="graph_nodes_title_trigram",
            ),
            models.Index(
                fields=("id",),
                condition=Q(embedding_model__isnull=True),
                name="graph_nodes_not_embedded",
            ),
            # What a scan for the review reads, in the order of its pages.
            models.Index(
                fields=("tenant", "project", "id"),
                condition=Q(node_type__in=CLAIMS),
                name="graph_nodes_claims",
            ),
            models.Index(
                fields=("tenant", "project", "id"),
                condition=Q(gone_at__isnull=False),
                name="graph_nodes_gone",
            ),
            # Things by the first and the last word of their name, for finding them in
            # texts.
            models.Index(
                "tenant",
                "project",
                *(
                    Func(Lower(Left("title", 100)), Value(word), function="substring")
                    for word in (r"\w+", r"(\w+)\W*$")
                ),
                condition=~Q(node_type__in=UNNAMED_TYPES),
                name="graph_nodes_named",
            ),
            # Things by their name, however it is spelt.
            models.Index(
                "tenant",
                "project",
                "node_type",
                Func(Left("title", 200), function="graph_same_name"),
                condition=~Q(node_type__in=OF_ITS_SOURCE) & ~Q(title=""),
                name="graph_nodes_same_name",
            ),
        )

    def __str__(self) -> str:
        return self.title or Truncator(self.content).chars(80) or self.key

    @property
    def type_name(self) -> str:
        """Its type as people write it."""
        return self.node_type.replace("_", " ")

    @property
    def icon(self) -> str:
        known = node_types.get(self.node_type)
        return known.icon if known else "circle"

    @property
    def url(self) -> str:
        """Return where the original is: the node's own link, else its record's."""
        link = self.metadata.get("url") or (
            self.record.permalink if self.record else ""
        )
        return str(link) if str(link).startswith(("https://", "http://")) else ""

    @property
    def is_implied(self) -> bool:
        return self.origin == IMPLIED

    @property
    def is_current(self) -> bool:
        ended = self.valid_to is not None and self.valid_to <= timezone.now()
        return self.trashed_at is None and not ended


class Tombstone(InProject):
    """A pruned node: ingest brings it back only when its content has changed."""

    key = models.TextField()
    content_hash = models.CharField(max_length=64)
    reason = models.TextField(blank=True)
    pruned_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "graph_tombstones"
        constraints = (
            models.UniqueConstraint(
                fields=("tenant", "project", "key"), name="graph_tombstones_key"
            ),
        )

    def __str__(self) -> str:
        return self.key
