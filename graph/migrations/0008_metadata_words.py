"""Words of the metadata beside those of the text, for the profile that reads them."""

import django.contrib.postgres.indexes
import django.contrib.postgres.search
from django.db import migrations, models

# What a profile reads besides the text: NULL where there is none of it, which is most.
TRIGGER = """
CREATE FUNCTION graph_nodes_metadata_vector_update() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
    words text := concat_ws(' ', NEW.metadata->>'summary', NEW.metadata->>'topics',
                            NEW.metadata->>'agent_id', NEW.metadata->>'channel',
                            NEW.metadata->>'filename', NEW.metadata->>'source');
BEGIN
    NEW.metadata_vector := CASE WHEN words = '' THEN NULL
        ELSE to_tsvector(NEW.language::regconfig, words) END;
    RETURN NEW;
END $$;
CREATE TRIGGER trg_graph_nodes_metadata_vector_insert BEFORE INSERT ON graph_nodes
    FOR EACH ROW EXECUTE FUNCTION graph_nodes_metadata_vector_update();
CREATE TRIGGER trg_graph_nodes_metadata_vector_update BEFORE UPDATE ON graph_nodes
    FOR EACH ROW
    WHEN (NEW.metadata IS DISTINCT FROM OLD.metadata
          OR NEW.language IS DISTINCT FROM OLD.language)
    EXECUTE FUNCTION graph_nodes_metadata_vector_update();
"""
DROP_TRIGGER = "DROP FUNCTION graph_nodes_metadata_vector_update() CASCADE"
# Rows that are there get theirs; the search vector stays as it is.
FILL = """
UPDATE graph_nodes SET metadata_vector = to_tsvector(language::regconfig,
       concat_ws(' ', metadata->>'summary', metadata->>'topics', metadata->>'agent_id',
                 metadata->>'channel', metadata->>'filename', metadata->>'source'))
 WHERE metadata ?| ARRAY['summary', 'topics', 'agent_id', 'channel', 'filename',
                         'source']
"""


class Migration(migrations.Migration):
    dependencies = [
        ("connections", "0002_audit_is_append_only"),
        ("graph", "0007_names"),
    ]

    operations = [
        migrations.AddField(
            model_name="node",
            name="metadata_vector",
            field=django.contrib.postgres.search.SearchVectorField(
                editable=False, null=True
            ),
        ),
        migrations.AddIndex(
            model_name="node",
            index=django.contrib.postgres.indexes.GinIndex(
                condition=models.Q(("metadata_vector__isnull", False)),
                fields=["metadata_vector"],
                name="graph_nodes_metadata",
            ),
        ),
        migrations.RunSQL(TRIGGER, DROP_TRIGGER),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
    ]
