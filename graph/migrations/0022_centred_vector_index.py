"""An index of vectors without what all of them have in common.

Texts whose vectors mostly say "a text" are all near each other, and a graph of
neighbours then leads to few of them; docs/decisions.md has the figures. Where vectors
are, their index stays until `graph.vector_refresh` has built a better one beside it;
where none are, it gets the form of a new installation's.
"""

from django.db import migrations, models

OF_NONE = """
    DO $$
    BEGIN
        IF EXISTS (SELECT FROM graph_nodes WHERE embedding IS NOT NULL)
           OR NOT EXISTS (SELECT FROM graph_embedding_models
                           WHERE is_active AND provider = 'static' AND index = 'hnsw'
                             AND storage = 'vector' AND indexed_dimensions = 128) THEN
            RETURN;
        END IF;
        UPDATE graph_embedding_models
           SET m = 16, ef_construction = 200, indexed_dimensions = 192 WHERE is_active;
        DROP INDEX IF EXISTS graph_nodes_embedding;
        CREATE INDEX graph_nodes_embedding ON graph_nodes
               USING hnsw ((subvector(embedding, 1, 192)::halfvec(192)) halfvec_cosine_ops)
                WITH (m = 16, ef_construction = 200);
    END $$
"""
# The code before knows no center; it builds an index that is missing.
WITHOUT_CENTER = """
    DO $$
    BEGIN
        IF EXISTS (SELECT FROM graph_embedding_models WHERE is_active AND center <> '') THEN
            DROP INDEX IF EXISTS graph_nodes_embedding;
        END IF;
    END $$
"""


class Migration(migrations.Migration):
    dependencies = [("graph", "0021_erased_names_of_own_messages")]
    operations = [
        migrations.AddField(
            model_name="embeddingmodel",
            name="center",
            field=models.TextField(blank=True, default="", editable=False),
        ),
        migrations.AlterField(
            model_name="embeddingmodel",
            name="m",
            field=models.PositiveIntegerField(
                default=16, help_text="HNSW: links of a vector."
            ),
        ),
        migrations.AlterField(
            model_name="embeddingmodel",
            name="ef_construction",
            field=models.PositiveIntegerField(
                default=200,
                help_text="HNSW: candidates looked at when a vector is added.",
            ),
        ),
        migrations.RunSQL(OF_NONE, WITHOUT_CENTER),
    ]
