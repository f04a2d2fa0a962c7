"""Erasures, and the hashes of what must not come back, each held in its project."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

PROJECT_KEYS = ("graph_erasures", "graph_erased_names")


def _project_key(table: str) -> tuple[str, str]:
    name = f"{table}_project_of_tenant"
    return (
        f"ALTER TABLE {table} ADD CONSTRAINT {name} "
        "FOREIGN KEY (tenant_id, project_id) "
        "REFERENCES connections_project (tenant_id, id)",
        f"ALTER TABLE {table} DROP CONSTRAINT {name}",
    )


class Migration(migrations.Migration):
    dependencies = [
        ("connections", "0008_exposure_chosen"),
        ("graph", "0013_integrity_tables"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="ErasedName",
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
                ("digest", models.CharField(max_length=64)),
                (
                    "words",
                    models.PositiveSmallIntegerField(
                        default=0,
                        help_text="Of how many words it is; 0: a key or an address.",
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
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
                "db_table": "graph_erased_names",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "project", "digest"),
                        name="graph_erased_names_once",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Erasure",
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
                (
                    "kind",
                    models.CharField(
                        choices=[("source", "Source"), ("person", "Person")],
                        max_length=16,
                    ),
                ),
                ("subject", models.CharField(max_length=64)),
                ("asked", models.JSONField(default=dict)),
                (
                    "state",
                    models.CharField(
                        choices=[("running", "Running"), ("finished", "Finished")],
                        default="running",
                        max_length=16,
                    ),
                ),
                ("total", models.PositiveIntegerField(default=0)),
                ("done", models.PositiveIntegerField(default=0)),
                ("counts", models.JSONField(default=dict)),
                ("residue", models.JSONField(default=dict)),
                ("reason", models.TextField(blank=True)),
                ("started_at", models.DateTimeField(auto_now_add=True)),
                ("finished_at", models.DateTimeField(null=True)),
                (
                    "asked_by",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
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
                "db_table": "graph_erasures",
                "indexes": [
                    models.Index(
                        fields=["tenant", "project", "-id"], name="graph_erasures_list"
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state", "running")),
                        fields=("tenant", "project", "kind", "subject"),
                        name="graph_erasures_one_at_a_time",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ("source", "person"))),
                        name="graph_erasures_kind",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state", "running"),
                            ("finished_at__isnull", False),
                            _connector="XOR",
                        ),
                        name="graph_erasures_finished",
                    ),
                ],
            },
        ),
        *(migrations.RunSQL(*_project_key(table)) for table in PROJECT_KEYS),
    ]
