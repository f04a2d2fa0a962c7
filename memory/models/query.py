"""Questions to databases: what answers showed, what people keep, what was verified."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from connections.models import Database, DatabaseQuery, User
from memory.models.conversation import Turn


class TurnTable(models.Model):
    """A result that an answer showed, as it was then: seen by who sees the turn."""

    turn = models.ForeignKey(Turn, models.CASCADE, related_name="tables")
    place = models.PositiveIntegerField()
    database = models.ForeignKey(Database, models.SET_NULL, null=True, related_name="+")
    database_name = models.CharField(max_length=63)
    query = models.ForeignKey(
        DatabaseQuery, models.SET_NULL, null=True, related_name="+"
    )
    question = models.TextField()
    reading = models.TextField(blank=True, help_text="How the question was read.")
    assumptions = ArrayField(models.TextField(), default=list)
    sql = models.TextField()
    tables = ArrayField(models.TextField(), default=list)
    columns = models.JSONField(default=list, help_text="Name and family of each.")
    rows = models.JSONField(default=list)
    row_count = models.PositiveIntegerField(default=0)
    truncated = models.BooleanField(default=False)
    took_ms = models.FloatField(default=0)
    chart = models.JSONField(null=True, help_text="Kind, and the places of its axes.")

    class Meta:
        db_table = "turn_tables"
        ordering: ClassVar[tuple[str, ...]] = ("turn_id", "place")
        constraints = (
            models.UniqueConstraint(fields=("turn", "place"), name="turn_tables_place"),
        )

    def __str__(self) -> str:
        return f"{self.database_name}: {self.question[:80]}"


class SavedQuery(models.Model):
    """A statement that a person kept; theirs alone until shared with the audience."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    database = models.ForeignKey(Database, models.CASCADE, related_name="saved_queries")
    user = models.ForeignKey(User, models.CASCADE, related_name="saved_queries")
    title = models.CharField(max_length=200)
    sql = models.TextField()
    is_shared = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "saved_queries"
        ordering: ClassVar[tuple[str, ...]] = ("title",)
        constraints = (
            models.UniqueConstraint(
                fields=("database", "user", "title"), name="saved_queries_title"
            ),
        )

    def __str__(self) -> str:
        return self.title


class VerifiedExample(models.Model):
    """A question with the statement that a person found to answer it: shown to models,
    and to the offline translator as an answer to the same question."""

    class State(models.TextChoices):
        WAITING = "waiting", "waits for somebody to verify it"
        ACTIVE = "active"
        RETIRED = "retired", "retired: the schema has changed"
        REJECTED = "rejected"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    database = models.ForeignKey(Database, models.CASCADE, related_name="examples")
    question = models.TextField()
    sql = models.TextField()
    state = models.CharField(max_length=16, choices=State, default=State.WAITING)
    asked_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    verified_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    verified_at = models.DateTimeField(null=True)
    tested_at = models.DateTimeField(null=True)
    test_error = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "verified_examples"
        ordering: ClassVar[tuple[str, ...]] = ("-created_at",)
        constraints = (
            models.UniqueConstraint(
                fields=("database", "question", "sql"), name="verified_examples_once"
            ),
            models.CheckConstraint(
                condition=Q(state__in=("waiting", "active", "retired", "rejected")),
                name="verified_examples_state",
            ),
        )

    def __str__(self) -> str:
        return self.question[:80]
