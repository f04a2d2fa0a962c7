"""Of a level of a walk only so many edges are walked, out of the best nodes first."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from itertools import chain

import pytest
from django.db import connection
from django.utils import timezone

from graph import paths, walk_sql
from graph.models import Edge, Node
from graph.paths import distances, nearest, shortest_paths
from graph.steps import Cut, Terms
from tests.factories import make_audience, make_edge, make_node

pytestmark = pytest.mark.django_db
START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def fan(project):
    """A start with three branches of weights 1 to 3, with two leaves each."""
    start = make_node(project, "start")
    branches = [make_node(project, f"branch{number}") for number in range(3)]
    leaves = []
    for number, branch in enumerate(branches):
        make_edge(start, branch, weight=number + 1)
        leaves.append([make_node(project, f"leaf{number}{i}") for i in range(2)])
        for leaf in leaves[-1]:
            make_edge(branch, leaf)
    return start, branches, leaves


def walked(nodes, start, project, **options):
    """Return the distances, the same by every way of walking."""
    options = {"project": project, "depth": 2, **options}
    found = distances(nodes, [start.pk], **options)
    reached = nodes.reachable_from([start.pk], **options)
    assert set(reached.values_list("pk", flat=True)) == set(found)
    around = nearest(nodes, start.pk, limit=100, **options)
    assert {**around.distances, **dict.fromkeys([start.pk] * bool(found), 0)} == found
    return set(found)


def pks(*rows):
    return {row.pk for row in rows}


def test_a_level_goes_on_from_the_nodes_that_the_best_edges_led_to(fan, project):
    start, branches, leaves = fan
    nodes = Node.objects.of(project)
    # Each branch has three edges: two to its leaves and the one that led there.
    found = walked(nodes, start, project, breadth=3)
    assert found == pks(start, *branches, *leaves[2])
    found = walked(nodes, start, project, breadth=6)
    assert found == pks(start, *branches, *leaves[2], *leaves[1])
    everything = pks(start, *branches, *chain(*leaves))
    assert walked(nodes, start, project, breadth=None) == everything
    assert walked(nodes, start, project) == everything


def test_of_equal_weight_the_latest_is_gone_on_from(fan, project):
    start, branches, leaves = fan
    nodes = Node.objects.of(project)
    for day, branch in zip((2, None, 1), branches, strict=True):
        said = None if day is None else START + timedelta(days=day)
        Edge.objects.filter(target=branch).update(weight=1, occurred_at=said)
    found = walked(nodes, start, project, breadth=3)
    assert found == pks(start, *branches, *leaves[0])
    found = walked(nodes, start, project, breadth=6)
    assert found == pks(start, *branches, *leaves[0], *leaves[2])


def test_what_the_breadth_left_out_is_told(fan, project):
    start, branches, _ = fan
    nodes = Node.objects.of(project)
    options = {"project": project, "depth": 2, "limit": 100}
    around = nearest(nodes, start.pk, breadth=4, **options)
    # Of the second best branch the first of two edges was walked, of the last none.
    assert set(around.cut) == {
        Cut(branches[1].pk, "out", 1, 2),
        Cut(branches[1].pk, "in", 0, 1),
        Cut(branches[0].pk, "out", 0, 2),
        Cut(branches[0].pk, "in", 0, 1),
    }
    assert not around.is_complete
    whole = nearest(nodes, start.pk, breadth=9, **options)
    assert (whole.cut, whole.is_complete) == ((), True)


def test_more_than_are_named_are_told_as_left_out(fan, project, monkeypatch):
    monkeypatch.setattr(paths, "LEFT_NAMED", 1)
    start, branches, _ = fan
    around = nearest(
        Node.objects.of(project), start.pk, project=project, depth=2, limit=9, breadth=3
    )
    assert {cut.node_id for cut in around.cut} <= {branches[1].pk, branches[2].pk}
    assert not around.is_complete


def test_a_search_for_paths_tells_what_its_breadth_left_out(fan, project, monkeypatch):
    monkeypatch.setattr(paths, "MOST_HOPS", 2)
    start, _, leaves = fan
    nodes = Node.objects.of(project)
    found = shortest_paths(nodes, start.pk, leaves[0][0].pk, project=project)
    assert Cut(start.pk, "out", 2, 3) in found.cut
    assert not found.is_complete


class TestOfThreeUsers:
    """What may not be seen takes no place of a level, and is not counted as left out."""

    @pytest.fixture(params=["node", "edge"])
    def closed(self, request, fan, project, member):
        """The best branch, or the way to it, is closed to the outsider."""
        start, branches, _ = fan
        audience = make_audience(project, "G1", [member])
        if request.param == "node":
            Node.objects.filter(pk=branches[2].pk).update(audience=audience)
        else:
            way = Edge.objects.filter(source=start, target=branches[2])
            way.update(audience=audience)

    def test_a_level_has_the_best_of_what_each_may_see(
        self, fan, closed, project, member, outsider, stranger
    ):
        start, branches, leaves = fan
        seen = {user: Node.objects.visible_to(user) for user in (member, outsider)}
        found = walked(seen[member], start, project, breadth=3)
        assert found == pks(start, *branches, *leaves[2])
        found = walked(seen[outsider], start, project, breadth=3)
        assert found == pks(start, *branches[:2], *leaves[1])
        nothing = Node.objects.visible_to(stranger)
        assert walked(nothing, start, project, breadth=3) == set()

    def test_an_operator_walks_as_one_who_sees_everything(
        self, fan, closed, project, member
    ):
        start = fan[0]
        for breadth in (1, 2, 4, 6, None):
            operator = walked(Node.objects.of(project), start, project, breadth=breadth)
            theirs = Node.objects.visible_to(member)
            assert walked(theirs, start, project, breadth=breadth) == operator

    def test_only_what_each_may_see_is_told_as_left_out(
        self, fan, closed, project, member, outsider, stranger
    ):
        start = fan[0]
        totals = {member: {(start.pk, 1, 3)}, outsider: {(start.pk, 1, 2)}}
        for user in (member, outsider, stranger):
            nodes = Node.objects.visible_to(user)
            around = nearest(
                nodes, start.pk, project=project, depth=1, limit=9, breadth=1
            )
            told = {(cut.node_id, cut.shown, cut.total) for cut in around.cut}
            assert told == totals.get(user, set())


@pytest.mark.parametrize("gone", ["trashed", "ended"])
def test_what_is_gone_takes_no_place_of_a_level(gone, fan, project):
    start, branches, leaves = fan
    now = timezone.now()
    if gone == "trashed":
        Node.objects.filter(pk=branches[2].pk).update(trashed_at=now)
    else:
        Edge.objects.filter(target=branches[2]).update(valid_to=now)
    found = walked(Node.objects.of(project).current(), start, project, breadth=3)
    assert found == pks(start, *branches[:2], *leaves[1])


@pytest.mark.parametrize(("breadth", "walked_from"), [(45, 41), (5, 6)])
def test_nodes_after_the_end_of_a_level_are_not_looked_at(
    breadth, walked_from, project
):
    hub = make_node(project, "hub")
    for number in range(40):
        make_edge(hub, make_node(project, f"of the hub {number}"))
    text, params = Node.objects.of(project).values("pk").query.sql_with_params()
    terms = Terms.of(project, None, None, 50, breadth)
    explained = f"EXPLAIN (ANALYZE, FORMAT JSON) {walk_sql.DISTANCES}"
    values = (*params, [hub.pk], *terms.of_level(None), 2)
    with connection.cursor() as cursor:
        cursor.execute(explained.format(allowed=text), values)
        (plan,) = cursor.fetchone()
    plan = json.loads(plan) if isinstance(plan, str) else plan
    assert looked_at(plan[0]["Plan"]) in (2 * walked_from, 2 * walked_from - 1)


def looked_at(plan):
    """Return how often edges of a node were looked for, each way."""
    own = plan["Actual Loops"] if plan.get("Relation Name") == "graph_edges" else 0
    return own + sum(looked_at(below) for below in plan.get("Plans", ()))


def test_a_breadth_of_nothing_is_an_error(project):
    with pytest.raises(ValueError, match="breadth is at least 1, not 0"):
        distances(Node.objects.of(project), [1], project=project, breadth=0)
    with pytest.raises(ValueError, match="breadth is at least 1, not 0"):
        nearest(
            Node.objects.of(project), 1, project=project, depth=1, limit=1, breadth=0
        )
