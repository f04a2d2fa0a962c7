from __future__ import annotations

import pytest
from django.utils import timezone

from graph.integrity import Unproven, check_evidence, find_gaps
from graph.models import Evidence
from tests.factories import make_edge, make_node

pytestmark = pytest.mark.django_db


def test_what_has_evidence_is_no_gap(project):
    make_edge(make_node(project, "a"), make_node(project, "b"))
    check_evidence(project)


def test_nodes_and_edges_without_evidence_are_named(project):
    a, b = make_node(project, "a"), make_node(project, "b")
    make_edge(a, b)
    Evidence.objects.filter(node=b).delete()
    Evidence.objects.exclude(edge=None).delete()
    gaps = find_gaps(project)
    assert (gaps.nodes, gaps.edges) == (("b",), ("a -mentions- b",))
    with pytest.raises(Unproven, match=r"1 nodes and 1 edges of acme/main .*'b'"):
        check_evidence(project)


def test_what_has_ended_or_was_pruned_needs_none(project, other_project):
    make_node(project, "ended", valid_to=timezone.now())
    make_node(project, "pruned", trashed_at=timezone.now())
    make_node(other_project, "theirs")
    Evidence.objects.all().delete()
    assert find_gaps(project).nodes == ()
    assert find_gaps(other_project).nodes == ("theirs",)


def test_looking_for_gaps_is_two_queries(project, django_assert_num_queries):
    with django_assert_num_queries(2):
        find_gaps(project)
