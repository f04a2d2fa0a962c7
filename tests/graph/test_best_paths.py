"""The best ways go over strong, recent edges and around hubs."""

from __future__ import annotations

import math
from datetime import timedelta

import pytest
from django.utils import timezone

from graph import best_paths as module
from graph.best_paths import best_paths, edge_price
from graph.models import Edge, Node
from graph.steps import Cut
from tests.factories import make_audience, make_edge, make_node


@pytest.fixture
def nodes(project, member):
    make_audience(project)
    return Node.objects.visible_to(member).current()


def ways(nodes, start, end, project, **options):
    found = best_paths(nodes, start.pk, end.pk, project=project, **options)
    names = {node.pk: node.key for node in Node.objects.of(project)}
    return ["".join(names[pk] for pk in path.nodes) for path in found.paths]


def through(project, *middles, **fields):
    a, b = make_node(project, "a"), make_node(project, "b")
    made = [make_node(project, middle) for middle in middles]
    for middle in made:
        make_edge(a, middle, **fields)
        make_edge(middle, b, **fields)
    return a, b, made


def test_a_way_around_a_hub_is_better_and_even_a_longer_one(project, nodes):
    a, b, (hub,) = through(project, "h")
    for number in range(40):
        make_edge(make_node(project, f"leaf{number}"), hub)
    c, d = make_node(project, "c"), make_node(project, "d")
    for one, other in ((a, c), (c, d), (d, b)):
        make_edge(one, other, weight=9)
    assert ways(nodes, a, b, project) == ["acdb", "ahb"]


def test_of_two_ways_the_stronger_is_better(project, nodes):
    a, b, (weak, strong) = through(project, "w", "s")
    Edge.objects.filter(source=weak).update(weight=1)
    Edge.objects.filter(source=strong).update(weight=5)
    assert ways(nodes, a, b, project) == ["asb", "awb"]


def test_of_two_ways_the_newer_is_better(project, nodes):
    a, b, (old, new) = through(project, "o", "n")
    now = timezone.now()
    Edge.objects.filter(source=old).update(occurred_at=now - timedelta(days=900))
    Edge.objects.filter(source=new).update(occurred_at=now)
    assert ways(nodes, a, b, project) == ["anb", "aob"]


def test_an_edge_without_a_date_counts_as_a_year_old():
    now = timezone.now()
    year = now - timedelta(days=365.25)
    assert edge_price(1, None, now) == pytest.approx(edge_price(1, year, now))
    assert edge_price(0, now, now) == pytest.approx(1.0)
    assert edge_price(0, year, now) == pytest.approx(1.5)
    assert edge_price(0, now + timedelta(days=9), now) == pytest.approx(1.0)


def test_a_path_costs_its_edges_and_the_nodes_it_passes(project, nodes):
    a, b, _ = through(project, "m", occurred_at=timezone.now())
    (path,) = best_paths(nodes, a.pk, b.pk, project=project).paths
    edges = 2 / math.log(math.e + 1)
    assert path.cost == pytest.approx(edges + math.log(3), abs=1e-5)


def test_only_what_may_be_seen_makes_a_node_a_hub(project, member, outsider):
    closed = make_audience(project, "G1", [member])
    a, b, (hub,) = through(project, "h")
    for number in range(9):
        make_edge(make_node(project, f"x{number}"), hub, audience=closed)
    costs = [
        best_paths(Node.objects.visible_to(user), a.pk, b.pk, project=project)
        .paths[0]
        .cost
        for user in (member, outsider)
    ]
    assert costs[0] - costs[1] == pytest.approx(math.log(12 / 3), abs=1e-4)


def test_no_way_leads_through_what_may_not_be_seen(project, member, outsider):
    closed = make_audience(project, "G1", [member])
    a, b, (middle,) = through(project, "m", audience=make_audience(project))
    Node.objects.filter(pk=middle.pk).update(audience=closed)
    assert ways(Node.objects.visible_to(member), a, b, project) == ["amb"]
    assert ways(Node.objects.visible_to(outsider), a, b, project) == []


def test_a_stranger_finds_no_way(project, stranger):
    a, b, _ = through(project, "m")
    assert ways(Node.objects.visible_to(stranger), a, b, project) == []


def test_a_loop_is_no_way_and_a_node_is_no_step_from_itself(project, nodes):
    a, b, _ = through(project, "m")
    make_edge(a, a)
    assert ways(nodes, a, b, project) == ["amb"]
    assert ways(nodes, a, a, project) == ["a"]


def test_the_depth_is_hard_and_of_its_time(project, nodes):
    a, b, (middle,) = through(project, "m")
    assert ways(nodes, a, b, project, depth=1) == []
    now, day = timezone.now(), timedelta(days=1)
    Edge.objects.filter(source=middle).update(valid_to=now - day)
    assert ways(nodes, a, b, project) == []
    assert ways(nodes, a, b, project, as_of=now - 2 * day) == ["amb"]


def test_what_the_cap_left_out_is_told(project, nodes):
    a, b, (first, second) = through(project, "f", "s")
    Edge.objects.filter(target=first).update(weight=5)
    found = best_paths(nodes, a.pk, b.pk, project=project, depth=2, fan_out=1)
    assert Cut(a.pk, "out", 1, 2) in found.cut
    assert not found.is_complete
    assert second.pk not in {pk for path in found.paths for pk in path.nodes}


def test_a_search_that_gave_up_says_so(project, nodes, monkeypatch):
    a, b, _ = through(project, "m", "n")
    assert best_paths(nodes, a.pk, b.pk, project=project).is_complete
    monkeypatch.setattr(module, "MOST_TRIED", 2)
    assert not best_paths(nodes, a.pk, b.pk, project=project).is_complete


def test_a_search_costs_a_bounded_number_of_queries(
    project, nodes, django_assert_max_num_queries
):
    a, b, _ = through(project, *(f"m{number}" for number in range(20)))
    # two steps from either end; dates; edges of the nodes that are passed
    with django_assert_max_num_queries(6):
        assert len(ways_of(nodes, a, b, project)) == 10


def ways_of(nodes, a, b, project):
    return best_paths(nodes, a.pk, b.pk, project=project).paths
