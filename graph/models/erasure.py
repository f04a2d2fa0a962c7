"""What was erased, how far it is, and what must not come back."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q

from connections.models import User
from graph.models.scoped import InProject


class Erasure(InProject):
    """One erasure of a source or a person: what was asked, how far it is, its proof.

    `asked` names what is erased only while it runs, so that a killed one goes on; when
    it is done a keyed hash in `subject` is all that is left of the name.
    """

    class Kind(models.TextChoices):
        SOURCE = "source"
        PERSON = "person"

    class State(models.TextChoices):
        RUNNING = "running"
        FINISHED = "finished"

    kind = models.CharField(max_length=16, choices=Kind)
    subject = models.CharField(max_length=64)
    asked = models.JSONField(default=dict)
    state = models.CharField(max_length=16, choices=State, default=State.RUNNING)
    total = models.PositiveIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)
    counts = models.JSONField(default=dict)
    residue = models.JSONField(default=dict)
    reason = models.TextField(blank=True)
    asked_by = models.ForeignKey(
        User, models.SET_NULL, null=True, related_name="+", db_index=False
    )
    started_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "graph_erasures"
        constraints = (
            models.UniqueConstraint(
                fields=("tenant", "project", "kind", "subject"),
                condition=Q(state="running"),
                name="graph_erasures_one_at_a_time",
            ),
            models.CheckConstraint(
                condition=Q(kind__in=("source", "person")), name="graph_erasures_kind"
            ),
            models.CheckConstraint(
                condition=Q(state="running") ^ Q(finished_at__isnull=False),
                name="graph_erasures_finished",
            ),
        )
        indexes: ClassVar[tuple[models.Index, ...]] = (
            models.Index(
                fields=("tenant", "project", "-id"), name="graph_erasures_list"
            ),
        )

    def __str__(self) -> str:
        return f"erasure {self.pk} of a {self.kind}"


class ErasedName(InProject):
    """The keyed hash of an address, an account or a name of somebody erased.

    Ingest leaves out what it wrote and takes the name out of what others wrote; the
    hash cannot be read back without the installation's key.
    """

    digest = models.CharField(max_length=64)
    words = models.PositiveSmallIntegerField(
        default=0, help_text="Of how many words it is; 0: a key or an address."
    )
    anonymous = models.BooleanField(
        default=False,
        help_text="Of a key: what it writes is read, without its author. Of a name: it "
        "is taken out of that alone.",
    )
    as_written = models.BooleanField(
        default=False, help_text="A first name: taken out only in these very letters."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "graph_erased_names"
        constraints = (
            models.UniqueConstraint(
                fields=("tenant", "project", "digest"),
                name="graph_erased_names_once",
            ),
        )

    def __str__(self) -> str:
        return self.digest[:12]
