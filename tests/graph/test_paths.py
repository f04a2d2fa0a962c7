from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

import pytest
from django.utils import timezone

from graph import paths, steps
from graph.models import Edge, Node
from graph.paths import distances, hops, nearest, shortest_paths
from graph.steps import Cut
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


def parts(ways):
    return [(way.nodes, way.edges) for way in ways]


def test_a_path_names_its_nodes_and_edges_in_order(project, nodes):
    made, edges = chain(project, 4)
    (way,) = found(nodes, made[0], made[3], project)
    assert way.nodes == tuple(n.pk for n in made)
    assert way.edges == tuple(e.pk for e in edges)
    assert [(hop.relation, hop.forward) for hop in way.hops] == [("mentions", True)] * 3


def test_edges_are_walked_against_their_direction_too(project, nodes):
    made, edges = chain(project, 4)
    (way,) = found(nodes, made[3], made[0], project)
    assert way.nodes == tuple(n.pk for n in made[::-1])
    assert way.edges == tuple(e.pk for e in edges[::-1])
    assert [hop.forward for hop in way.hops] == [False] * 3
    assert [hop.near for hop in way.hops] == list(way.nodes[:-1])


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
    assert parts(found(nodes, a, a, project)) == [((a.pk,), ())]


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


def hub_of(project, weights):
    hub = make_node(project, "hub")
    leaves = [make_node(project, f"leaf{weight}") for weight in weights]
    for weight, leaf in zip(weights, leaves, strict=True):
        make_edge(hub, leaf, weight=weight)
    return hub, leaves


def test_of_a_node_its_best_edges_are_walked_and_the_cut_is_told(project, nodes):
    hub, leaves = hub_of(project, range(1, 5))
    far = make_node(project, "far")
    make_edge(far, hub)
    for leaf, finds in ((leaves[0], False), (leaves[3], True)):
        around = nearest(nodes, far.pk, project=project, depth=2, limit=9, fan_out=2)
        assert (leaf.pk in around.distances) is finds
        assert around.cut == (Cut(hub.pk, "out", 2, 4),)
        assert not around.is_complete
    whole = nearest(nodes, far.pk, project=project, depth=2, limit=9, fan_out=None)
    assert (len(whole.distances), whole.cut, whole.is_complete) == (5, (), True)


def test_both_ends_of_a_path_walk_their_best_edges(project, nodes):
    hub, leaves = hub_of(project, range(1, 5))
    ways = shortest_paths(nodes, hub.pk, leaves[0].pk, project=project, fan_out=2)
    # From the far end the way is found, for there its one edge is among the best; the
    # search begins at the near one, and says what it left out there.
    assert len(ways.paths) == 1
    assert ways.cut == (Cut(hub.pk, "out", 2, 4),)
    assert not ways.is_complete


def test_as_many_edges_as_the_cap_are_no_cut(project, nodes):
    hub, _ = hub_of(project, range(1, 5))
    around = nearest(nodes, hub.pk, project=project, depth=1, limit=9, fan_out=4)
    assert (len(around.distances), around.cut, around.is_complete) == (4, (), True)


def test_a_cut_is_counted_to_a_bound(project, nodes, monkeypatch):
    monkeypatch.setattr(steps, "COUNTED", 1)
    hub, _ = hub_of(project, range(1, 5))
    around = nearest(nodes, hub.pk, project=project, depth=1, limit=9, fan_out=2)
    assert around.cut == (Cut(hub.pk, "out", 2, 3, is_exact=False),)


def test_what_may_not_be_seen_is_not_counted_as_cut(project, member, outsider):
    hub, leaves = hub_of(project, range(1, 5))
    closed = make_audience(project, "G1", [member])
    Node.objects.filter(pk=leaves[0].pk).update(audience=closed)
    Edge.objects.filter(target=leaves[1]).update(audience=closed)
    for user, total in ((member, 4), (outsider, 2)):
        allowed = Node.objects.visible_to(user)
        around = nearest(allowed, hub.pk, project=project, depth=1, limit=9, fan_out=1)
        assert around.cut == (Cut(hub.pk, "out", 1, total),)


def test_a_fan_out_of_nothing_is_an_error(project, nodes):
    with pytest.raises(ValueError, match="at least 1"):
        nearest(nodes, 1, project=project, depth=1, limit=1, fan_out=0)


def test_a_step_that_was_cut_is_told(project, nodes, monkeypatch):
    a, b = make_node(project, "a"), make_node(project, "b")
    for node in (a, b):
        for i in range(4):
            make_edge(node, make_node(project, f"{node.key}{i}"))
    assert shortest_paths(nodes, a.pk, b.pk, project=project).is_complete
    monkeypatch.setattr(paths, "MOST_HOPS", 2)
    assert not shortest_paths(nodes, a.pk, b.pk, project=project).is_complete


def test_a_path_is_one_of_its_time(project, nodes):
    (a, b), (edge,) = chain(project, 2)
    now, day = timezone.now(), timedelta(days=1)
    Edge.objects.filter(pk=edge.pk).update(valid_from=now - 9 * day, valid_to=now - day)
    assert found(nodes, a, b, project) == ()
    assert len(found(nodes, a, b, project, as_of=now - 2 * day)) == 1
    assert found(nodes, a, b, project, as_of=now - 10 * day) == ()


def test_hops_are_given_with_relation_direction_and_weight(project, nodes):
    a, b, c = (make_node(project, key) for key in "abc")
    first, second = make_edge(a, b, "sent_by", weight=3), make_edge(c, a, weight=2)
    make_edge(b, c)
    given = hops(nodes, [a.pk], project=project)
    assert [
        (hop.near, hop.far, hop.edge, hop.relation, hop.forward, hop.weight)
        for hop in given
    ] == [
        (a.pk, b.pk, first.pk, "sent_by", True, 3),
        (a.pk, c.pk, second.pk, "mentions", False, 2),
    ]
    only = hops(nodes, [a.pk, b.pk], project=project, relations=["sent_by"])
    assert [(hop.near, hop.far) for hop in only] == [(a.pk, b.pk), (b.pk, a.pk)]
    assert hops(nodes, [a.pk], project=project, relations=[]) == []
    assert hops(nodes, [], project=project) == []


def test_distances_from_several_seeds_are_those_to_the_nearest(
    project, other_project, nodes, stranger, django_assert_num_queries
):
    made, _ = chain(project, 5)
    theirs, _ = chain(other_project, 2)
    seeds = [made[0].pk, made[4].pk, theirs[0].pk]
    with django_assert_num_queries(1):
        found = distances(nodes, seeds, project=project, depth=1)
    assert found == {
        made[0].pk: 0,
        made[1].pk: 1,
        made[3].pk: 1,
        made[4].pk: 0,
    }
    assert distances(nodes, [], project=project) == {}
    seen = Node.objects.visible_to(stranger)
    assert distances(seen, [made[0].pk], project=project) == {}


def test_hops_of_many_nodes_are_one_statement(
    project, nodes, django_assert_num_queries
):
    made, _ = chain(project, 5)
    with django_assert_num_queries(1):
        assert len(hops(nodes, [n.pk for n in made] * 2, project=project)) == 8


def test_hops_stay_in_their_project_and_with_their_user(
    project, other_project, nodes, stranger
):
    (a, b), _ = chain(project, 2)
    theirs, _ = chain(other_project, 2)
    both = [a.pk, theirs[0].pk]
    assert {hop.far for hop in hops(nodes, both, project=project)} == {b.pk}
    seen = Node.objects.visible_to(stranger)
    assert hops(seen, both, project=project) == []
    assert {hop.far for hop in hops(seen, both, project=other_project)} == {
        theirs[1].pk
    }


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
