"""Numbers of each day, so that a page need not count a graph; indexes of its lists.

The admin's lists are newest first, filtered by what may be rare or long ago: without an
index in that order a list walks back through a million rows, or sorts them.
"""

import django.db.models.deletion
from django.db import migrations, models

PROJECT = (
    "ALTER TABLE graph_daily_figures "
    "ADD CONSTRAINT graph_daily_figures_project_of_tenant "
    "FOREIGN KEY (tenant_id, project_id) REFERENCES connections_project (tenant_id, id)",
    "ALTER TABLE graph_daily_figures "
    "DROP CONSTRAINT graph_daily_figures_project_of_tenant",
)


def _newest(
    model: str, name: str, *fields: str, condition: models.Q | None = None
) -> migrations.AddIndex:
    index = models.Index(
        fields=["tenant", "project", *fields, "-id"], name=name, condition=condition
    )
    return migrations.AddIndex(model_name=model, index=index)


class Migration(migrations.Migration):
    dependencies = [
        ("connections", "0008_exposure_chosen"),
        ("graph", "0014_erasures"),
    ]
    operations = [
        migrations.CreateModel(
            name="DailyFigure",
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
                ("day", models.DateField()),
                ("name", models.CharField(max_length=32)),
                ("label", models.CharField(blank=True, max_length=100)),
                ("value", models.FloatField()),
                ("counted_at", models.DateTimeField()),
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
                "db_table": "graph_daily_figures",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "project", "name", "day", "label"),
                        name="graph_daily_figures_once",
                    )
                ],
            },
        ),
        migrations.RunSQL(*PROJECT),
        _newest("node", "graph_nodes_list_type", "node_type"),
        _newest("node", "graph_nodes_list_kind", "source_kind"),
        _newest(
            "node",
            "graph_nodes_list_gone",
            condition=models.Q(("gone_at__isnull", False)),
        ),
        _newest("edge", "graph_edges_list_relation", "relation"),
        _newest(
            "edge",
            "graph_edges_list_ended",
            condition=models.Q(("valid_to__isnull", False)),
        ),
        _newest("record", "graph_records_list_source", "source"),
        _newest(
            "record",
            "graph_records_list_gone",
            condition=models.Q(("gone_at__isnull", False)),
        ),
        *(
            migrations.AddIndex(
                model_name=model,
                index=models.Index(
                    fields=["tenant", "project", "occurred_at"],
                    name=f"graph_{model}s_list_said",
                ),
            )
            for model in ("node", "edge")
        ),
        migrations.AddIndex(
            model_name="reviewitem",
            index=models.Index(
                fields=["tenant", "project", "kind", "-node"],
                include=("audience",),
                condition=models.Q(("state", "open")),
                name="graph_review_items_flagged",
            ),
        ),
        migrations.AddIndex(
            model_name="record",
            index=models.Index(
                fields=["tenant", "project", "first_fetched_at"],
                name="graph_records_fetched",
            ),
        ),
    ]
