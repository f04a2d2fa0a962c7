"""The column and the index of a model's vectors, and what a search through it needs."""

from __future__ import annotations

import json
import math

from django.conf import settings

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
# Up to so many nodes a search looks at as many neighbours as FABRIC_EMBEDDING_EF_SEARCH
# says, beyond at more in proportion, as far as pgvector goes.
USUAL_NODES, MOST_LOOKED_AT = 200_000, 1000
ROWS = "SELECT count(*) FROM graph_nodes"
# Of so many vectors the mean is known well enough; fewer say too little.
SAMPLED, LEAST_SAMPLED = 20_000, 1000
# Two texts drawn by chance then have a cosine above a quarter.
LEAST_IN_COMMON = 0.5
MEAN = """
    SELECT avg({held})::text, count(*) FROM graph_nodes TABLESAMPLE SYSTEM (%s)
     WHERE {column} IS NOT NULL
"""
IS_VALID = """
    SELECT count(*) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
     WHERE c.relname = %s AND i.indisvalid
"""


def column_type(model: EmbeddingModel) -> str:
    return f"{model.storage}({model.dimensions})"


def check_size(model: EmbeddingModel) -> None:
    """Raise `ProviderError` for vectors that no index would take."""
    kind = index_type(model)
    most = MOST_DIMENSIONS[kind]
    if not 1 <= _held(model) <= most or not 1 <= model.dimensions <= MOST_STORED:
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
    """Return what the index holds of `vector`, a column or a value of its type.

    That is its first dimensions, less what all vectors have in common: neighbours in
    HNSW's graph are then alike in what they say, not in being texts.
    """
    held = _first(model, vector)
    if model.center:
        held = f"({held} - '{model.center}'::{model.storage})"
    if not model.center and not model.indexed_dimensions:
        return held
    return f"{held}::{index_type(model)}({_held(model)})"


def _first(model: EmbeddingModel, vector: str) -> str:
    first = model.indexed_dimensions
    return f"subvector({vector}, 1, {first})" if first else vector


def _held(model: EmbeddingModel) -> int:
    return model.indexed_dimensions or model.dimensions


def center_of(model: EmbeddingModel, *, column: str = "embedding") -> str:
    """Return what the vectors in `column` have in common, as pgvector writes it.

    It is the mean of a sample; empty where that is short, for they then have little
    in common, where there are too few to say, and for an index of clusters, which
    finds their middles itself.
    """
    if model.index != EmbeddingModel.Index.HNSW:
        return ""
    share = min(100.0, 100.0 * SAMPLED / max(node_count(), 1))
    statement = MEAN.format(held=_first(model, column), column=column)
    mean, seen = fetch(statement, [share])[0]
    if seen < LEAST_SAMPLED:
        return ""
    numbers = [round(number, 4) for number in json.loads(mean)]
    return json.dumps(numbers) if math.hypot(*numbers) >= LEAST_IN_COMMON else ""


def fit(model: EmbeddingModel, *, column: str = "embedding") -> None:
    """Choose what an index that is about to be built takes from the vectors there are.

    IVFFlat: as many clusters as pgvector advises, unless somebody chose. HNSW: the
    center. Written by the owner, in whose transaction the index may be built.
    """
    if model.index == EmbeddingModel.Index.IVFFLAT and not model.lists:
        rows = node_count()
        many = rows / ROWS_A_LIST if rows <= 1_000_000 else math.sqrt(rows)
        model.lists = max(LEAST_LISTS, round(many))
    model.center = center_of(model, column=column)
    model.save(using="owner", update_fields=["lists", "center"])


def node_count() -> int:
    return int(fetch(ROWS, [])[0][0])


def session_settings(model: EmbeddingModel, nodes: int) -> dict[str, str]:
    """Return the settings that a connection needs to search vectors of `model` in a
    project of so many nodes.

    HNSW's are options of every connection already, but for those of many nodes.
    """
    if model.index != EmbeddingModel.Index.IVFFLAT:
        usual = int(settings.FABRIC["EMBEDDING_EF_SEARCH"])
        looked_at = min(usual * nodes // USUAL_NODES, MOST_LOOKED_AT)
        return {"hnsw.ef_search": str(looked_at)} if looked_at > usual else {}
    share = max(LEAST_PROBES, math.ceil(model.lists * PROBED_SHARE))
    return {
        "ivfflat.probes": str(model.probes or min(share, max(model.lists, 1))),
        # The rows of a small project may lie in clusters beyond these.
        "ivfflat.iterative_scan": "relaxed_order",
    }


def index_exists(name: str = INDEX) -> bool:
    """Say whether there is such an index that searches may use."""
    return bool(fetch(IS_VALID, [name])[0][0])
