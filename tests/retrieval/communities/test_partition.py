"""RULE: what an audience may not see has no part in its communities."""

from __future__ import annotations

import graspologic_native
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.communities import partition as partitioning
from retrieval.communities.partition import (
    Links,
    communities_of,
    keep_names,
    links_by_audience,
    modularity,
    partition,
)
from retrieval.communities.reading import Graph


def graph_of(edges, audiences, edge_audiences=None):
    """A graph of (source, target) places, all weights 1."""
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
    count = len(audiences)
    return Graph(
        ids=np.arange(count, dtype=np.int64) + 100,
        audiences=np.array(audiences, dtype=np.int64),
        has_text=np.ones(count, dtype=bool),
        sources=ends[:, 0],
        targets=ends[:, 1],
        edge_audiences=np.array(edge_audiences or [1] * len(edges), dtype=np.int64),
        weights=np.ones(len(edges)),
    )


def clique(first, count):
    nodes = range(first, first + count)
    return [(a, b) for a in nodes for b in nodes if a < b]


def found_in(graph, readable, before=None):
    return [
        sorted(each.places.tolist())
        for links in links_by_audience(graph, readable)
        for each in communities_of(graph, links, partition(links, before or {}))
    ]


def test_two_cliques_with_one_edge_between_them_are_two_communities():
    graph = graph_of([*clique(0, 5), *clique(5, 5), (4, 5)], [1] * 10)
    assert found_in(graph, {1: [1]}) == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]


def test_a_hub_does_not_glue_what_has_nothing_else_in_common(monkeypatch):
    """Ten talks of twelve messages in one channel, which all of them are posted in."""
    talks = [(12 * t + n, 12 * t + n - 1) for t in range(10) for n in range(1, 12)]
    posted = [(n, 120) for n in range(120)]
    graph = graph_of([*talks, *posted], [1] * 121)
    damped = found_in(graph, {1: [1]})
    assert len(damped) >= 10
    assert max(map(len, damped)) <= 24
    monkeypatch.setattr(partitioning, "DAMPING", 0.0)
    assert max(map(len, found_in(graph, {1: [1]}))) > 24


def test_the_same_links_give_the_same_communities_in_any_order_of_rows():
    edges = [*clique(0, 5), *clique(5, 5), (4, 5), (0, 1), (3, 0)]
    wanted = found_in(graph_of(edges, [1] * 10), {1: [1]})
    assert found_in(graph_of(edges[::-1], [1] * 10), {1: [1]}) == wanted


def test_an_edge_or_an_end_of_another_audience_ties_nothing():
    # Places 4 and 5 are only tied through 10, which is of audience 2.
    edges = [*clique(0, 5), *clique(5, 5), (4, 10), (5, 10)]
    graph = graph_of(edges, [1] * 10 + [2])
    (links,) = [
        x for x in links_by_audience(graph, {1: [1], 2: [1, 2]}) if x.audience == 1
    ]
    assert 10 not in {*links.sources.tolist(), *links.targets.tolist()}
    hidden = graph_of([(0, 1), (1, 2), (0, 2)], [1] * 3, [1, 2, 1])
    (links,) = links_by_audience(hidden, {1: [1]})
    assert list(zip(links.sources.tolist(), links.targets.tolist(), strict=True)) == [
        (0, 1),
        (0, 2),
    ]


def test_what_all_may_see_ties_a_private_community_and_is_no_member_of_it():
    # 0 to 3 are private and each tied to 4, which is public, only.
    graph = graph_of([(0, 4), (1, 4), (2, 4), (3, 4)], [2, 2, 2, 2, 1])
    assert found_in(graph, {1: [1], 2: [1, 2]}) == [[0, 1, 2, 3]]


def test_a_public_node_that_ties_one_private_one_draws_it_nowhere():
    edges = [(0, 1), (1, 2), (2, 3), (0, 4), (1, 5), (2, 6), (3, 7)]
    graph = graph_of(edges, [2] * 4 + [1] * 4)
    (links,) = links_by_audience(graph, {2: [1, 2]})
    assert set(links.targets.tolist()) == {1, 2, 3}


def test_two_nodes_are_no_community():
    assert found_in(graph_of([(0, 1)], [1, 1]), {1: [1]}) == []


def test_the_best_connected_member_comes_first_with_centrality_one():
    graph = graph_of([(0, 1), (0, 2), (0, 3), (1, 2)], [1] * 4)
    (links,) = links_by_audience(graph, {1: [1]})
    (found,) = communities_of(graph, links, partition(links, {}))
    assert found.places[0] == 0
    assert found.centrality[0] == 1.0
    assert found.centrality.tolist() == sorted(found.centrality, reverse=True)
    assert found.places[-1] == 3


def test_repeats_and_directions_add_up_and_degrees_damp():
    graph = graph_of([(0, 1), (1, 0), (1, 2)], [1] * 3)
    (links,) = links_by_audience(graph, {1: [1]})
    assert links.weights.tolist() == pytest.approx([2 / 2**0.5, 1 / 2**0.5])


def test_modularity_is_that_of_the_library():
    edges = [*clique(0, 4), *clique(4, 4), (3, 4)]
    links = Links(
        1,
        np.array([a for a, _ in edges]),
        np.array([b for _, b in edges]),
        np.ones(len(edges)),
    )
    labels = np.array([0] * 4 + [1] * 4)
    theirs = graspologic_native.modularity(
        [(str(a), str(b), 1.0) for a, b in edges],
        {str(n): int(label) for n, label in enumerate(labels)},
    )
    assert modularity(links, labels, np.arange(8)) == pytest.approx(theirs)


def test_a_community_that_lost_and_won_some_members_keeps_its_name():
    before = dict.fromkeys(range(6), 7) | dict.fromkeys(range(6, 12), 8)
    now = [np.array([0, 1, 2, 3, 20]), np.array([4, 5, 6, 7, 8, 9, 10, 11])]
    assert keep_names(now, before) == [7, 8]


def test_of_two_halves_the_greater_keeps_the_name():
    before = dict.fromkeys(range(10), 7)
    assert keep_names([np.arange(4), np.arange(4, 10)], before) == [None, 7]


def test_a_community_that_shares_little_with_any_is_new():
    before = dict.fromkeys(range(10), 7)
    assert keep_names([np.array([0, 30, 31, 32])], before) == [None]


places_of = st.dictionaries(st.integers(0, 30), st.integers(1, 5))


@given(now=places_of, before=places_of)
def test_no_name_is_given_twice_and_what_did_not_change_keeps_its_own(now, before):
    def groups(by_place):
        return {
            name: sorted(p for p, n in by_place.items() if n == name)
            for name in set(by_place.values())
        }

    communities = [np.array(places) for places in groups(now).values()]
    names = keep_names(communities, before)
    given_names = [name for name in names if name is not None]
    assert len(given_names) == len(set(given_names))
    assert set(given_names) <= set(before.values())
    unchanged = keep_names([np.array(p) for p in groups(before).values()], before)
    assert unchanged == list(groups(before))


edges_of = st.lists(
    st.tuples(st.integers(0, 25), st.integers(0, 25)).filter(lambda e: e[0] != e[1]),
    min_size=1,
    max_size=80,
)


@given(edges=edges_of, before=st.dictionaries(st.integers(0, 25), st.integers(1, 4)))
def test_leiden_starts_from_whatever_was_there_and_leaves_no_node_out(edges, before):
    (links,) = links_by_audience(graph_of(edges, [1] * 26), {1: [1]})
    found = partition(links, before)
    assert set(found.places.tolist()) == {end for edge in edges for end in edge}
    again = partition(links, before)
    assert found.labels.tolist() == again.labels.tolist()


@given(edges=edges_of)
def test_pieces_are_what_edges_connect(edges):
    ends = np.array(edges)
    found = partitioning._pieces(26, ends[:, 0], ends[:, 1])
    groups = {n: {n} for n in range(26)}
    for first, second in edges:
        joined = groups[first] | groups[second]
        groups |= dict.fromkeys(joined, joined)
    for n in range(26):
        assert {m for m in range(26) if found[m] == found[n]} == groups[n]
