"""An index of vectors without what all of them have in common.

Texts whose vectors mostly say "a text" are all near each other, and a graph of
neighbours then leads to few of them; docs/decisions.md has the figures.
"""

from django.db import migrations, models

# As `graph.vector_index` chooses it: of a sample, where it is worth it.
CHOOSE = """
        EXECUTE format(
            'SELECT common::text FROM (SELECT count(*) AS seen, avg(%1$s) AS common'
            ' FROM (SELECT embedding FROM graph_nodes WHERE embedding IS NOT NULL'
            ' LIMIT 20000) sample) whole'
            ' WHERE seen >= 1000 AND vector_norm(common::vector) >= 0.5',
            held) INTO common;
        UPDATE graph_embedding_models SET center = coalesce(common, '')
         WHERE id = model.id;
"""
BUILD = """
    DO $$
    DECLARE
        model graph_embedding_models;
        held text;
        kind text;
        common text;
    BEGIN
        SELECT * INTO model FROM graph_embedding_models WHERE is_active;
        IF model.index <> 'hnsw'
           OR to_regclass('graph_nodes_embedding') IS NULL THEN
            RETURN;
        END IF;
        held := CASE WHEN model.indexed_dimensions > 0
            THEN format('subvector(embedding, 1, %s)', model.indexed_dimensions)
            ELSE 'embedding' END;
        kind := CASE WHEN model.indexed_dimensions > 0
            THEN 'halfvec' ELSE model.storage END;
        -- choose --
        IF common IS NOT NULL THEN
            held := format('(%s - %L::%s)', held, common, model.storage);
        END IF;
        IF common IS NOT NULL OR model.indexed_dimensions > 0 THEN
            held := format('(%s::%s(%s))', held, kind,
                coalesce(nullif(model.indexed_dimensions, 0), model.dimensions));
        END IF;
        DROP INDEX graph_nodes_embedding;
        EXECUTE format(
            'CREATE INDEX graph_nodes_embedding ON graph_nodes USING hnsw'
            ' (%1$s %2$s_cosine_ops) WITH (m = %3$s, ef_construction = %4$s)',
            held, kind, model.m, model.ef_construction);
    END $$
"""
CENTRED = """
    UPDATE graph_embedding_models SET m = 16, ef_construction = 200
     WHERE index = 'hnsw' AND m = 24 AND ef_construction = 100;
    UPDATE graph_embedding_models SET indexed_dimensions = 192
     WHERE provider = 'static' AND index = 'hnsw' AND dimensions > 192
       AND indexed_dimensions = 128;
"""
WHOLE = """
    UPDATE graph_embedding_models SET m = 24, ef_construction = 100
     WHERE index = 'hnsw' AND m = 16 AND ef_construction = 200;
    UPDATE graph_embedding_models SET indexed_dimensions = 128
     WHERE provider = 'static' AND index = 'hnsw' AND indexed_dimensions = 192;
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
        migrations.RunSQL(
            [CENTRED, BUILD.replace("        -- choose --\n", CHOOSE)], [WHOLE, BUILD]
        ),
    ]
