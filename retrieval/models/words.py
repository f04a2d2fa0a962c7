"""How common each word of a project is."""

from __future__ import annotations

import string

from django.contrib.postgres.fields import ArrayField
from django.db import models

from connections.models import Project


class Lexeme(models.Model):
    """In how many nodes of a project a lexeme occurs; refreshed after ingest."""

    project = models.ForeignKey(
        Project, models.CASCADE, related_name="+", db_index=False
    )
    lexeme = models.TextField()
    nodes = models.PositiveIntegerField()

    class Meta:
        db_table = "retrieval_lexemes"
        constraints = (
            models.UniqueConstraint(
                fields=("project", "lexeme"), name="retrieval_lexemes_once"
            ),
        )

    def __str__(self) -> str:
        return self.lexeme


class LexemeCount(models.Model):
    """How many searchable nodes the frequencies of a project were counted over."""

    project = models.OneToOneField(
        Project, models.CASCADE, primary_key=True, related_name="+"
    )
    nodes = models.PositiveIntegerField(default=0)
    languages = ArrayField(models.TextField(), default=list)
    # What their words are written in, the commonest first.
    letters = models.TextField(default=string.ascii_lowercase)
    counted_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "retrieval_lexeme_counts"

    def __str__(self) -> str:
        return f"{self.nodes} nodes"
