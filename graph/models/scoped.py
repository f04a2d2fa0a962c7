"""What every row of a graph has: a tenant, a project, and those who may see it.

The foreign keys of these tables are composite (tenant, project, ...), so that no row
refers across projects; `graph.migrations.0003_integrity` makes them.
"""

from __future__ import annotations

from django.db import models

from connections.models import Audience, Project, Tenant


class Scoped(models.Model):
    """A row of one project, seen by one audience."""

    tenant = models.ForeignKey(
        Tenant, models.CASCADE, related_name="+", db_index=False, db_constraint=False
    )
    project = models.ForeignKey(
        Project, models.CASCADE, related_name="+", db_index=False, db_constraint=False
    )
    # RESTRICT, for a project that goes takes both its audiences and its rows.
    audience = models.ForeignKey(
        Audience, models.RESTRICT, related_name="+", db_index=False, db_constraint=False
    )

    class Meta:
        abstract = True


class InProject(models.Model):
    """A row of one project that is only read through others."""

    tenant = models.ForeignKey(
        Tenant, models.CASCADE, related_name="+", db_index=False, db_constraint=False
    )
    project = models.ForeignKey(
        Project, models.CASCADE, related_name="+", db_index=False, db_constraint=False
    )

    class Meta:
        abstract = True
