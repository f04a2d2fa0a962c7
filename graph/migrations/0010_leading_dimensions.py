"""An index of vectors that holds less than they have: their first dimensions.

A third faster, smaller by half and built sooner; docs/decisions.md has the figures.
"""

from django.db import migrations, models

# Of the embedder that ships: the dimensions of others may be in no order. A killed bulk
# load has no index and builds it itself.
LEADING = """
    UPDATE graph_embedding_models SET ef_construction = 100
     WHERE index = 'hnsw' AND ef_construction = 64;
    UPDATE graph_embedding_models SET indexed_dimensions = 128
     WHERE provider = 'static' AND index = 'hnsw' AND dimensions > 128;
    DO $$
    DECLARE model graph_embedding_models;
    BEGIN
        SELECT * INTO model FROM graph_embedding_models WHERE is_active;
        IF model.indexed_dimensions > 0
           AND to_regclass('graph_nodes_embedding') IS NOT NULL THEN
            DROP INDEX graph_nodes_embedding;
            EXECUTE format(
                'CREATE INDEX graph_nodes_embedding ON graph_nodes USING hnsw'
                ' ((subvector(embedding, 1, %1$s)::halfvec(%1$s)) halfvec_cosine_ops)'
                ' WITH (m = %2$s, ef_construction = %3$s)',
                model.indexed_dimensions, model.m, model.ef_construction);
        END IF;
    END $$
"""
WHOLE = """
    DO $$
    DECLARE model graph_embedding_models;
    BEGIN
        SELECT * INTO model FROM graph_embedding_models WHERE is_active;
        IF model.indexed_dimensions > 0
           AND to_regclass('graph_nodes_embedding') IS NOT NULL THEN
            DROP INDEX graph_nodes_embedding;
            EXECUTE format(
                'CREATE INDEX graph_nodes_embedding ON graph_nodes USING hnsw'
                ' (embedding %1$s_cosine_ops) WITH (m = %2$s, ef_construction = %3$s)',
                model.storage, model.m, model.ef_construction);
        END IF;
    END $$;
    UPDATE graph_embedding_models SET indexed_dimensions = 0
"""


class Migration(migrations.Migration):
    dependencies = [("graph", "0009_finer_vector_index")]
    operations = [
        migrations.AddField(
            model_name="embeddingmodel",
            name="indexed_dimensions",
            field=models.PositiveIntegerField(
                default=0,
                help_text="How many of the first dimensions the index holds, in half "
                "precision; what it finds is put in order by whole vectors. 0: whole "
                "vectors.",
            ),
        ),
        migrations.AlterField(
            model_name="embeddingmodel",
            name="ef_construction",
            field=models.PositiveIntegerField(
                default=100,
                help_text="HNSW: candidates looked at when a vector is added.",
            ),
        ),
        migrations.RemoveConstraint(
            "embeddingmodel", "graph_embedding_models_one_of_a_kind"
        ),
        migrations.AddConstraint(
            "embeddingmodel",
            models.UniqueConstraint(
                fields=("name", "dimensions", "storage", "index", "indexed_dimensions"),
                name="graph_embedding_models_one_of_a_kind",
            ),
        ),
        migrations.RunSQL(LEADING, WHOLE),
    ]
