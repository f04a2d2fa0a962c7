"""Which identities are one person, which thread a mail belongs to, and why."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from connections.models import User
from graph.models.node import Node
from graph.models.record import Record
from graph.models.scoped import InProject


class Alias(InProject):
    """A record's claim that one key stands for another: threads of one conversation."""

    record = models.ForeignKey(
        Record,
        models.CASCADE,
        related_name="aliases",
        db_index=False,
        db_constraint=False,
    )
    key = models.TextField()
    target = models.TextField()
    own = models.BooleanField(default=True)

    class Meta:
        db_table = "graph_aliases"
        verbose_name_plural = "aliases"
        constraints = (
            models.UniqueConstraint(
                fields=("tenant", "project", "record", "key"), name="graph_aliases_once"
            ),
        )
        indexes = (
            models.Index(fields=("tenant", "project", "key"), name="graph_aliases_key"),
            models.Index(
                fields=("tenant", "project", "target"), name="graph_aliases_target"
            ),
        )

    def __str__(self) -> str:
        return f"{self.key} is {self.target}"


class Identity(InProject):
    """One way a human is named, and the person it is held to be, with the reasons."""

    node = models.OneToOneField(
        Node,
        models.DO_NOTHING,
        primary_key=True,
        related_name="identity",
        db_constraint=False,
    )
    person = models.ForeignKey(
        Node,
        models.DO_NOTHING,
        related_name="identities",
        db_index=False,
        db_constraint=False,
    )
    key = models.TextField()
    side = models.CharField(max_length=8)
    address = models.TextField(blank=True)
    names = ArrayField(models.TextField(), default=list)
    reasons = models.JSONField(default=list)
    names_stale = models.BooleanField(default=True)

    class Meta:
        db_table = "graph_identities"
        verbose_name_plural = "identities"
        constraints = (
            models.UniqueConstraint(
                fields=("tenant", "project", "key"), name="graph_identities_key"
            ),
        )
        indexes = (
            models.Index(
                fields=("tenant", "project", "person"), name="graph_identities_person"
            ),
        )

    def __str__(self) -> str:
        return self.key


class IdentityDecision(InProject):
    """A person's word that two identities are one human, or are not."""

    class Verb(models.TextChoices):
        MERGE = "merge", "are one person"
        SPLIT = "split", "are two persons"

    verb = models.CharField(max_length=8, choices=Verb)
    first_key = models.TextField()
    second_key = models.TextField()
    decided_by = models.ForeignKey(
        User, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    decided_at = models.DateTimeField(auto_now_add=True)
    reason = models.TextField(blank=True)

    class Meta:
        db_table = "graph_identity_decisions"
        constraints = (
            models.UniqueConstraint(
                fields=("tenant", "project", "first_key", "second_key"),
                name="graph_identity_decisions_pair",
            ),
            models.CheckConstraint(
                condition=Q(first_key__lt=models.F("second_key")),
                name="graph_identity_decisions_order",
            ),
        )

    def __str__(self) -> str:
        return f"{self.first_key} and {self.second_key} {self.get_verb_display()}"
