from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

import pytest
from django.utils import timezone

from graph import paths
from graph.models import Edge, Node
from graph.paths import Path, nearest, shortest_paths
from tests.factories import make_audience, make_edge, make_node


@pytest.fixture
def nodes(project, member):
    make_audience(project)  # who may see what is looked up once, in `visible_to`
    return Node.objects.visible_to(member).current()


def chain(project, length, **fields):
    made = [make_node(project, f"n{i}", **fields) for i in range(length)]
    edges = [make_edge(a, b) for a, b in pairwise(made)]
    return made, edges


def found(nodes, start, end, project, **options):
    return shortest_paths(nodes, start.pk, end.pk, project=project, **options).paths


def test_a_path_names_its_nodes_and_edges_in_order(project, nodes):
    made, edges = chain(project, 4)
    assert found(nodes, made[0], made[3], project) == (
        Path(tuple(n.pk for n in made), tuple(e.pk for e in edges)),
    )


def test_edges_are_walked_against_their_direction_too(project, nodes):
    made, edges = chain(project, 4)
    assert found(nodes, made[3], made[0], project) == (
        Path(tuple(n.pk for n in made[::-1]), tuple(e.pk for e in edges[::-1])),
    )


@pytest.mark.parametrize("length", range(1, 7))
def test_the_depth_is_hard(length, project, nodes):
    made, _ = chain(project, length + 1)
    assert len(found(nodes, made[0], made[-1], project, depth=length)) == 1
    assert found(nodes, made[0], made[-1], project, depth=length - 1) == ()


def test_all_shortest_paths_are_found_and_none_longer(project, nodes):
    a, b, c, d, e = (make_node(project, key) for key in "abcde")
    for middle in (b, c):
        make_edge(a, middle)
        make_edge(middle, d)
    make_edge(a, e)
    make_edge(e, b)
    ways = found(nodes, a, d, project)
    assert {way.nodes for way in ways} == {(a.pk, b.pk, d.pk), (a.pk, c.pk, d.pk)}


def test_two_relations_between_two_nodes_are_two_paths(project, nodes):
    a, b = make_node(project, "a"), make_node(project, "b")
    edges = {make_edge(a, b, "mentions").pk, make_edge(b, a, "replied_to").pk}
    assert {way.edges[0] for way in found(nodes, a, b, project)} == edges


def test_a_node_is_no_edge_away_from_itself(project, nodes):
    a = make_node(project, "a")
    make_edge(a, a)
    assert found(nodes, a, a, project) == (Path((a.pk,), ()),)


def test_nothing_joins_what_is_not_joined(project, nodes):
    a, b = make_node(project, "a"), make_node(project, "b")
    make_edge(a, make_node(project, "c"))
    assert found(nodes, a, b, project) == ()


def test_no_path_leads_through_what_may_not_be_seen(project, member, outsider):
    closed = make_audience(project, "G1", [member])
    a, b = make_node(project, "a"), make_node(project, "b")
    hidden = make_node(project, "hidden", audience=closed)
    public = make_audience(project)
    make_edge(a, hidden, audience=public)
    make_edge(hidden, b, audience=public)
    mine = Node.objects.visible_to(member).current()
    theirs = Node.objects.visible_to(outsider).current()
    assert len(found(mine, a, b, project)) == 1
    assert found(theirs, a, b, project) == ()


def test_no_path_leads_over_an_edge_that_may_not_be_seen(project, member, outsider):
    closed = make_audience(project, "G1", [member])
    a, b = make_node(project, "a"), make_node(project, "b")
    make_edge(a, b, audience=closed)
    assert len(found(Node.objects.visible_to(member), a, b, project)) == 1
    assert found(Node.objects.visible_to(outsider), a, b, project) == ()


def test_a_stranger_finds_nothing(project, stranger):
    made, _ = chain(project, 2)
    assert found(Node.objects.visible_to(stranger), made[0], made[1], project) == ()


def test_an_ended_edge_is_no_way(project, nodes):
    (a, b), (edge,) = chain(project, 2)
    Edge.objects.filter(pk=edge.pk).update(valid_to=timezone.now() - timedelta(days=1))
    assert found(nodes, a, b, project) == ()


def test_of_a_node_its_best_edges_are_walked(project, nodes, monkeypatch):
    monkeypatch.setattr(paths, "FAN_OUT", 2)
    hub = make_node(project, "hub")
    leaves = [make_node(project, f"leaf{i}") for i in range(4)]
    for weight, leaf in enumerate(leaves, start=1):
        make_edge(hub, leaf, weight=weight)
        make_edge(leaf, make_node(project, f"end{weight}"))
    ends = [Node.objects.get(key=f"end{i}") for i in (1, 4)]
    weak = shortest_paths(nodes, hub.pk, ends[0].pk, project=project)
    strong = shortest_paths(nodes, hub.pk, ends[1].pk, project=project)
    assert len(strong.paths) == 1
    assert strong.is_complete
    # From the far end the way is found, for there its one edge is among the best.
    assert len(weak.paths) == 1


def test_a_step_that_was_cut_is_told(project, nodes, monkeypatch):
    monkeypatch.setattr(paths, "MOST_HOPS", 2)
    a, b = make_node(project, "a"), make_node(project, "b")
    for node in (a, b):
        for i in range(4):
            make_edge(node, make_node(project, f"{node.key}{i}"))
    assert not shortest_paths(nodes, a.pk, b.pk, project=project).is_complete


def test_there_are_no_more_paths_than_asked_for(project, nodes):
    a, b = make_node(project, "a"), make_node(project, "b")
    for i in range(5):
        middle = make_node(project, f"m{i}")
        make_edge(a, middle)
        make_edge(middle, b)
    assert len(found(nodes, a, b, project, limit=3)) == 3


def test_a_search_costs_at_most_a_query_for_each_step(
    project, nodes, django_assert_max_num_queries
):
    made, _ = chain(project, 6)
    with django_assert_max_num_queries(4):
        assert found(nodes, made[0], made[5], project, depth=4) == ()


def test_the_nearest_come_first_with_their_distance(project, nodes):
    made, _ = chain(project, 5)
    around = nearest(nodes, made[0].pk, project=project, depth=3, limit=10)
    assert list(around.distances.items()) == [
        (made[1].pk, 1),
        (made[2].pk, 2),
        (made[3].pk, 3),
    ]
    assert around.is_complete


def test_of_the_equally_near_the_strongest_come_first(project, nodes):
    a = make_node(project, "a")
    made = [make_node(project, f"n{weight}") for weight in range(3)]
    for weight, node in enumerate(made):
        make_edge(node, a, weight=weight)
    around = nearest(nodes, a.pk, project=project, depth=1, limit=2)
    assert list(around.distances) == [made[2].pk, made[1].pk]
    assert not around.is_complete


@pytest.mark.parametrize(("limit", "is_complete"), [(2, False), (4, False), (5, True)])
def test_it_is_told_whether_the_limit_left_something_out(
    limit, is_complete, project, nodes
):
    made, _ = chain(project, 6)
    around = nearest(nodes, made[0].pk, project=project, depth=6, limit=limit)
    assert list(around.distances) == [node.pk for node in made[1 : limit + 1]]
    assert around.is_complete is is_complete


def test_a_walk_ends_when_there_is_enough(
    project, nodes, django_assert_max_num_queries
):
    made, _ = chain(project, 6)
    with django_assert_max_num_queries(3):
        nearest(nodes, made[0].pk, project=project, depth=6, limit=2)


def test_nothing_is_near_to_a_node_one_may_not_see(project, outsider, member):
    closed = make_audience(project, "G1", [member])
    a, b = make_node(project, "a", audience=closed), make_node(project, "b")
    make_edge(a, b, audience=make_audience(project))
    nodes = Node.objects.visible_to(outsider)
    for node in (a, b):
        around = nearest(nodes, node.pk, project=project, depth=2, limit=5)
        assert around.distances == {}


def test_no_path_begins_or_ends_at_what_may_not_be_seen(project, outsider, member):
    closed = make_audience(project, "G1", [member])
    a, b = make_node(project, "a", audience=closed), make_node(project, "b")
    make_edge(a, b, audience=make_audience(project))
    nodes = Node.objects.visible_to(outsider)
    assert found(nodes, a, b, project) == ()
    assert found(nodes, b, a, project) == ()


def test_who_sees_nothing_costs_no_query(project, user, django_assert_max_num_queries):
    made, _ = chain(project, 2)
    nodes = Node.objects.visible_to(user)
    with django_assert_max_num_queries(0):
        assert found(nodes, made[0], made[1], project) == ()
