"""Vectors of nodes: the active model, questions, the backlog, the first load."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from typing import Any, TypeVar

from django.db import connection, connections, transaction

from connections.prepared import fetch_prepared
from connections.providers import openai_embedder, static  # noqa: F401 - register
from connections.providers.base import Embedder, embedders
from connections.records import node_types
from graph import sql
from graph.copying import execute, fetch
from graph.models import EmbeddingModel
from graph.node_vectors import Made, Waiting, as_text
from graph.vector_index import (
    INDEX,
    fit,
    held_sql,
    index_exists,
    index_sql,
    session_settings,
)

__all__ = ["INDEX", "as_text", "index_exists"]

BATCH = 256
MODEL_SECONDS = 10
# Models change once in months; more often within one question they do not.
MOST_CHANGES = 3
# Held shared by a first load, whose rows come with vectors of the model it began with,
# and alone by the switch to another.
LOAD_LOCK = 0x6661_6276  # "fabv"

T = TypeVar("T")


@cache
def _embedder(provider: str, name: str, dimensions: int) -> Embedder:
    return embedders[provider](name, dimensions)


def embedder_of(model: EmbeddingModel) -> Embedder:
    """Return what makes the vectors of `model`, made once a process.

    Raises `ProviderError` when it lacks what it needs, such as a key.
    """
    return _embedder(model.provider, model.name, model.dimensions)


def active_embedder() -> tuple[Embedder, EmbeddingModel]:
    """Return the active model and its embedder, whatever FABRIC_EMBEDDER says."""
    model = EmbeddingModel.objects.get(is_active=True)
    return embedder_of(model), model


def embed_question(question: str) -> tuple[str | None, int]:
    """Return the question's vector, and the id of the model that made it.

    The model is looked up every few seconds only; `with_vector` sees when that was
    too seldom.
    """
    embedder, model = _recent_embedder(int(time.monotonic() // MODEL_SECONDS))
    return as_text(embedder.embed([question]))[0], model.pk


def with_vector(question: str, find: Callable[[str | None, int], T]) -> T:
    """Return what `find` finds by the question's vector and its model's id.

    It is called again with a vector of the new model when another became the active
    one meanwhile, so that a switch leaves no question without an answer.
    """
    for _ in range(MOST_CHANGES):
        vector, model_id = embed_question(question)
        found = find(vector, model_id)
        if fetch_prepared(sql.IS_ACTIVE, [model_id])[0][0]:
            break
        forget_model()
    return found


def vector_type() -> str:
    """Return the type that a question's vector is cast to: vector or halfvec."""
    _, model = _recent_embedder(int(time.monotonic() // MODEL_SECONDS))
    return str(EmbeddingModel.Storage(model.storage).value)


def nearness(vector: str, *, column: str = "graph_nodes.embedding") -> str:
    """Return what puts nodes in order by the index, for the question's `vector`.

    With fewer dimensions than vectors have it is nearly the order of their distances:
    ask for more than are wanted, and sort those.
    """
    _, model = _recent_embedder(int(time.monotonic() // MODEL_SECONDS))
    asked = held_sql(model, f"{vector}::{model.storage}")
    return f"{held_sql(model, column)} <=> {asked}"


def search_settings(nodes: int) -> dict[str, str]:
    """Return the settings that a connection needs to search by vectors in a project of
    so many nodes, often none."""
    _, model = _recent_embedder(int(time.monotonic() // MODEL_SECONDS))
    return session_settings(model, nodes)


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

    What another worker has done meanwhile is not done again. A text that the provider
    refuses is marked with the reason and leaves the queue.
    """
    done = 0
    while batch := _embed_some(project_id):
        done += batch
        if progress:
            progress(done)
    return done


def _embed_some(project_id: int | None) -> int:
    embedder, model = active_embedder()
    rows = fetch(sql.NOT_EMBEDDED, {"project": project_id, "limit": BATCH})
    if not rows:
        return 0
    # No transaction is open while a provider is asked; a row whose words change
    # meanwhile keeps its place in the queue.
    made = Made.of([Waiting(*row) for row in rows], embedder)
    values = made.values(model.pk)
    with transaction.atomic():
        execute(sql.SET_VECTORS, values)
        note_refusals(execute, made, values)
    return len(rows)


def note_refusals(
    run: Callable[[str, dict[str, Any]], object], made: Made, values: dict[str, Any]
) -> None:
    """Forget why these nodes were refused once, and note why some are now."""
    run(sql.ACCEPTED, values)
    if any(made.reasons):
        run(sql.REFUSED, values)


def retry_refused() -> int:
    """Put what the active model refused back into the queue; return how many."""
    return execute(sql.RETRY_REFUSED, [])


def ensure_index() -> bool:
    """Build the vector index where a killed bulk load left none; say whether it did."""
    if index_exists():
        return False
    with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
        # What the index is fitted to and the index are one: no other builds meanwhile.
        models = EmbeddingModel.objects.using("owner").select_for_update()
        model = models.get(is_active=True)
        if index_exists():
            return False
        fit(model)
        cursor.execute(f"CREATE INDEX {index_sql(model)}")
    forget_model()
    return True


@contextmanager
def bulk_vectors() -> Iterator[bool]:
    """Load into an empty installation without the index, and build it at the end.

    Yields whether it is one: nobody's search loses an index that finds something.
    """
    embedder, _ = active_embedder()
    if (
        connection.in_atomic_block
        or not embedder.is_local
        or not _is_empty()
        or not fetch("SELECT pg_try_advisory_lock_shared(%s)", [LOAD_LOCK])[0][0]
    ):
        ensure_index()
        yield False
        return
    try:
        with connections["owner"].cursor() as cursor:
            cursor.execute(f"DROP INDEX IF EXISTS {INDEX}")
        yield True
    finally:
        fetch("SELECT pg_advisory_unlock_shared(%s)", [LOAD_LOCK])
        ensure_index()


def _is_empty() -> bool:
    statement = "SELECT 1 FROM graph_nodes WHERE embedding IS NOT NULL LIMIT 1"
    return not fetch(statement, [])
