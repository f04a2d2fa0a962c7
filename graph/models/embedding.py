"""Models that make vectors, and texts that they refuse."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from graph.models.scoped import InProject


class EmbeddingModel(models.Model):
    """A model that makes vectors, how they are stored and found.

    Only vectors of the active one are ever compared. Another is filled beside it by
    `graph.reembed`: up to the node `filled_to`, `filled` of `total` nodes so far.
    """

    class Storage(models.TextChoices):
        VECTOR = "vector", "vector, 4 bytes a number"
        HALFVEC = "halfvec", "halfvec, 2 bytes a number"

    class Index(models.TextChoices):
        HNSW = "hnsw", "HNSW"
        IVFFLAT = "ivfflat", "IVFFlat"

    provider = models.CharField(max_length=64, default="static")
    name = models.CharField(max_length=200)
    dimensions = models.PositiveIntegerField()
    storage = models.CharField(
        max_length=16, choices=Storage, default=Storage.VECTOR.value
    )
    index = models.CharField(max_length=16, choices=Index, default=Index.HNSW.value)
    indexed_dimensions = models.PositiveIntegerField(
        default=0,
        help_text="How many of the first dimensions the index holds, in half precision;"
        " what it finds is put in order by whole vectors. 0: whole vectors.",
    )
    m = models.PositiveIntegerField(default=16, help_text="HNSW: links of a vector.")
    ef_construction = models.PositiveIntegerField(
        default=200, help_text="HNSW: candidates looked at when a vector is added."
    )
    # What its vectors have in common, of which the index holds nothing; as pgvector
    # writes it, empty where that is little.
    center = models.TextField(blank=True, default="", editable=False)
    lists = models.PositiveIntegerField(
        default=0, help_text="IVFFlat: clusters; 0 chooses by how many nodes there are."
    )
    probes = models.PositiveIntegerField(
        default=0, help_text="IVFFlat: clusters a search reads; 0 chooses by the lists."
    )
    is_active = models.BooleanField(default=False)
    filling_since = models.DateTimeField(null=True, editable=False)
    filled = models.BigIntegerField(default=0, editable=False)
    total = models.BigIntegerField(default=0, editable=False)
    filled_to = models.BigIntegerField(default=0, editable=False)
    error = models.TextField(blank=True, default="", editable=False)

    class Meta:
        db_table = "graph_embedding_models"
        constraints = (
            models.UniqueConstraint(
                fields=(
                    "name",
                    "dimensions",
                    "storage",
                    "index",
                    "indexed_dimensions",
                ),
                name="graph_embedding_models_one_of_a_kind",
            ),
            models.UniqueConstraint(
                fields=("is_active",),
                condition=Q(is_active=True),
                name="graph_embedding_models_one_active",
            ),
            models.UniqueConstraint(
                fields=("is_active",),
                condition=Q(filling_since__isnull=False),
                name="graph_embedding_models_one_filling",
            ),
            models.CheckConstraint(
                condition=Q(is_active=False) | Q(filling_since__isnull=True),
                name="graph_embedding_models_active_is_filled",
            ),
            models.CheckConstraint(
                condition=Q(storage__in=("vector", "halfvec")),
                name="graph_embedding_models_storage",
            ),
            models.CheckConstraint(
                condition=Q(index__in=("hnsw", "ivfflat")),
                name="graph_embedding_models_index",
            ),
        )

    def __str__(self) -> str:
        return f"{self.name} ({self.dimensions})"

    @property
    def progress(self) -> str:
        """Return how far its filling is, as people read it; empty where none is."""
        if self.filling_since is None:
            return ""
        filled = min(self.filled, self.total)
        share = 100 * filled // self.total if self.total else 100
        return f"filled {filled:,} of {self.total:,} ({share} %)"

    def is_comparable_with(self, other: EmbeddingModel) -> bool:
        """Say whether both make the same vectors, and only keep them differently."""
        return (self.provider, self.name, self.dimensions) == (
            other.provider,
            other.name,
            other.dimensions,
        )


class RefusedText(InProject):
    """A node whose text a model refused, and why; it is found by its words alone.

    It is asked for again once its words change, or by `reembed --retry-refused`.
    """

    node = models.ForeignKey(
        "Node",
        models.CASCADE,
        related_name="+",
        db_index=False,
        db_constraint=False,
    )
    model = models.ForeignKey(EmbeddingModel, models.CASCADE, related_name="refused")
    reason = models.TextField()
    refused_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "graph_refused_texts"
        constraints = (
            models.UniqueConstraint(
                fields=("tenant", "project", "node", "model"),
                name="graph_refused_texts_once",
            ),
        )

    def __str__(self) -> str:
        return self.reason[:80]
