"""Communities: nodes that the graph ties closely together."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import F
from pgvector.django import VectorField

from graph.models import EmbeddingModel, InProject, Node, Scoped
from graph.querysets import ScopedQuerySet


class CommunityRun(InProject):
    """How a project's communities were found last, in a graph of which size.

    `due_since` is when something changed that the next refresh must take in.
    """

    algorithm = models.CharField(max_length=100, blank=True)
    resolution = models.FloatField(default=0)
    seed = models.BigIntegerField(default=0)
    modularity = models.FloatField(null=True)
    nodes = models.PositiveIntegerField(default=0)
    edges = models.PositiveIntegerField(default=0)
    communities = models.PositiveIntegerField(default=0)
    seconds = models.FloatField(default=0)
    due_since = models.DateTimeField(null=True)
    refreshed_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "retrieval_community_runs"
        constraints = (
            models.UniqueConstraint(
                fields=("tenant", "project"), name="retrieval_community_runs_project"
            ),
        )

    def __str__(self) -> str:
        return f"{self.communities} communities by {self.algorithm or 'nothing yet'}"


class Community(Scoped):
    """Nodes of one audience that edges of that audience tie closely together.

    Its members, its text and the edges that made it may all be seen by whoever is in
    `audience`. `summary` is sentences of its most central texts, each with the node
    that says it; `share` is its part of the nodes of its audience.
    """

    title = models.TextField(blank=True)
    summary = models.JSONField(default=list)
    lexemes = ArrayField(models.TextField(), default=list)
    title_lexemes = ArrayField(models.TextField(), default=list)
    size = models.PositiveIntegerField(default=0)
    share = models.FloatField(default=0)
    types = models.JSONField(default=dict)
    embedding = VectorField(null=True, editable=False)
    embedding_model = models.ForeignKey(
        EmbeddingModel, models.SET_NULL, null=True, related_name="+", db_index=False
    )
    found_at = models.DateTimeField(auto_now_add=True)
    refreshed_at = models.DateTimeField(auto_now=True)

    objects = ScopedQuerySet["Community"].as_manager()

    class Meta:
        db_table = "retrieval_communities"
        verbose_name_plural = "communities"
        constraints = (
            models.UniqueConstraint(
                fields=("tenant", "project", "id"), name="retrieval_communities_scope"
            ),
        )
        indexes: ClassVar[tuple[models.Index, ...]] = (
            models.Index(
                fields=("tenant", "project", "audience"),
                name="retrieval_communities_audience",
            ),
            GinIndex(fields=("lexemes",), name="retrieval_communities_words"),
        )

    def __str__(self) -> str:
        return self.title or self.key

    @property
    def key(self) -> str:
        return f"community:{self.pk}"


class CommunityMember(InProject):
    """A node of a community; `centrality` is 1.0 for its best connected.

    `is_evidence`: the community's text was made from this node's words. Triggers
    take that text away when the node changes, and the member when it may not stay.
    """

    community = models.ForeignKey(
        Community,
        models.DO_NOTHING,
        related_name="members",
        db_index=False,
        db_constraint=False,
    )
    node = models.ForeignKey(
        Node, models.DO_NOTHING, related_name="+", db_index=False, db_constraint=False
    )
    centrality = models.FloatField()
    is_evidence = models.BooleanField(default=False)

    class Meta:
        db_table = "retrieval_community_members"
        constraints = (
            models.UniqueConstraint(
                fields=("tenant", "project", "node"),
                name="retrieval_community_members_node",
            ),
        )
        indexes: ClassVar[tuple[models.Index, ...]] = (
            models.Index(
                "tenant",
                "project",
                "community",
                F("centrality").desc(),
                name="retrieval_community_members_of",
            ),
        )

    def __str__(self) -> str:
        return f"{self.node_id} in {self.community_id}"
