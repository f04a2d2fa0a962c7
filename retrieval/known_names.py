"""Names that a question may use although no node bears them yet."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from connections.registry import Registry
from retrieval.wording import plain

# Node type by name.
Names = Mapping[str, str]
known_names: Registry[Callable[[], Names]] = Registry("list of known names")

FIRST_KNOWN = {
    "agent": (
        "database-engineer",
        "backend-system-architect",
        "frontend-ui-developer",
        "security-auditor",
        "test-generator",
        "workflow-architect",
        "llm-integrator",
        "data-pipeline-engineer",
    ),
    "pattern": ("cursor-pagination", "pagination", "CQRS", "event-sourcing", "RAG"),
}


@known_names.register("first")
def first_known() -> Names:
    """Return the agents and patterns that are known before anything is read."""
    return {name: kind for kind, names in FIRST_KNOWN.items() for name in names}


def by_plain_name() -> dict[str, tuple[str, str]]:
    """Return (name, node type) of every known name, by the name in plain letters."""
    return {
        plain(name): (name, node_type)
        for names in known_names.values()
        for name, node_type in names().items()
    }
