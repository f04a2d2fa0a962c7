"""The column and the index of a model's vectors, and what a search through it needs."""

from __future__ import annotations

import math

from connections.providers.base import ProviderError
from graph.copying import fetch
from graph.models import EmbeddingModel

INDEX = "graph_nodes_embedding"
# More dimensions no index of pgvector takes, and no column.
MOST_DIMENSIONS = {"vector": 2000, "halfvec": 4000}
MOST_STORED = 16_000
ROWS_A_LIST, LEAST_LISTS = 1000, 10
# Measured at 55,000 vectors: this share of the clusters keeps recall@10 at 0.99, also
# for a tenth of them; half of it gives 0.96 in two thirds of the time.
PROBED_SHARE, LEAST_PROBES = 0.77, 10
ROWS = "SELECT count(*) FROM graph_nodes"
IS_VALID = """
    SELECT count(*) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
     WHERE c.relname = %s AND i.indisvalid
"""


def column_type(model: EmbeddingModel) -> str:
    return f"{model.storage}({model.dimensions})"


def check_size(model: EmbeddingModel) -> None:
    """Raise `ProviderError` for vectors that no index would take."""
    kind = index_type(model)
    most, held = MOST_DIMENSIONS[kind], model.indexed_dimensions or model.dimensions
    if not 1 <= held <= most or not 1 <= model.dimensions <= MOST_STORED:
        raise ProviderError(
            f"An index of {kind} takes 1 to {most} dimensions, {model.name} "
            f"has {model.dimensions}: set FABRIC_EMBEDDING_STORAGE=halfvec (up to "
            f"{MOST_DIMENSIONS['halfvec']}), FABRIC_EMBEDDING_INDEXED to how many of the "
            "first ones the index needs, or fewer FABRIC_EMBEDDING_DIMENSIONS."
        )


def index_type(model: EmbeddingModel) -> str:
    """Return the type of what the index holds: vector or halfvec."""
    return "halfvec" if model.indexed_dimensions else model.storage


def index_sql(
    model: EmbeddingModel, *, name: str = INDEX, column: str = "embedding"
) -> str:
    """Return what follows CREATE INDEX for vectors of `model`."""
    if model.index == EmbeddingModel.Index.HNSW:
        options = f"m = {model.m}, ef_construction = {model.ef_construction}"
    else:
        options = f"lists = {model.lists}"
    held = held_sql(model, column)
    kind = index_type(model)
    return (
        f"IF NOT EXISTS {name} ON graph_nodes USING {model.index}"
        f" (({held}) {kind}_cosine_ops) WITH ({options})"
    )


def held_sql(model: EmbeddingModel, vector: str) -> str:
    """Return what the index holds of `vector`, a column or a value of its type."""
    if not model.indexed_dimensions:
        return vector
    first = model.indexed_dimensions
    return f"subvector({vector}, 1, {first})::halfvec({first})"


def choose_lists(model: EmbeddingModel, rows: int) -> None:
    """Give an IVFFlat model as many clusters as pgvector advises for `rows`."""
    if model.index == EmbeddingModel.Index.IVFFLAT and not model.lists:
        many = rows / ROWS_A_LIST if rows <= 1_000_000 else math.sqrt(rows)
        model.lists = max(LEAST_LISTS, round(many))
        model.save(update_fields=["lists"])


def node_count() -> int:
    return int(fetch(ROWS, [])[0][0])


def session_settings(model: EmbeddingModel) -> dict[str, str]:
    """Return the settings that a connection needs to search vectors of `model`.

    HNSW's are options of every connection already.
    """
    if model.index != EmbeddingModel.Index.IVFFLAT:
        return {}
    share = max(LEAST_PROBES, math.ceil(model.lists * PROBED_SHARE))
    return {
        "ivfflat.probes": str(model.probes or min(share, max(model.lists, 1))),
        # The rows of a small project may lie in clusters beyond these.
        "ivfflat.iterative_scan": "relaxed_order",
    }


def index_exists(name: str = INDEX) -> bool:
    """Say whether there is such an index that searches may use."""
    return bool(fetch(IS_VALID, [name])[0][0])
