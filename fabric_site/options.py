"""Options of Fabric's own, from the environment: `settings.FABRIC`."""

from __future__ import annotations

import re
from ipaddress import ip_network
from typing import Any

from connections.databases.addresses import parse_entry
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


def governance() -> dict[str, Any]:
    """Return how long the audit keeps what was said of an act; 0 is for good."""
    return {"AUDIT_DAYS": env.whole("FABRIC_AUDIT_DAYS", 0, most=36_500)}


def ef_search() -> int:
    """Return how many neighbours a search by vectors looks at, of a usual project."""
    return env.whole("FABRIC_EMBEDDING_EF_SEARCH", 240, least=10, most=1000)


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
        "EMBEDDING_INDEXED": env.whole("FABRIC_EMBEDDING_INDEXED", 0, most=4000),
        "EMBEDDING_M": env.whole("FABRIC_EMBEDDING_M", 16, least=2, most=100),
        "EMBEDDING_EF_CONSTRUCTION": env.whole(
            "FABRIC_EMBEDDING_EF_CONSTRUCTION", 200, least=4, most=1000
        ),
        "EMBEDDING_EF_SEARCH": ef_search(),
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


def models() -> dict[str, Any]:
    """Return which chat models are asked, how long, and how much a day."""
    return {
        "CHAT_MODEL": env.text("FABRIC_CHAT_MODEL"),
        "SMALL_MODEL": env.text("FABRIC_SMALL_MODEL"),
        "TOKENS_A_DAY": env.whole("FABRIC_TOKENS_A_DAY", 2_000_000, most=10**12),
        "MODEL_CONNECT_SECONDS": env.number(
            "FABRIC_MODEL_CONNECT_SECONDS", 5, least=0.1, most=300
        ),
        "MODEL_FIRST_SECONDS": env.number(
            "FABRIC_MODEL_FIRST_SECONDS", 60, least=0.1, most=3600
        ),
        "MODEL_SILENCE_SECONDS": env.number(
            "FABRIC_MODEL_SILENCE_SECONDS", 30, least=0.1, most=3600
        ),
        "MODEL_RETRIES": env.whole("FABRIC_MODEL_RETRIES", 3, most=10),
        "MODEL_WAIT_MOST": env.number("FABRIC_MODEL_WAIT_MOST", 20, least=0, most=600),
    }


def memory() -> dict[str, Any]:
    """Return by what memory fades, and when a conversation has ended."""
    return {
        # Nothing said: a user's by conversations, a project's by days.
        "DECAY_TICK": env.text(
            "FABRIC_DECAY_TICK",
            fits=("conversation", "day").__contains__,
            expected="conversation or day",
        ),
        "CONVERSATION_IDLE_MINUTES": env.whole(
            "FABRIC_CONVERSATION_IDLE", 30, least=1, most=10_000
        ),
    }


def databases(demo: dict[str, Any] | None) -> dict[str, Any]:
    """Return where the databases that are asked may be, beside ordinary addresses, and
    how long a discovery may sample their values.

    Of the embedded server exactly the demo company's database is open.
    """
    named = env.words(
        "FABRIC_DATABASE_TARGETS",
        each=parse_entry,
        expected="entries such as db.example:5432, 10.0.0.0/8:* or [::1]:3306/shop, "
        "commas between",
    )
    own = (f"{demo['HOST']}:{demo['PORT']}/{demo['NAME']}",) if demo else ()
    return {
        "DATABASE_TARGETS": (*named, *own),
        "DATABASE_DENIED": env.words(
            "FABRIC_DATABASE_DENIED",
            each=ip_network,
            expected="networks such as 10.9.0.0/16, commas between",
        ),
        "DATABASE_SUPERUSERS": env.flag("FABRIC_DATABASE_SUPERUSERS", False),
        "DEMO_DATABASE": demo,
        "SAMPLING_SECONDS": env.number(
            "FABRIC_SAMPLING_SECONDS", 4, least=0, most=3600
        ),
    }


def agent() -> dict[str, Any]:
    """Return the bounds of one answer of the agent, and of all at once."""
    return {
        "AGENT_STEPS": env.whole("FABRIC_AGENT_STEPS", 6, least=1, most=50),
        "AGENT_SECONDS": env.whole("FABRIC_AGENT_SECONDS", 120, least=5, most=3600),
        "AGENT_TOKENS": env.whole("FABRIC_AGENT_TOKENS", 60_000, least=1000),
        "AGENT_ANSWER_TOKENS": env.whole(
            "FABRIC_AGENT_ANSWER_TOKENS", 2000, least=100, most=64_000
        ),
        "AGENT_CONTEXT_TOKENS": env.whole(
            "FABRIC_AGENT_CONTEXT_TOKENS", 4000, least=200, most=500_000
        ),
        "AGENT_READERS": env.whole("FABRIC_AGENT_READERS", 6, least=1, most=250),
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
