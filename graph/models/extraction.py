"""What extraction remembers: which words it has read, and what a model answered."""

from __future__ import annotations

from django.db import models

from graph.models.node import Node
from graph.models.record import Record
from graph.models.scoped import InProject


class ExtractedText(InProject):
    """A text as it was when it was read: its words, its record, who could see it.

    A text that differs from this, or was read by another extractor, is read again.
    """

    node = models.ForeignKey(
        Node, models.DO_NOTHING, related_name="+", db_index=False, db_constraint=False
    )
    record = models.ForeignKey(
        Record, models.DO_NOTHING, related_name="+", db_index=False, db_constraint=False
    )
    audience_id = models.BigIntegerField()
    words = models.CharField(max_length=32)
    extractor = models.CharField(max_length=200)

    class Meta:
        db_table = "graph_extracted_texts"
        constraints = (
            models.UniqueConstraint(
                fields=("tenant", "project", "node"), name="graph_extracted_texts_node"
            ),
        )
        indexes = (
            models.Index(
                fields=("tenant", "project", "record"),
                name="graph_extracted_texts_record",
            ),
            models.Index(
                fields=("tenant", "project", "words"),
                name="graph_extracted_texts_words",
            ),
        )

    def __str__(self) -> str:
        return f"node {self.node_id}, by {self.extractor}"


class ExtractionAnswer(InProject):
    """What a model proposed for some words: asked once, whatever text holds them."""

    asked = models.CharField(max_length=200)
    words = models.CharField(max_length=32)
    proposed = models.JSONField(default=dict)
    error = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "graph_extraction_answers"
        constraints = (
            models.UniqueConstraint(
                fields=("tenant", "project", "asked", "words"),
                name="graph_extraction_answers_once",
            ),
        )

    def __str__(self) -> str:
        return f"{self.words} by {self.asked}"
