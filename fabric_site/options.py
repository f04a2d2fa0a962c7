"""Options of Fabric's own, from the environment: `settings.FABRIC`."""

from __future__ import annotations

import re
from typing import Any

from fabric_site import environment as env

GOOGLE = "https://generativelanguage.googleapis.com/v1beta/openai/"
STORAGES, INDEXES = ("vector", "halfvec"), ("hnsw", "ivfflat")
MOST_LISTS = 32_768  # pgvector's


def limits() -> dict[str, Any]:
    """Return the language of new projects, and how much one call may ask for."""
    return {
        "TEXT_SEARCH": env.text("FABRIC_TEXT_SEARCH", "english"),
        "INGEST_BATCH_NODES": env.whole(
            "FABRIC_INGEST_BATCH", 2500, least=1, most=20_000
        ),
        "SEARCH_LIMIT_MOST": env.whole("FABRIC_SEARCH_LIMIT", 200, least=1, most=1000),
        "WALK_DEPTH_MOST": env.whole("FABRIC_WALK_DEPTH", 4, least=1, most=6),
        "WALK_FAN_OUT_MOST": env.whole(
            "FABRIC_WALK_FAN_OUT", 500, least=1, most=10_000
        ),
        "EDGE_HALF_LIFE": env.whole("FABRIC_EDGE_HALF_LIFE", 90, least=1, most=36_500),
    }


def embedding() -> dict[str, Any]:
    """Return who makes vectors, and how they are stored and found."""
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
        "EMBEDDING_M": env.whole("FABRIC_EMBEDDING_M", 24, least=2, most=100),
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


def extraction() -> dict[str, Any]:
    """Return who reads names, decisions and relations out of texts."""
    return {
        "EXTRACTION": env.text(
            "FABRIC_EXTRACTION",
            "rules",
            fits=("rules", "anthropic", "openai").__contains__,
            expected="one of rules, anthropic, openai",
        ),
        "EXTRACTION_MODEL": env.text("FABRIC_EXTRACTION_MODEL"),
        "EXTRACTION_PRICE": env.text(
            "FABRIC_EXTRACTION_PRICE",
            fits=re.compile(r"\d+(\.\d+)?(/\d+(\.\d+)?)?").fullmatch,
            expected="US dollars for a million tokens read/written, such as 1/5",
        ),
        "ANTHROPIC_API_KEY": env.text("ANTHROPIC_API_KEY"),
        "ANTHROPIC_BASE_URL": env.text("ANTHROPIC_BASE_URL"),
    }


def ranking() -> dict[str, Any]:
    """Return how arms run, and what comes after their fusion."""
    return {
        "ARM_THREADS": env.whole("FABRIC_ARM_THREADS", 4, least=0, most=64),
        "ARM_MS": env.whole("FABRIC_ARM_MS", 3000, least=10, most=60_000),
        "DEDUP_THRESHOLD": env.number(
            "MEMORY_FABRIC_DEDUP_THRESHOLD", 0.85, least=0, most=1
        ),
        "BOOST_FACTOR": env.number(
            "MEMORY_FABRIC_BOOST_FACTOR", 1.2, least=1, most=100
        ),
        "MAX_RESULTS": env.whole("MEMORY_FABRIC_MAX_RESULTS", 20, least=1, most=1000),
        "RERANKER": env.text(
            "FABRIC_RERANKER",
            fits=("rules", "onnx", "anthropic", "openai").__contains__,
            expected="one of rules, onnx, anthropic, openai",
        ),
        "RERANKER_PATH": env.text(
            "FABRIC_RERANKER_PATH",
            fits=env.is_folder,
            expected="a folder that is there",
        ),
    }
