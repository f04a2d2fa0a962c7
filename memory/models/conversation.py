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
    """One question and its answer."""

    conversation = models.ForeignKey(Conversation, models.CASCADE, related_name="turns")
    question = models.TextField()
    answer = models.TextField(blank=True)
    grounded = models.BooleanField(default=False)
    model = models.CharField(max_length=200, blank=True)
    effort = models.PositiveIntegerField(default=0)
    calls = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "turns"
        ordering: ClassVar[tuple[str, ...]] = ("id",)

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
