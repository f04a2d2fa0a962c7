"""More links for each vector, and rows that keep their vector beside their words.

A search needs half the candidates for the same recall, and reads a row's vector
without a second look-up; docs/decisions.md has the figures. Rows written from now on
are kept so; the others as they are changed.
"""

from django.db import migrations, models

# An IVFFlat index is left as it is, and so is what a killed bulk load has yet to build.
MORE_LINKS = """
    DO $$ BEGIN
        IF EXISTS (SELECT FROM pg_class c JOIN pg_am a ON a.oid = c.relam
                    WHERE c.oid = to_regclass('graph_nodes_embedding')
                      AND a.amname = 'hnsw') THEN
            ALTER INDEX graph_nodes_embedding SET (m = 24);
            REINDEX INDEX graph_nodes_embedding;
        END IF;
    END $$;
    UPDATE graph_embedding_models SET m = 24 WHERE m = 16
"""
BESIDE = "ALTER TABLE graph_nodes SET (toast_tuple_target = 4080)"
APART = "ALTER TABLE graph_nodes RESET (toast_tuple_target)"


class Migration(migrations.Migration):
    dependencies = [("graph", "0008_metadata_words")]
    operations = [
        migrations.AlterField(
            model_name="embeddingmodel",
            name="m",
            field=models.PositiveIntegerField(
                default=24, help_text="HNSW: links of a vector."
            ),
        ),
        migrations.RunSQL(MORE_LINKS, migrations.RunSQL.noop),
        migrations.RunSQL(BESIDE, APART),
    ]
