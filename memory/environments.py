"""What memory runs on: models, versions and limits, each named; never a setting whole.

Only what is written out here is shown, so that a new setting cannot become public by
being added.
"""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from django.conf import settings
from django.db import connection

from connections.providers.base import embedders
from connections.providers.chat import chat_models
from connections.records import JSON
from graph.extraction_settings import RULES, model_id, provider_name
from graph.models import EmbeddingModel
from memory import gk_sql as sql
from memory.gk import LIMIT, LIMIT_MOST
from memory.importance import FADED, FORGOTTEN, REFERENCED, START

PACKAGES = ("django", "psycopg", "pgvector", "celery", "anthropic", "openai")
LIMITS = (
    "SEARCH_LIMIT_MOST",
    "WALK_DEPTH_MOST",
    "WALK_FAN_OUT_MOST",
    "MAX_RESULTS",
    "DEDUP_THRESHOLD",
    "BOOST_FACTOR",
    "ARM_THREADS",
    "ARM_MS",
)
# Providers that ask a service with a key; whether there is one is told, not the key.
_KEYS = {
    "anthropic": "ANTHROPIC_API_KEY",
    "openai": "OPENAI_API_KEY",
    "google": "GOOGLE_API_KEY",
}


def environment() -> dict[str, JSON]:
    """Return the providers, models, dimensions, versions and limits of memory."""
    return {
        "providers": _providers(),
        "models": _models(),
        "dimensions": _active_dimensions(),
        "versions": _versions(),
        "limits": _limits(),
        "memory": {
            "starts_at": START,
            "when_referenced": REFERENCED,
            "when_not": FADED,
            "leaves_below": FORGOTTEN,
        },
    }


def _providers() -> list[JSON]:
    kinds = {"embedder": sorted(embedders), "chat": sorted(chat_models)}
    return [
        {
            "kind": kind,
            "name": name,
            "is_configured": name not in _KEYS
            or bool(settings.FABRIC.get(_KEYS[name])),
        }
        for kind, names in kinds.items()
        for name in names
    ]


def _models() -> list[JSON]:
    """Return the models of vectors, and who reads names out of texts."""
    embedding: list[JSON] = [
        {
            "kind": "embedding",
            "provider": model.provider,
            "name": model.name,
            "dimensions": model.dimensions,
            "storage": model.storage,
            "index": model.index,
            "is_active": model.is_active,
        }
        for model in EmbeddingModel.objects.order_by("-is_active", "name")
    ]
    extraction: JSON = {
        "kind": "extraction",
        "provider": provider_name() or RULES,
        "name": model_id(),
    }
    return [*embedding, extraction]


def _active_dimensions() -> int | None:
    active = EmbeddingModel.objects.filter(is_active=True)
    return active.values_list("dimensions", flat=True).first()


def _versions() -> dict[str, JSON]:
    with connection.cursor() as cursor:
        cursor.execute(sql.VERSIONS)
        server, vector = cursor.fetchone()
    return {
        "python": platform.python_version(),
        "postgresql": server,
        "pgvector extension": vector,
        **{name: _version(name) for name in PACKAGES},
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _limits() -> dict[str, JSON]:
    named: dict[str, JSON] = {
        name.lower(): settings.FABRIC[name]
        for name in LIMITS
        if name in settings.FABRIC
    }
    return {**named, "memory_graph": LIMIT, "memory_graph_most": LIMIT_MOST}
