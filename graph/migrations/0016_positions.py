"""Where nodes lie in the picture; a place goes with its node, as in 0003."""

import django.db.models.deletion
from django.db import migrations, models

IN_PROJECT = (
    "ALTER TABLE graph_node_positions ADD CONSTRAINT"
    " graph_node_positions_node_id_in_project"
    " FOREIGN KEY (tenant_id, project_id, node_id)"
    " REFERENCES graph_nodes (tenant_id, project_id, id) ON DELETE CASCADE",
    "ALTER TABLE graph_node_positions DROP CONSTRAINT"
    " graph_node_positions_node_id_in_project",
)


class Migration(migrations.Migration):
    dependencies = [
        ("connections", "0008_exposure_chosen"),
        ("graph", "0015_daily_figures"),
    ]

    operations = [
        migrations.CreateModel(
            name="NodePosition",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True,
                        primary_key=True,
                        serialize=False,
                        verbose_name="ID",
                    ),
                ),
                ("x", models.FloatField()),
                ("y", models.FloatField()),
                ("ties", models.PositiveIntegerField(default=0)),
                ("version", models.PositiveIntegerField(default=0)),
                (
                    "node",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="graph.node",
                    ),
                ),
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
                "db_table": "graph_node_positions",
                "indexes": [
                    models.Index(
                        models.F("tenant"),
                        models.F("project"),
                        models.OrderBy(models.F("ties"), descending=True),
                        models.F("node"),
                        include=("version",),
                        name="graph_node_positions_ties",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "project", "node"),
                        name="graph_node_positions_node",
                    )
                ],
            },
        ),
        migrations.RunSQL(*IN_PROJECT),
    ]
