"""Vectors beside the nodes, for those who do not want to pay for them twice."""

from __future__ import annotations

from graph.copying import execute, fetch
from graph.embed import active_embedder

FILE = "data/vectors.jsonl"
LINES = """
    SELECT row_to_json(line)::text FROM (
        SELECT a.address AS node, m.provider, m.name, m.dimensions,
               n.embedding::text AS vector
          FROM graph_nodes n JOIN exported_nodes a ON a.id = n.id
          JOIN graph_embedding_models m ON m.id = n.embedding_model_id
         WHERE n.embedding IS NOT NULL
         ORDER BY a.address::text COLLATE "C") line
"""
TABLE = "restored_vectors"
STAGE = (
    f"CREATE TEMPORARY TABLE {TABLE} (line bigint NOT NULL, address jsonb NOT NULL,"
    " doc jsonb NOT NULL) ON COMMIT DROP"
)
# Vectors of another model would be compared with what they cannot be compared with.
_PUT = """
    UPDATE graph_nodes n
       SET embedding = (s.doc ->> 'vector')::vector, embedding_model_id = %(model)s
      FROM restored_vectors s JOIN restored_nodes a ON a.address = s.address
     WHERE n.id = a.id AND s.doc ->> 'provider' = %(provider)s
       AND s.doc ->> 'name' = %(name)s
       AND (s.doc -> 'dimensions')::int = %(dimensions)s
"""
_COUNT = "SELECT count(*) FROM restored_vectors"


def put_vectors() -> tuple[int, int]:
    """Give nodes their staged vectors; return how many got one, and how many are of
    another model than the active one: those nodes wait for the embedder."""
    _, model = active_embedder()
    given = execute(
        _PUT,
        {
            "model": model.pk,
            "provider": model.provider,
            "name": model.name,
            "dimensions": model.dimensions,
        },
    )
    return given, int(fetch(_COUNT, [])[0][0]) - given
