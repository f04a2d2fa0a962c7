"""What models were asked and what it cost, by project and day."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from connections.models.tenancy import Project, Tenant


class ModelUsage(models.Model):
    """Requests and tokens of a day; written by `connections.usage` alone.

    `estimated` is how many of the tokens were not counted by the provider.
    """

    tenant = models.ForeignKey(Tenant, models.CASCADE, related_name="+")
    project = models.ForeignKey(Project, models.CASCADE, related_name="model_usage")
    day = models.DateField()
    provider = models.CharField(max_length=16)
    model = models.CharField(max_length=200)
    purpose = models.CharField(max_length=16)
    requests = models.BigIntegerField(default=0)
    failed = models.BigIntegerField(default=0)
    tokens_read = models.BigIntegerField(default=0)
    tokens_written = models.BigIntegerField(default=0)
    estimated = models.BigIntegerField(default=0)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "model_usage"
        verbose_name_plural = "model usage"
        ordering: ClassVar[tuple[str, ...]] = ("-day", "project_id", "purpose")
        constraints = (
            models.UniqueConstraint(
                fields=("project", "day", "provider", "model", "purpose"),
                name="model_usage_once",
            ),
        )

    def __str__(self) -> str:
        return f"{self.model} for {self.purpose} on {self.day}"
