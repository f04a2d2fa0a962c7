"""What a source said, whole."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from connections.models import Source, SyncRun
from graph.models.scoped import Scoped
from graph.querysets import ScopedQuerySet


class Record(Scoped):
    """One message, mail, meeting or file as its source gave it."""

    source = models.ForeignKey(
        Source, models.CASCADE, related_name="records", db_index=False
    )
    run = models.ForeignKey(
        SyncRun, models.SET_NULL, null=True, related_name="+", db_index=False
    )
    key = models.TextField()
    kind = models.CharField(max_length=32)
    body = models.TextField(blank=True)
    content_hash = models.CharField(max_length=64)
    raw_sha256 = models.CharField(max_length=64, blank=True)
    permalink = models.TextField(blank=True)
    occurred_at = models.DateTimeField(null=True)
    version = models.BigIntegerField(default=0)
    counted = models.BooleanField(default=True)
    moved_to = models.TextField(blank=True)
    first_fetched_at = models.DateTimeField(auto_now_add=True)
    gone_at = models.DateTimeField(null=True)

    objects = ScopedQuerySet["Record"].as_manager()

    class Meta:
        db_table = "graph_records"
        constraints = (
            models.UniqueConstraint(
                fields=("tenant", "project", "source", "key"), name="graph_records_key"
            ),
            models.UniqueConstraint(
                fields=("tenant", "project", "id"), name="graph_records_scope"
            ),
        )
        # Lists of the admin, newest first, and what came in on a day.
        indexes: ClassVar[tuple[models.Index, ...]] = (
            models.Index(
                fields=("tenant", "project", "source", "-id"),
                name="graph_records_list_source",
            ),
            models.Index(
                fields=("tenant", "project", "-id"),
                condition=models.Q(gone_at__isnull=False),
                name="graph_records_list_gone",
            ),
            models.Index(
                fields=("tenant", "project", "first_fetched_at"),
                name="graph_records_fetched",
            ),
        )

    def __str__(self) -> str:
        return self.key
