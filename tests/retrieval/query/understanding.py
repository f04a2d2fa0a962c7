"""A question understood on a day that never changes."""

from __future__ import annotations

from datetime import UTC, datetime

from graph.models import Node
from retrieval.query import parse
from tests.factories import make_node

NOW = datetime(2026, 3, 17, 15, 30, tzinfo=UTC)


def understood(project, text, user=None, **options):
    nodes = Node.objects.all() if user is None else Node.objects.visible_to(user)
    return parse(project, text, nodes=nodes.of(project).current(), now=NOW, **options)


def hinted(parsed) -> list[str]:
    return [hint.name for hint in parsed.hints]


def make_person(project, key, name):
    return make_node(project, key, node_type="person", title=name)
