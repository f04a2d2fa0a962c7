"""How a model's vectors are stored and found, what it refuses, and how to change it.

A change of models adds columns beside the live ones (graph/reembed.py); the function
below takes back the vector there when a node's words change.
"""

import django.db.models.deletion
from django.db import migrations, models

REFUSED_TEXTS = """
ALTER TABLE graph_refused_texts
    ADD CONSTRAINT graph_refused_texts_node_id_in_project
        FOREIGN KEY (tenant_id, project_id, node_id)
        REFERENCES graph_nodes (tenant_id, project_id, id) ON DELETE CASCADE,
    ADD CONSTRAINT graph_refused_texts_project_of_tenant
        FOREIGN KEY (tenant_id, project_id)
        REFERENCES connections_project (tenant_id, id);
"""
FUNCTION = """
CREATE FUNCTION graph_nodes_vector_next_update() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    NEW.embedding_next := NULL;
    NEW.embedding_next_model_id := NULL;
    RETURN NEW;
END $$;
"""
DROP_FUNCTION = "DROP FUNCTION graph_nodes_vector_next_update() CASCADE"
# A row that an earlier `reembed` made, and the columns that one left half filled.
EARLIER = """
UPDATE graph_embedding_models SET provider = 'openai' WHERE name <> 'static-embedder';
ALTER TABLE graph_nodes DROP COLUMN IF EXISTS embedding_next,
                        DROP COLUMN IF EXISTS embedding_next_of;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("connections", "0002_audit_is_append_only"),
        ("graph", "0003_integrity"),
    ]

    operations = [
        migrations.CreateModel(
            name="RefusedText",
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
                ("reason", models.TextField()),
                ("refused_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "db_table": "graph_refused_texts",
            },
        ),
        migrations.AddField(
            model_name="embeddingmodel",
            name="ef_construction",
            field=models.PositiveIntegerField(
                default=64,
                help_text="HNSW: candidates looked at when a vector is added.",
            ),
        ),
        migrations.AddField(
            model_name="embeddingmodel",
            name="error",
            field=models.TextField(blank=True, default="", editable=False),
        ),
        migrations.AddField(
            model_name="embeddingmodel",
            name="filled",
            field=models.BigIntegerField(default=0, editable=False),
        ),
        migrations.AddField(
            model_name="embeddingmodel",
            name="filled_to",
            field=models.BigIntegerField(default=0, editable=False),
        ),
        migrations.AddField(
            model_name="embeddingmodel",
            name="filling_since",
            field=models.DateTimeField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name="embeddingmodel",
            name="index",
            field=models.CharField(
                choices=[("hnsw", "HNSW"), ("ivfflat", "IVFFlat")],
                default="hnsw",
                max_length=16,
            ),
        ),
        migrations.AddField(
            model_name="embeddingmodel",
            name="lists",
            field=models.PositiveIntegerField(
                default=0,
                help_text="IVFFlat: clusters; 0 chooses by how many nodes there are.",
            ),
        ),
        migrations.AddField(
            model_name="embeddingmodel",
            name="m",
            field=models.PositiveIntegerField(
                default=16, help_text="HNSW: links of a vector."
            ),
        ),
        migrations.AddField(
            model_name="embeddingmodel",
            name="probes",
            field=models.PositiveIntegerField(
                default=0,
                help_text="IVFFlat: clusters a search reads; 0 chooses by the lists.",
            ),
        ),
        migrations.AddField(
            model_name="embeddingmodel",
            name="provider",
            field=models.CharField(default="static", max_length=64),
        ),
        migrations.AddField(
            model_name="embeddingmodel",
            name="storage",
            field=models.CharField(
                choices=[
                    ("vector", "vector, 4 bytes a number"),
                    ("halfvec", "halfvec, 2 bytes a number"),
                ],
                default="vector",
                max_length=16,
            ),
        ),
        migrations.AddField(
            model_name="embeddingmodel",
            name="total",
            field=models.BigIntegerField(default=0, editable=False),
        ),
        migrations.AlterField(
            model_name="embeddingmodel",
            name="name",
            field=models.CharField(max_length=200),
        ),
        migrations.AddConstraint(
            model_name="embeddingmodel",
            constraint=models.UniqueConstraint(
                fields=("name", "dimensions", "storage", "index"),
                name="graph_embedding_models_one_of_a_kind",
            ),
        ),
        migrations.AddConstraint(
            model_name="embeddingmodel",
            constraint=models.UniqueConstraint(
                condition=models.Q(("filling_since__isnull", False)),
                fields=("is_active",),
                name="graph_embedding_models_one_filling",
            ),
        ),
        migrations.AddConstraint(
            model_name="embeddingmodel",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("is_active", False),
                    ("filling_since__isnull", True),
                    _connector="OR",
                ),
                name="graph_embedding_models_active_is_filled",
            ),
        ),
        migrations.AddConstraint(
            model_name="embeddingmodel",
            constraint=models.CheckConstraint(
                condition=models.Q(("storage__in", ("vector", "halfvec"))),
                name="graph_embedding_models_storage",
            ),
        ),
        migrations.AddConstraint(
            model_name="embeddingmodel",
            constraint=models.CheckConstraint(
                condition=models.Q(("index__in", ("hnsw", "ivfflat"))),
                name="graph_embedding_models_index",
            ),
        ),
        migrations.AddField(
            model_name="refusedtext",
            name="model",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="refused",
                to="graph.embeddingmodel",
            ),
        ),
        migrations.AddField(
            model_name="refusedtext",
            name="node",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="graph.node",
            ),
        ),
        migrations.AddField(
            model_name="refusedtext",
            name="project",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="connections.project",
            ),
        ),
        migrations.AddField(
            model_name="refusedtext",
            name="tenant",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="connections.tenant",
            ),
        ),
        migrations.AddConstraint(
            model_name="refusedtext",
            constraint=models.UniqueConstraint(
                fields=("tenant", "project", "node", "model"),
                name="graph_refused_texts_once",
            ),
        ),
        migrations.RunSQL(REFUSED_TEXTS, migrations.RunSQL.noop),
        migrations.RunSQL(FUNCTION, DROP_FUNCTION),
        migrations.RunSQL(EARLIER, migrations.RunSQL.noop),
    ]
