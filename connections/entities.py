"""What is read out of texts: names, claims, and how they are related."""

from __future__ import annotations

from connections.records import node_type, relation

NAMES = "agent|technology|pattern"
CLAIMS = "decision|preference|blocker"

node_type("agent", "A role that works: a software agent, or whoever fills it.", "robot")
node_type("technology", "A product, a language, a library, a protocol.", "memory")
node_type("pattern", "A way of building, known by its name.", "extension")
node_type("decision", "A sentence that says what was decided.", "gavel")
node_type("preference", "A sentence that says what somebody prefers.", "favorite")
node_type("blocker", "A sentence that says what stands in the way.", "block")
node_type("tag", "A #label of texts.", "label", structure=True)

relation(
    "uses",
    NAMES,
    NAMES,
    "What it works with.",
    "database-engineer uses pgvector",
)
relation(
    "recommends",
    NAMES,
    NAMES,
    "What it advises to use.",
    "database-engineer recommends cursor-pagination",
)
relation(
    "requires",
    NAMES,
    NAMES,
    "What it cannot do without.",
    "Celery requires Redis",
)
relation(
    "depends_on",
    NAMES,
    NAMES,
    "What it is built on or runs on.",
    "FastAPI depends_on Starlette",
)
relation(
    "blocked_by",
    f"{NAMES}|blocker",
    NAMES,
    "What keeps it from going on.",
    "'The launch is blocked by Redis' blocked_by Redis",
)
relation(
    "used_for",
    NAMES,
    NAMES,
    "What it serves.",
    "pgvector used_for RAG",
)
relation(
    "concerns",
    CLAIMS,
    NAMES,
    "What a decision, a preference or a blocker is about.",
    "'We chose PostgreSQL' concerns PostgreSQL",
)
