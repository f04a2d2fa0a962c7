"""SQL of changing the model of all vectors: the columns beside, filled, then switched."""

from graph.sql import WORDS

# A reader in the way is left alone after this long, for whoever comes after us waits
# behind us; then we come again.
LOCK_BRIEFLY = (
    "SET LOCAL lock_timeout = '200ms'",
    "LOCK TABLE graph_nodes, graph_embedding_models IN ACCESS EXCLUSIVE MODE",
)
# Nothing indexes the new columns while they are filled: most rows then are changed in
# place, and the live index of vectors is not touched for them.
ADD_COLUMNS = (
    "ALTER TABLE graph_nodes ADD COLUMN embedding_next {type},"
    " ADD COLUMN embedding_next_model_id bigint,"
    " ADD CONSTRAINT graph_nodes_embedding_model_next"
    " FOREIGN KEY (embedding_next_model_id) REFERENCES graph_embedding_models (id)"
    " DEFERRABLE INITIALLY DEFERRED NOT VALID",
    "CREATE TRIGGER trg_graph_nodes_vector_next BEFORE UPDATE ON graph_nodes"
    " FOR EACH ROW WHEN ((OLD.title, OLD.content, OLD.context)"
    " IS DISTINCT FROM (NEW.title, NEW.content, NEW.context))"
    " EXECUTE FUNCTION graph_nodes_vector_next_update()",
)
DROP_COLUMNS = (
    "DROP TRIGGER IF EXISTS trg_graph_nodes_vector_next ON graph_nodes",
    "ALTER TABLE graph_nodes DROP COLUMN IF EXISTS embedding_next,"
    " DROP COLUMN IF EXISTS embedding_next_model_id",
)
NEXT_ROWS = f"""
    SELECT n.id, {WORDS}, n.node_type, n.title, n.content, n.context,
           CASE WHEN n.embedding_model_id = %(same)s THEN n.embedding::text END
      FROM graph_nodes n
     WHERE n.id > %(after)s AND n.embedding_next_model_id IS NULL
     ORDER BY n.id LIMIT %(limit)s
"""  # noqa: S608
# Rows that somebody writes at this moment are left to the catching up: we wait for
# nobody, so nobody waits for us in a circle.
FILL = f"""
    WITH free (id, vector) AS (
        SELECT n.id, d.vector
          FROM unnest(%(ids)s::bigint[], %(words)s::text[], %(vectors)s::text[])
               AS d (id, words, vector)
          JOIN graph_nodes n ON n.id = d.id
         WHERE n.embedding_next_model_id IS NULL AND {WORDS} = d.words
         ORDER BY n.id FOR NO KEY UPDATE OF n SKIP LOCKED
    )
    UPDATE graph_nodes n
       SET embedding_next = free.vector::vector, embedding_next_model_id = %(model)s
      FROM free WHERE n.id = free.id
"""  # noqa: S608
ADVANCE = """
    UPDATE graph_embedding_models
       SET filled = filled + %s, filled_to = greatest(filled_to, %s), error = ''
     WHERE id = %s AND filling_since IS NOT NULL
"""
NEXT_INDEX, NEXT_QUEUE = "graph_nodes_embedding_next", "graph_nodes_not_embedded_next"
CREATE_QUEUE = (
    f"CREATE INDEX CONCURRENTLY IF NOT EXISTS {NEXT_QUEUE} ON graph_nodes (id)"
    " WHERE embedding_next_model_id IS NULL"
)
VALIDATE = (
    "ALTER TABLE graph_nodes VALIDATE CONSTRAINT graph_nodes_embedding_model_next"
)
# Names only: no row is touched, whatever the size of the table. What goes with the old
# columns: their index, queue and foreign key.
SWITCH = (
    "DROP TRIGGER trg_graph_nodes_vector_next ON graph_nodes",
    "ALTER TABLE graph_nodes DROP COLUMN embedding, DROP COLUMN embedding_model_id",
    "ALTER TABLE graph_nodes RENAME COLUMN embedding_next TO embedding",
    "ALTER TABLE graph_nodes"
    " RENAME COLUMN embedding_next_model_id TO embedding_model_id",
    "ALTER TABLE graph_nodes RENAME CONSTRAINT graph_nodes_embedding_model_next"
    " TO graph_nodes_embedding_model",
    f"ALTER INDEX {NEXT_INDEX} RENAME TO graph_nodes_embedding",
    f"ALTER INDEX {NEXT_QUEUE} RENAME TO graph_nodes_not_embedded",
)
ACTIVATE = (
    "UPDATE graph_embedding_models SET is_active = false WHERE is_active",
    "UPDATE graph_embedding_models SET is_active = true, filling_since = NULL,"
    " error = '' WHERE id = %(model)s",
    "DELETE FROM graph_refused_texts r WHERE r.model_id <> %(model)s",
)
