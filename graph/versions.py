"""Which state of a node or an edge somebody saw, so that no change is lost to another.

A digest of what can be changed by hand, and of nothing else: a vector that is made, or
a new proof, does not make it another.
"""

from __future__ import annotations

import hashlib
import json

from graph import by_hand_sql as sql
from graph.copying import fetch
from graph.hand import Outdated
from graph.models import Edge, Node

DIGITS = 32
ANY = "*"


def version_of_node(node: Node) -> str:
    """Return the digest of a node as people may change it."""
    return _digest(
        node.pk,
        node.node_type,
        node.title,
        node.content,
        sorted(node.tags),
        node.metadata,
        node.audience_id,
        str(node.trashed_at or node.valid_to),
    )


def version_of_edge(edge: Edge) -> str:
    """Return the digest of an edge: its ends, its relation, and what is said of it."""
    values = {"tenant": edge.tenant_id, "project": edge.project_id, "id": edge.pk}
    said = [list(row) for row in fetch(sql.WORDS_ON_EDGE, values)]
    ends = (edge.source_id, edge.relation, edge.target_id)
    return _digest(edge.pk, *ends, edge.audience_id, str(edge.valid_to), said)


def check_version(seen: str, now: str) -> None:
    """Raise `Outdated` unless what was seen is what there is; "*" stands for any."""
    if seen not in (ANY, now):
        raise Outdated("It was changed since you read it: read it again, then change.")


def _digest(*values: object) -> str:
    text = json.dumps(values, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]
