"""The admin of the graph; importing it registers all of it."""

from graph.admin import (
    edges,
    embedding,
    erasures,
    identity,
    nodes,
    records,
    review,
    thresholds,
    trash,
)

__all__ = [
    "edges",
    "embedding",
    "erasures",
    "identity",
    "nodes",
    "records",
    "review",
    "thresholds",
    "trash",
]
