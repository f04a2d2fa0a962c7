"""What was asked, what was answered, and from what."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models

from connections.models import User
from graph.models import Node, Scoped
from graph.querysets import ScopedQuerySet


class Conversation(Scoped):
    """Questions and answers of one user; private to them until shared."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, models.CASCADE, related_name="conversations")
    title = models.CharField(max_length=200, blank=True)
    is_pinned = models.BooleanField(default=False)
    ended_at = models.DateTimeField(
        null=True, help_text="When memory counted it; a later turn does not count anew."
    )
    summary = models.TextField(
        blank=True, help_text="What was said up to the turn `summarized_to`."
    )
    summarized_to = models.BigIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = ScopedQuerySet["Conversation"].as_manager()

    class Meta:
        db_table = "conversations"
        ordering: ClassVar[tuple[str, ...]] = ("-updated_at",)
        indexes = (
            models.Index(
                fields=("tenant", "project", "user", "-updated_at"),
                name="conversations_recent",
            ),
        )

    def __str__(self) -> str:
        return self.title or str(self.pk)


class Turn(models.Model):
    """One question and its answer, as far as it came."""

    class State(models.TextChoices):
        RUNNING = "running"
        DONE = "done"
        STOPPED = "stopped", "stopped by the reader"
        FAILED = "failed"

    conversation = models.ForeignKey(Conversation, models.CASCADE, related_name="turns")
    question = models.TextField()
    answer = models.TextField(blank=True)
    grounded = models.BooleanField(default=False)
    model = models.CharField(max_length=200, blank=True)
    effort = models.PositiveIntegerField(default=0)
    calls = models.JSONField(default=list)
    state = models.CharField(max_length=16, choices=State, default=State.DONE)
    error = models.TextField(blank=True)
    parsed = models.JSONField(
        default=dict, help_text="How the question was understood, as the search says."
    )
    support = models.JSONField(
        default=list, help_text="Of each sentence: its text, and the numbers behind it."
    )
    unknown_numbers = models.PositiveIntegerField(
        default=0, help_text="Citations of the model that named no source: taken out."
    )
    also_read = models.JSONField(
        default=list, help_text="The nodes that were read and not cited, by id."
    )
    followups = models.JSONField(default=list, help_text="What could be asked next.")
    tokens_read = models.PositiveIntegerField(default=0)
    tokens_written = models.PositiveIntegerField(default=0)
    remembered_at = models.DateTimeField(
        null=True, help_text="When memory took what it says: once."
    )
    uses_counted_at = models.DateTimeField(
        null=True, help_text="When the edges that led to its citations were counted."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "turns"
        ordering: ClassVar[tuple[str, ...]] = ("id",)
        indexes = (
            models.Index(
                fields=("id",),
                condition=models.Q(uses_counted_at=None),
                name="turns_uses_not_counted",
            ),
        )

    def __str__(self) -> str:
        return self.question[:80]


class Citation(models.Model):
    """A passage an answer rests on; it outlives its node as text."""

    turn = models.ForeignKey(Turn, models.CASCADE, related_name="citations")
    n = models.PositiveSmallIntegerField()
    node = models.ForeignKey(Node, models.SET_NULL, null=True, related_name="citations")
    key = models.TextField()
    title = models.TextField(blank=True)
    url = models.TextField(blank=True)
    quote = models.TextField(blank=True)
    timestamp = models.DateTimeField(null=True)
    contributions = models.JSONField(default=dict)

    class Meta:
        db_table = "citations"
        ordering: ClassVar[tuple[str, ...]] = ("n",)
        constraints = (
            models.UniqueConstraint(fields=("turn", "n"), name="citations_number"),
        )

    def __str__(self) -> str:
        return f"[{self.n}] {self.title}"
