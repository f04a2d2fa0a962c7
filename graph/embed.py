"""Vectors of nodes: the active model, the backlog, the index."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache

from django.conf import settings
from django.db import connection, connections, transaction

from connections.providers import openai_embedder, static  # noqa: F401 - register
from connections.providers.base import Embedder, ProviderError, Vectors, embedders
from connections.records import node_types
from graph import sql
from graph.copying import execute, fetch
from graph.models import EmbeddingModel

INDEX = "graph_nodes_embedding"
CREATE_INDEX = (
    f"CREATE INDEX IF NOT EXISTS {INDEX} ON graph_nodes"
    " USING hnsw (embedding vector_cosine_ops)"
)
BATCH = 256
MODEL_SECONDS = 10


@cache
def _embedder(name: str) -> Embedder:
    return embedders[name]()


def active_embedder() -> tuple[Embedder, EmbeddingModel]:
    """Return the configured embedder and its row; they must be the same model."""
    model = EmbeddingModel.objects.get(is_active=True)
    embedder = _embedder(settings.FABRIC["EMBEDDER"])
    if embedder.name != model.name:
        raise ProviderError(
            f"The vectors are of {model.name}, FABRIC_EMBEDDER means {embedder.name}. "
            f"Run `manage.py reembed {settings.FABRIC['EMBEDDER']}`, "
            "or set FABRIC_EMBEDDER back."
        )
    return embedder, model


def as_text(vectors: Vectors) -> list[str | None]:
    """Return vectors as PostgreSQL reads them; None for a text without words, whose
    zero vector a cosine index would omit."""
    return [
        "[" + ",".join(f"{x:.6g}" for x in vector) + "]" if vector.any() else None
        for vector in vectors
    ]


def embed_question(question: str) -> tuple[str | None, int]:
    """Return the question's vector, and the id of the model that made it.

    The model is looked up every few seconds only; vectors of another are never
    compared with it, because the search asks for this model's.
    """
    embedder, model = _recent_embedder(int(time.monotonic() // MODEL_SECONDS))
    return as_text(embedder.embed([question]))[0], model.pk


@lru_cache(maxsize=1)
def _recent_embedder(_: int) -> tuple[Embedder, EmbeddingModel]:
    return active_embedder()


def forget_model() -> None:
    """Look the active model up again at the next question."""
    _recent_embedder.cache_clear()


def embed_texts(texts: Sequence[str]) -> list[str | None]:
    embedder, _ = active_embedder()
    vectors: list[str | None] = [None] * len(texts)
    said = [i for i, text in enumerate(texts) if text]
    for start in range(0, len(said), BATCH):
        part = said[start : start + BATCH]
        found = as_text(embedder.embed([texts[i] for i in part]))
        for i, vector in zip(part, found, strict=True):
            vectors[i] = vector
    return vectors


def structure_types() -> list[str]:
    """Return the node types that are found by relations, not by words."""
    return sorted(name for name, kind in node_types.items() if kind.structure)


def backlog(project_id: int | None = None) -> int:
    """Return how many nodes wait for their vector."""
    return int(fetch(sql.EMBEDDING_BACKLOG, [project_id, project_id])[0][0])


def embed_backlog(
    project_id: int | None = None, *, progress: Callable[[int], None] | None = None
) -> int:
    """Give every waiting node its vector, batch by batch; return how many.

    What another worker has done meanwhile is not done again.
    """
    done = 0
    while batch := _embed_some(project_id):
        done += batch
        if progress:
            progress(done)
    return done


def _embed_some(project_id: int | None) -> int:
    _, model = active_embedder()
    rows = fetch(
        sql.NOT_EMBEDDED,
        {"structure": structure_types(), "project": project_id, "limit": BATCH},
    )
    if not rows:
        return 0
    # No transaction is open while a provider is asked; a row whose words change
    # meanwhile keeps its place in the queue.
    vectors = embed_texts([row[2] for row in rows])
    with transaction.atomic():
        execute(
            sql.SET_VECTORS,
            [
                model.pk,
                [row[0] for row in rows],
                [row[1] for row in rows],
                vectors,
            ],
        )
    return len(rows)


def index_exists() -> bool:
    row = fetch(
        "SELECT count(*) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
        " WHERE c.relname = %s AND i.indisvalid",
        [INDEX],
    )
    return bool(row[0][0])


def ensure_index() -> bool:
    """Build the vector index where a killed bulk load left none; say whether it did."""
    if index_exists():
        return False
    with connections["owner"].cursor() as cursor:
        cursor.execute(CREATE_INDEX)
    return True


@contextmanager
def bulk_vectors() -> Iterator[bool]:
    """Load into an empty installation without the index, and build it at the end.

    Yields whether it is one: nobody's search loses an index that finds something.
    """
    is_empty = not fetch(
        "SELECT 1 FROM graph_nodes WHERE embedding IS NOT NULL LIMIT 1", []
    )
    embedder, _ = active_embedder()
    if not is_empty or not embedder.is_local or connection.in_atomic_block:
        ensure_index()
        yield False
        return
    with connections["owner"].cursor() as cursor:
        cursor.execute(f"DROP INDEX IF EXISTS {INDEX}")
    try:
        yield True
    finally:
        ensure_index()
