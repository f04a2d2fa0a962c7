"""Numbers of each day, so that a page need not count a graph."""

import django.db.models.deletion
from django.db import migrations, models

PROJECT = (
    "ALTER TABLE graph_daily_figures "
    "ADD CONSTRAINT graph_daily_figures_project_of_tenant "
    "FOREIGN KEY (tenant_id, project_id) REFERENCES connections_project (tenant_id, id)",
    "ALTER TABLE graph_daily_figures "
    "DROP CONSTRAINT graph_daily_figures_project_of_tenant",
)


class Migration(migrations.Migration):
    dependencies = [
        ("connections", "0008_exposure_chosen"),
        ("graph", "0012_review_integrity"),
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
    ]
