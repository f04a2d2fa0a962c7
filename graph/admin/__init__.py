"""The admin of the graph; importing it registers all of it."""

from graph.admin import edges, embedding, identity, nodes, records, review, trash

__all__ = ["edges", "embedding", "identity", "nodes", "records", "review", "trash"]
