"""Who makes vectors, and how they are stored and found, from the environment."""

from __future__ import annotations

from typing import Any

from fabric_site import environment as env

GOOGLE = "https://generativelanguage.googleapis.com/v1beta/openai/"
STORAGES, INDEXES = ("vector", "halfvec"), ("hnsw", "ivfflat")
MOST_LISTS = 32_768  # pgvector's


def options() -> dict[str, Any]:
    """Return the options of `settings.FABRIC` that speak of embedding."""
    return {
        "EMBEDDER": env.text("FABRIC_EMBEDDER", "static"),
        "EMBEDDING_MODEL": env.text("FABRIC_EMBEDDING_MODEL"),
        "EMBEDDING_DIMENSIONS": env.whole("FABRIC_EMBEDDING_DIMENSIONS", 0, most=4000),
        "EMBEDDING_STORAGE": env.text(
            "FABRIC_EMBEDDING_STORAGE",
            STORAGES[0],
            fits=STORAGES.__contains__,
            expected="vector or halfvec",
        ),
        "EMBEDDING_INDEX": env.text(
            "FABRIC_EMBEDDING_INDEX",
            INDEXES[0],
            fits=INDEXES.__contains__,
            expected="hnsw or ivfflat",
        ),
        "EMBEDDING_M": env.whole("FABRIC_EMBEDDING_M", 16, least=2, most=100),
        "EMBEDDING_EF_CONSTRUCTION": env.whole(
            "FABRIC_EMBEDDING_EF_CONSTRUCTION", 64, least=4, most=1000
        ),
        "EMBEDDING_LISTS": env.whole("FABRIC_EMBEDDING_LISTS", 0, most=MOST_LISTS),
        "EMBEDDING_PROBES": env.whole("FABRIC_EMBEDDING_PROBES", 0, most=MOST_LISTS),
        "OPENAI_API_KEY": env.text("OPENAI_API_KEY"),
        "OPENAI_BASE_URL": env.text("OPENAI_BASE_URL"),
        "GOOGLE_API_KEY": env.text("GOOGLE_API_KEY"),
        "GOOGLE_BASE_URL": env.text("GOOGLE_BASE_URL", GOOGLE),
    }
