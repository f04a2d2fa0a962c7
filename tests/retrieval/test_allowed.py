"""RULE: a statement finds what its nodes and its project allow, whatever they quote."""

from __future__ import annotations

import pytest

from graph.models import Node
from retrieval.allowed import rows_among
from retrieval.expressions import condition
from tests.factories import make_node

pytestmark = pytest.mark.django_db

TITLES = """
    WITH allowed (id) AS ({allowed})
    SELECT n.title FROM graph_nodes n
     WHERE n.id IN (SELECT allowed.id FROM allowed) AND n.title LIKE %(like)s
       AND n.tenant_id = %(tenant)s AND n.project_id = %(project)s
     ORDER BY {by}
"""


def titles(nodes, project):
    rows = rows_among(nodes, project, TITLES, {"like": "%pump%"}, by="n.title")
    return [title for (title,) in rows]


def test_only_the_nodes_of_the_queryset_and_the_project(
    project, other_project, django_assert_num_queries
):
    for n, title in enumerate(("red pump", "blue pump", "50% pump", "crane")):
        make_node(project, f"m{n}", title=title)
    make_node(other_project, "m9", title="their pump")
    nodes = Node.objects.all()
    with django_assert_num_queries(1):
        assert titles(nodes, project) == ["50% pump", "blue pump", "red pump"]
    assert titles(nodes.filter(key="m0"), project) == ["red pump"]
    assert titles(nodes, other_project) == ["their pump"]
    quoted = condition("graph_nodes.title LIKE '%%50\\%%%%' AND %s", (True,))
    assert titles(nodes.filter(quoted), project) == ["50% pump"]


def test_of_no_nodes_nothing_is_asked(project, django_assert_num_queries):
    with django_assert_num_queries(0):
        assert titles(Node.objects.none(), project) == []
