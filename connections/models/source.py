"""Content sources and what their runs did."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from connections.models.tenancy import Audience, Project, Tenant, User
from connections.records import AudienceDraft


class Source(models.Model):
    """A place that records come from: a folder, a mailbox, an export."""

    tenant = models.ForeignKey(Tenant, models.CASCADE, related_name="+")
    project = models.ForeignKey(Project, models.CASCADE, related_name="sources")
    kind = models.CharField(max_length=32)
    name = models.CharField(max_length=200)
    location = models.CharField(max_length=4096)
    file_prefix = models.CharField(max_length=220, blank=True)
    owner = models.ForeignKey(
        User, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    audience = models.ForeignKey(
        Audience,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        help_text="Who may see all of it; empty leaves it to the source.",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("tenant", "project", "name"), name="connections_source_name"
            ),
        )

    def __str__(self) -> str:
        return f"{self.name} ({self.kind})"

    @property
    def audience_draft(self) -> AudienceDraft | None:
        """Return the audience that was decided for all of it, as drafts name it."""
        if self.audience is None:
            return None
        kind = self.audience.kind
        return AudienceDraft(kind=kind, key=self.audience.key)  # type: ignore[arg-type] # a choice


class SyncRun(models.Model):
    """One reading of a source; its counts are live while it runs."""

    class State(models.TextChoices):
        RUNNING = "running"
        FINISHED = "finished"
        FAILED = "failed"

    source = models.ForeignKey(Source, models.CASCADE, related_name="runs")
    state = models.CharField(max_length=16, choices=State, default=State.RUNNING)
    started_at = models.DateTimeField(auto_now_add=True)
    heartbeat_at = models.DateTimeField(auto_now=True)
    finished_at = models.DateTimeField(null=True)
    seen = models.PositiveIntegerField(default=0)
    created = models.PositiveIntegerField(default=0)
    updated = models.PositiveIntegerField(default=0)
    unchanged = models.PositiveIntegerField(default=0)
    deleted = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)
    error = models.TextField(blank=True)

    class Meta:
        ordering: ClassVar[tuple[str, ...]] = ("-id",)
        constraints = (
            models.CheckConstraint(
                condition=models.Q(state__in=("running", "finished", "failed")),
                name="connections_syncrun_state",
            ),
        )

    def __str__(self) -> str:
        return f"{self.source.name}, run {self.pk}"


class SyncError(models.Model):
    """An item that a run could not take in, and why."""

    run = models.ForeignKey(SyncRun, models.CASCADE, related_name="errors")
    item = models.CharField(max_length=600)
    error = models.TextField()
    is_warning = models.BooleanField(default=False)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar[tuple[str, ...]] = ("id",)

    def __str__(self) -> str:
        return f"{self.item}: {self.error}"
