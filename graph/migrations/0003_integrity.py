"""What the ORM cannot say: composite foreign keys, the search trigger, the vectors.

Foreign keys carry tenant and project, so that no row refers to another project's.
A node takes its edges and evidence with it; a record that goes leaves its nodes to
their other evidence.
"""

from django.db import migrations

FOREIGN_KEYS = (
    ("graph_records", "audience_id", "audiences", "NO ACTION"),
    ("graph_nodes", "audience_id", "audiences", "NO ACTION"),
    ("graph_nodes", "record_id", "graph_records", "SET NULL (record_id)"),
    ("graph_edges", "audience_id", "audiences", "NO ACTION"),
    ("graph_edges", "source_id", "graph_nodes", "CASCADE"),
    ("graph_edges", "target_id", "graph_nodes", "CASCADE"),
    ("graph_edges", "scope_id", "graph_nodes", "CASCADE"),
    ("graph_evidence", "record_id", "graph_records", "CASCADE"),
    ("graph_evidence", "node_id", "graph_nodes", "CASCADE"),
    ("graph_evidence", "edge_id", "graph_edges", "CASCADE"),
    ("graph_pending_edges", "record_id", "graph_records", "CASCADE"),
    ("graph_aliases", "record_id", "graph_records", "CASCADE"),
    ("graph_identities", "node_id", "graph_nodes", "CASCADE"),
    ("graph_identities", "person_id", "graph_nodes", "CASCADE"),
)
PROJECT_KEYS = ("graph_tombstones", "graph_identity_decisions", "audiences")

TRIGGER = """
CREATE FUNCTION graph_nodes_search_vector_update() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
    configuration regconfig := NEW.language::regconfig;
BEGIN
    IF TG_OP = 'UPDATE'
       AND (NEW.title, NEW.content, NEW.context, NEW.language)
           IS NOT DISTINCT FROM (OLD.title, OLD.content, OLD.context, OLD.language)
       AND NEW.search_vector IS NOT DISTINCT FROM OLD.search_vector
    THEN
        RETURN NEW;
    END IF;
    NEW.search_vector :=
        setweight(to_tsvector(configuration, NEW.title), 'A')
        || setweight(to_tsvector(configuration, NEW.content), 'B')
        || setweight(to_tsvector(configuration, NEW.context), 'C');
    IF TG_OP = 'UPDATE' AND NEW.embedding IS NOT DISTINCT FROM OLD.embedding THEN
        -- The vector was of other words: back to the queue of the embedder.
        NEW.embedding := NULL;
        NEW.embedding_model_id := NULL;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER trg_graph_nodes_search_vector BEFORE INSERT OR UPDATE ON graph_nodes
    FOR EACH ROW EXECUTE FUNCTION graph_nodes_search_vector_update();
"""
DROP_TRIGGER = """
DROP TRIGGER trg_graph_nodes_search_vector ON graph_nodes;
DROP FUNCTION graph_nodes_search_vector_update();
"""
# HNSW needs a column of one size; `manage.py reembed` changes it with the model.
VECTORS = """
ALTER TABLE graph_nodes ALTER COLUMN embedding TYPE vector(256);
CREATE INDEX graph_nodes_embedding ON graph_nodes
    USING hnsw (embedding vector_cosine_ops);
INSERT INTO graph_embedding_models (name, dimensions, is_active)
    VALUES ('static-embedder', 256, true);
"""
DROP_VECTORS = """
DELETE FROM graph_embedding_models;
DROP INDEX graph_nodes_embedding;
ALTER TABLE graph_nodes ALTER COLUMN embedding TYPE vector;
"""
# For the classic statements that any client may write against these tables.
DEFAULTS = """
ALTER TABLE graph_nodes
    ALTER title SET DEFAULT '', ALTER content SET DEFAULT '',
    ALTER context SET DEFAULT '', ALTER language SET DEFAULT 'english',
    ALTER tags SET DEFAULT '{}', ALTER metadata SET DEFAULT '{}',
    ALTER source_kind SET DEFAULT '', ALTER origin SET DEFAULT 'source',
    ALTER precedence SET DEFAULT 0, ALTER created_at SET DEFAULT now(),
    ALTER updated_at SET DEFAULT now();
ALTER TABLE graph_edges
    ALTER weight SET DEFAULT 1, ALTER origin SET DEFAULT 'source',
    ALTER created_at SET DEFAULT now();
ALTER TABLE graph_evidence
    ALTER kind SET DEFAULT 'said', ALTER part SET DEFAULT '',
    ALTER quote SET DEFAULT '', ALTER weight SET DEFAULT 1,
    ALTER via_source SET DEFAULT '', ALTER via_target SET DEFAULT '';
"""
# Without these the planner expects short walks and short texts.
STORAGE = """
ALTER TABLE graph_nodes SET (fillfactor = 85, autovacuum_analyze_scale_factor = 0.02);
ALTER TABLE graph_edges SET (autovacuum_analyze_scale_factor = 0.02);
"""


def _foreign_key(table: str, column: str, parent: str, action: str) -> tuple[str, str]:
    name = f"{table}_{column}_in_project"
    return (
        f"ALTER TABLE {table} ADD CONSTRAINT {name} "
        f"FOREIGN KEY (tenant_id, project_id, {column}) "
        f"REFERENCES {parent} (tenant_id, project_id, id) ON DELETE {action}",
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
    dependencies = [("graph", "0002_tables")]
    operations = [
        *(migrations.RunSQL(*_foreign_key(*key)) for key in FOREIGN_KEYS),
        *(migrations.RunSQL(*_project_key(table)) for table in PROJECT_KEYS),
        migrations.RunSQL(TRIGGER, DROP_TRIGGER),
        migrations.RunSQL(VECTORS, DROP_VECTORS),
        migrations.RunSQL(DEFAULTS, migrations.RunSQL.noop),
        migrations.RunSQL(STORAGE, migrations.RunSQL.noop),
    ]
