"""A picture as data, as `graph.api.picture_serializers` describes it.

Made by hand: a serializer takes longer for a thousand nodes than finding them does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.urls import reverse

from connections.models import Project
from graph.models import Node
from graph.pictures import Connection, Drawn, Line, Picture
from graph.relation_labels import label_of_relation
from graph.surroundings import More

Data = Mapping[str, Any]


def picture_data(project: Project, node: Node | None, picture: Picture) -> Data:
    """Return a picture, with what it is of."""
    return {
        "project": project.path,
        "node": node.pk if node else None,
        "nodes": [_node(each) for each in picture.nodes],
        "edges": [_line(each) for each in picture.edges],
        "relations": _relations(picture.edges),
        "more": [_more(each) for each in picture.more],
        "is_complete": picture.is_complete,
    }


def connection_data(found: Connection) -> Data:
    """Return the ways between two nodes, with the picture of them."""
    return {
        "summary": found.summary,
        "ways": [
            {"nodes": way.path.nodes, "edges": way.path.edges, "text": way.said.there}
            for way in found.ways
        ],
        "nodes": [_node(each) for each in found.picture.nodes],
        "edges": [_line(each) for each in found.picture.edges],
        "relations": _relations(found.picture.edges),
        "is_complete": found.is_complete,
    }


def _node(drawn: Drawn) -> Data:
    node = drawn.node
    return {
        "id": node.pk,
        "key": node.key,
        "type": node.node_type,
        "family": drawn.family,
        "name": drawn.name,
        "text": node.content,
        "context": node.context,
        "source_kind": node.source_kind,
        "occurred_at": node.occurred_at,
        "gone_at": node.gone_at,
        "page": reverse("node", args=[node.pk]),
        "x": drawn.x,
        "y": drawn.y,
    }


def _line(line: Line) -> Data:
    return {
        "id": line.id,
        "source": line.source_id,
        "target": line.target_id,
        "relation": line.relation,
        "weight": line.weight,
        "occurred_at": line.occurred_at,
    }


def _more(more: More) -> Data:
    return {
        "node": more.node,
        "relation": more.relation,
        "direction": more.direction,
        "label": label_of_relation(more.relation, more.direction),
        "count": more.count,
        "is_exact": more.is_exact,
    }


def _relations(edges: Iterable[Line]) -> list[Data]:
    return [
        {
            "name": name,
            "label": label_of_relation(name, "out"),
            "label_back": label_of_relation(name, "in"),
        }
        for name in sorted({edge.relation for edge in edges})
    ]
