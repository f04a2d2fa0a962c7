"""Walks beside a plain one in Python, over random small graphs."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise, permutations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graph.best_paths import best_paths, edge_price
from graph.models import Edge, Node
from graph.paths import distances, hops, nearest, shortest_paths
from graph.steps import Cut
from tests.factories import make_audience, make_node

pytestmark = pytest.mark.django_db
START = datetime(2026, 1, 1, tzinfo=UTC)
NODES = 6
EXAMPLES = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@dataclass(frozen=True)
class Drawn:
    """An edge as drawn: days of its times, None where it has none."""

    source: int
    target: int
    relation: str
    weight: int
    said: int | None
    begins: int | None
    ends: int | None
    is_closed: bool


# Mostly edges that may be walked, of few weights, so that recency has to decide.
bounds = st.sampled_from([None, None, None, None, 1, 3])
edges_drawn = st.lists(
    st.builds(
        Drawn,
        source=st.integers(0, NODES - 1),
        target=st.integers(0, NODES - 1),
        relation=st.sampled_from(["mentions", "mentions", "replied_to"]),
        weight=st.integers(0, 1),
        said=st.sampled_from([None, 0, 1, 2, 3]),
        begins=bounds,
        ends=bounds,
        is_closed=st.sampled_from([False, False, True]),
    ),
    min_size=5,
    max_size=18,
    unique_by=lambda edge: (edge.source, edge.target, edge.relation, edge.begins),
)
worlds = st.fixed_dictionaries(
    {
        "drawn": edges_drawn,
        "hidden": st.sets(st.integers(0, NODES - 1), max_size=2),
        "day": st.integers(0, 4),
        "fan_out": st.sampled_from([1, 2, 3, None]),
        "breadth": st.sampled_from([1, 2, 3, 5, None, None]),
        "relations": st.sampled_from([None, None, None, ["mentions"], []]),
    }
)


def day(number):
    return None if number is None else START + timedelta(days=number)


def rank(edge):
    """Order edges by weight, recency, id."""
    said = edge.occurred_at or START - timedelta(days=1)
    return -edge.weight, -said.timestamp(), edge.pk


class Naive:
    """The graph as one user sees it on a day, walked by loops."""

    def __init__(self, project, drawn, hidden, asked, closed, *, sees_closed):
        Edge.objects.of(project).delete()
        public = make_audience(project)
        self.nodes = list(Node.objects.of(project).order_by("pk")) or [
            make_node(project, f"n{number}") for number in range(NODES)
        ]
        for number, node in enumerate(self.nodes):
            node.audience = closed if number in hidden else public
        Node.objects.bulk_update(self.nodes, ["audience"])
        self.ids = [node.pk for node in self.nodes]
        self.edges = Edge.objects.bulk_create(
            Edge(
                tenant_id=project.tenant_id,
                project=project,
                audience=closed if edge.is_closed else public,
                source=self.nodes[edge.source],
                target=self.nodes[edge.target],
                relation=edge.relation,
                weight=edge.weight,
                occurred_at=day(edge.said),
                valid_from=day(edge.begins),
                valid_to=day(edge.ends),
            )
            for edge in drawn
        )
        self.seen = {
            node.pk
            for number, node in enumerate(self.nodes)
            if sees_closed or number not in hidden
        }
        self.asked, self.closed, self.sees_closed = asked, closed, sees_closed
        self.live = day(asked["day"])

    def may_walk(self, edge):
        names = self.asked["relations"]
        return (
            (self.sees_closed or edge.audience_id != self.closed.pk)
            and (names is None or edge.relation in names)
            and (edge.valid_from is None or edge.valid_from <= self.live)
            and (edge.valid_to is None or edge.valid_to > self.live)
            and {edge.source_id, edge.target_id} <= self.seen
        )

    def ways(self, node, forward):
        """Return the edges of a node in a direction, the best first, uncapped."""
        end = "source_id" if forward else "target_id"
        mine = [e for e in self.edges if getattr(e, end) == node and self.may_walk(e)]
        return sorted(mine, key=rank)

    def hops(self, node, fan_out):
        for forward in (True, False):
            for edge in self.ways(node, forward)[:fan_out]:
                yield (edge.target_id if forward else edge.source_id), edge, forward

    def walk(self, start, depth, fan_out, breadth):
        """Return the distances, and how many edges were walked from (node, forward)."""
        found, frontier = ({start: 0}, [start]) if start in self.seen else ({}, [])
        shown = Counter()
        for level in range(1, depth + 1):
            out = (
                (node, *hop) for node in frontier for hop in self.hops(node, fan_out)
            )
            walked = list(islice(out, breadth))
            shown.update((node, forward) for node, _, _, forward in walked)
            best = sorted(walked, key=lambda hop: rank(hop[2]))
            reached = dict.fromkeys(far for _, far, _, _ in best)
            frontier = [node for node in reached if node not in found]
            found |= dict.fromkeys(frontier, level)
        return found, shown

    def simple_paths(self, start, end, depth):
        """Return every path without a cap, as its edges, by trying all orders."""
        if start not in self.seen or end not in self.seen:
            return []
        between = [pk for pk in self.seen if pk not in (start, end)]
        joined = defaultdict(list)
        for node in self.seen:
            for far, edge, _ in self.hops(node, None):
                joined[node, far].append(edge)
        found = []
        for length in range(depth):
            for middle in permutations(between, length):
                stops = (start, *middle, end)
                ways = [()]
                for step in pairwise(stops):
                    ways = [(*way, edge) for way in ways for edge in joined[step]]
                found += [(stops, way) for way in ways]
        return found

    def cost(self, stops, edges):
        ties = sum(edge_price(e.weight, e.occurred_at, self.live) for e in edges)
        passed = (
            len(self.ways(n, True)) + len(self.ways(n, False)) for n in stops[1:-1]
        )
        return ties + sum(math.log(1 + number) for number in passed)


@pytest.fixture
def closed(project, member):
    make_audience(project)
    return make_audience(project, "G1", [member])


def world_of(project, closed, asked, user, member):
    return Naive(
        project,
        asked["drawn"],
        asked["hidden"],
        asked,
        closed,
        sees_closed=user == member,
    )


@pytest.fixture(params=["member", "outsider"])
def user(request):
    return request.getfixturevalue(request.param)


@EXAMPLES
@given(asked=worlds, depth=st.integers(0, 4))
def test_what_is_reached_is_what_a_plain_walk_reaches(
    project, member, user, closed, asked, depth
):
    naive = world_of(project, closed, asked, user, member)
    allowed = Node.objects.visible_to(user).current()
    caps = {"fan_out": asked["fan_out"], "breadth": asked["breadth"]}
    options = {"relations": asked["relations"], "as_of": naive.live, **caps}
    options |= {"project": project, "depth": depth}
    start = naive.ids[0]
    walked, shown = naive.walk(start, depth, **caps)
    reached = allowed.reachable_from([start], **options)
    assert set(reached.values_list("pk", flat=True)) == set(walked)
    assert distances(allowed, [start], **options) == walked
    around = nearest(allowed, start, limit=50, **options)
    assert {start: 0, **around.distances} == {start: 0, **walked}
    cut = {
        Cut(node, "out" if forward else "in", shown[node, forward], len(ways))
        for node, level in walked.items()
        for forward in (True, False)
        if level < depth
        and len(ways := naive.ways(node, forward)) > shown[node, forward]
    }
    assert set(around.cut) == cut
    assert around.is_complete is not bool(cut)


@EXAMPLES
@given(asked=worlds)
def test_hops_are_the_capped_edges_of_each_node(project, member, user, closed, asked):
    naive = world_of(project, closed, asked, user, member)
    given = hops(
        Node.objects.visible_to(user),
        naive.ids,
        project=project,
        relations=asked["relations"],
        as_of=naive.live,
        fan_out=asked["fan_out"],
    )
    expected = [
        (node, edge.target_id if forward else edge.source_id, edge.pk, forward)
        for node in naive.seen
        for forward in (True, False)
        for edge in naive.ways(node, forward)[: asked["fan_out"]]
    ]
    assert sorted((h.near, h.far, h.edge, h.forward) for h in given) == sorted(expected)


@EXAMPLES
@given(asked=worlds, depth=st.integers(1, 4))
def test_paths_are_those_that_trying_all_finds(
    project, member, user, closed, asked, depth
):
    naive = world_of(project, closed, asked, user, member)
    allowed = Node.objects.visible_to(user).current()
    start, end = naive.ids[:2]
    options = {
        "project": project,
        "depth": depth,
        "limit": 1000,
        "relations": asked["relations"],
        "as_of": naive.live,
        "fan_out": None,
    }
    every = naive.simple_paths(start, end, depth)
    best = best_paths(allowed, start, end, **options)
    costs = {
        (stops, tuple(e.pk for e in edges)): naive.cost(stops, edges)
        for stops, edges in every
    }
    assert {(path.nodes, path.edges) for path in best.paths} == set(costs)
    for path in best.paths:
        assert path.cost == pytest.approx(costs[path.nodes, path.edges])
    assert [p.cost for p in best.paths] == sorted(p.cost for p in best.paths)
    assert best.is_complete

    shortest = shortest_paths(allowed, start, end, **options)
    least = min((len(edges) for _, edges in every), default=0)
    assert {(path.nodes, path.edges) for path in shortest.paths} == {
        way for way in costs if len(way[1]) == least
    }
    few = best_paths(allowed, start, end, **{**options, "limit": 2})
    assert [p.cost for p in few.paths] == pytest.approx(sorted(costs.values())[:2])
    assert few.is_complete is (len(costs) <= 2)
