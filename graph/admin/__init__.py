"""The admin of the graph; importing it registers all of it."""

from graph.admin import edges, identity, nodes, records

__all__ = ["edges", "identity", "nodes", "records"]
