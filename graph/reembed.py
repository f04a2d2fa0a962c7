"""Vectors of another model: filled beside the present ones, then switched.

The new column has its own index from the start, is filled resumably, and takes the
place of the old one by renaming, in one transaction that waits briefly for its lock.
"""

from __future__ import annotations

from collections.abc import Callable

from django.db import connections, transaction

from connections.providers.base import Embedder, embedders
from graph.embed import as_text
from graph.models import EmbeddingModel

BATCH = 256
ADD = (
    "ALTER TABLE graph_nodes ADD COLUMN IF NOT EXISTS embedding_next vector({size})",
    "ALTER TABLE graph_nodes ADD COLUMN IF NOT EXISTS embedding_next_of text",
    "CREATE INDEX IF NOT EXISTS graph_nodes_embedding_next ON graph_nodes"
    " USING hnsw (embedding_next vector_cosine_ops)",
)
TEXTS = """
    SELECT n.id, md5(n.title || chr(1) || n.content || chr(1) || n.context),
           concat_ws(chr(10), nullif(n.context, ''), nullif(n.title, ''),
                     nullif(n.content, ''))
      FROM graph_nodes n
     WHERE n.embedding IS NOT NULL AND n.id > %s
       AND n.embedding_next_of IS DISTINCT FROM
           md5(n.title || chr(1) || n.content || chr(1) || n.context)
     ORDER BY n.id LIMIT %s
"""
FILL = """
    UPDATE graph_nodes n SET embedding_next = d.vector::vector, embedding_next_of = d.words
      FROM unnest(%s::bigint[], %s::text[], %s::text[]) AS d (id, words, vector)
     WHERE n.id = d.id
"""
# What changed since it was filled, or came later, goes back to the embedder's queue.
SWITCH = (
    "SET LOCAL lock_timeout = '5s'",
    "LOCK TABLE graph_nodes IN ACCESS EXCLUSIVE MODE",
    "ALTER TABLE graph_nodes DISABLE TRIGGER trg_graph_nodes_search_vector",
    "UPDATE graph_nodes n SET embedding_model_id = NULL, embedding_next = NULL"
    " WHERE (n.embedding IS NOT NULL OR n.embedding_next IS NOT NULL)"
    "   AND n.embedding_next_of IS DISTINCT FROM"
    "       md5(n.title || chr(1) || n.content || chr(1) || n.context)",
    "DROP INDEX IF EXISTS graph_nodes_embedding",
    "ALTER TABLE graph_nodes DROP COLUMN embedding",
    "ALTER TABLE graph_nodes DROP COLUMN embedding_next_of",
    "ALTER TABLE graph_nodes RENAME COLUMN embedding_next TO embedding",
    "ALTER INDEX graph_nodes_embedding_next RENAME TO graph_nodes_embedding",
    "ALTER TABLE graph_nodes ENABLE TRIGGER trg_graph_nodes_search_vector",
)


def reembed(
    name: str, *, progress: Callable[[int], None] | None = None
) -> EmbeddingModel:
    """Give all nodes vectors of the embedder `name` and make its model the active one.

    Killed and run again it goes on where it stopped; search keeps the old vectors
    until the switch.
    """
    embedder = embedders[name]()
    model, _ = EmbeddingModel.objects.get_or_create(
        name=embedder.name, defaults={"dimensions": embedder.dimensions}
    )
    if model.is_active:
        return model
    with connections["owner"].cursor() as cursor:
        for statement in ADD:
            cursor.execute(statement.format(size=int(embedder.dimensions)))
    _fill(embedder, progress)
    with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
        for statement in SWITCH:
            cursor.execute(statement)
        cursor.execute("UPDATE graph_embedding_models SET is_active = false")
        cursor.execute(
            "UPDATE graph_embedding_models SET is_active = true WHERE id = %s",
            [model.pk],
        )
        cursor.execute(
            "UPDATE graph_nodes SET embedding_model_id = %s"
            " WHERE embedding_model_id IS NOT NULL",
            [model.pk],
        )
    model.refresh_from_db()
    return model


def _fill(embedder: Embedder, progress: Callable[[int], None] | None) -> None:
    done, last = 0, 0
    while True:
        with connections["owner"].cursor() as cursor:
            cursor.execute(TEXTS, [last, BATCH])
            rows = cursor.fetchall()
        if not rows:
            return
        vectors = as_text(embedder.embed([row[2] for row in rows]))
        with connections["owner"].cursor() as cursor:
            cursor.execute(
                FILL, [[row[0] for row in rows], [row[1] for row in rows], vectors]
            )
        last = rows[-1][0]
        done += len(rows)
        if progress:
            progress(done)
