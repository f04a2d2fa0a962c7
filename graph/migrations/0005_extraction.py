"""What extraction remembers, held in its project by composite foreign keys.

With its node or its record the memory of a text goes, so that it is read again.
"""

import django.db.models.deletion
from django.db import migrations, models

FOREIGN_KEYS = (
    ("graph_extracted_texts", "node_id", "graph_nodes"),
    ("graph_extracted_texts", "record_id", "graph_records"),
)
PROJECT_KEYS = ("graph_extracted_texts", "graph_extraction_answers")


def _foreign_key(table: str, column: str, parent: str) -> tuple[str, str]:
    name = f"{table}_{column}_in_project"
    return (
        f"ALTER TABLE {table} ADD CONSTRAINT {name} "
        f"FOREIGN KEY (tenant_id, project_id, {column}) "
        f"REFERENCES {parent} (tenant_id, project_id, id) ON DELETE CASCADE",
        f"ALTER TABLE {table} DROP CONSTRAINT {name}",
    )


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
        ("connections", "0002_audit_is_append_only"),
        ("graph", "0004_embedding_models"),
    ]

    operations = [
        migrations.CreateModel(
            name="ExtractedText",
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
                ("audience_id", models.BigIntegerField()),
                ("words", models.CharField(max_length=32)),
                ("extractor", models.CharField(max_length=200)),
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
                    "record",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="graph.record",
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
                "db_table": "graph_extracted_texts",
                "indexes": [
                    models.Index(
                        fields=["tenant", "project", "record"],
                        name="graph_extracted_texts_record",
                    ),
                    models.Index(
                        fields=["tenant", "project", "words"],
                        name="graph_extracted_texts_words",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "project", "node"),
                        name="graph_extracted_texts_node",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ExtractionAnswer",
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
                ("asked", models.CharField(max_length=200)),
                ("words", models.CharField(max_length=32)),
                ("proposed", models.JSONField(default=dict)),
                ("error", models.TextField(blank=True)),
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
                "db_table": "graph_extraction_answers",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "project", "asked", "words"),
                        name="graph_extraction_answers_once",
                    )
                ],
            },
        ),
        *(migrations.RunSQL(*_foreign_key(*key)) for key in FOREIGN_KEYS),
        *(migrations.RunSQL(*_project_key(table)) for table in PROJECT_KEYS),
    ]
