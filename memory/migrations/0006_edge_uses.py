"""The use of edges, held in their project by a composite key, counted once a turn."""

import django.db.models.deletion
from django.db import migrations, models

# An edge takes the count of its uses with it.
KEYS = """
ALTER TABLE edge_uses ADD CONSTRAINT edge_uses_edge_id_in_project
    FOREIGN KEY (tenant_id, project_id, edge_id)
    REFERENCES graph_edges (tenant_id, project_id, id) ON DELETE CASCADE;
ALTER TABLE edge_uses ADD CONSTRAINT edge_uses_project_of_tenant
    FOREIGN KEY (tenant_id, project_id)
    REFERENCES connections_project (tenant_id, id);
"""
NO_KEYS = """
ALTER TABLE edge_uses DROP CONSTRAINT edge_uses_edge_id_in_project;
ALTER TABLE edge_uses DROP CONSTRAINT edge_uses_project_of_tenant;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("connections", "0002_audit_is_append_only"),
        ("graph", "0009_finer_vector_index"),
        ("memory", "0005_observation_keys"),
    ]
    operations = [
        migrations.CreateModel(
            name="EdgeUse",
            fields=[
                (
                    "edge",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        primary_key=True,
                        related_name="use",
                        serialize=False,
                        to="graph.edge",
                    ),
                ),
                ("uses", models.FloatField()),
                ("last_used_at", models.DateTimeField()),
                (
                    "project",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="connections.project",
                    ),
                ),
                (
                    "tenant",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="connections.tenant",
                    ),
                ),
            ],
            options={
                "db_table": "edge_uses",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("uses__gt", 0)), name="edge_uses_positive"
                    )
                ],
                "indexes": [
                    models.Index(fields=["tenant", "project"], name="edge_uses_project")
                ],
            },
        ),
        migrations.RunSQL(KEYS, NO_KEYS),
        migrations.AddField(
            model_name="turn",
            name="uses_counted_at",
            field=models.DateTimeField(
                help_text="When the edges that led to its citations were counted.",
                null=True,
            ),
        ),
        migrations.AddIndex(
            model_name="turn",
            index=models.Index(
                condition=models.Q(("uses_counted_at", None)),
                fields=["id"],
                name="turns_uses_not_counted",
            ),
        ),
    ]
