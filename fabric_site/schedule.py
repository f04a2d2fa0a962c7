"""What runs by itself, and every how many seconds."""

from __future__ import annotations

from typing import Any

JOBS: dict[str, dict[str, Any]] = {
    "give waiting nodes their vectors": {
        "task": "graph.tasks.embed_waiting",
        "schedule": 60,
    },
    "ask a model about new texts": {
        "task": "graph.tasks.ask_about_waiting",
        "schedule": 300,
    },
    "refresh communities": {
        "task": "retrieval.tasks.refresh_due_communities",
        "schedule": 60,
    },
    "remember turns whose task was lost": {
        "task": "memory.remember_late_turns",
        "schedule": 600,
    },
    "seal the audit": {"task": "connections.tasks.seal_audit", "schedule": 60},
}
