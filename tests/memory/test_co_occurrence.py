"""Edges between what is referenced together."""

from __future__ import annotations

import pytest

from graph.integrity import find_gaps
from graph.models import Edge
from memory.co_occurrence import DRIFT
from memory.models import Observation, ReferencedPair
from memory.observations import forget, share
from tests.factories import make_audience, make_node
from tests.memory.memories import kept
from tests.memory.test_endings import talk

pytestmark = pytest.mark.django_db


def edges():
    return {
        (e.source_id, e.target_id): round(e.weight, 6)
        for e in Edge.objects.filter(relation="co_occurs")
    }


def test_three_conversations_together_make_an_edge(project, member):
    one, other = kept(project, member, "One."), kept(project, member, "Other.")
    for _ in range(2):
        talk(project, member, one, other)
    assert edges() == {}
    talk(project, member, other, one)
    assert edges() == {(one.pk, other.pk): 1.0}
    assert find_gaps(project).edges == ()


def test_its_weight_is_together_over_either(project, member):
    one, other = kept(project, member, "One."), kept(project, member, "Other.")
    third = kept(project, member, "Third.")
    for _ in range(3):
        talk(project, member, one, other)
    talk(project, member, one)
    talk(project, member, other, third)
    assert edges() == {(one.pk, other.pk): 0.6}
    talk(project, member, third)
    assert edges() == {(one.pk, other.pk): 0.6}
    talk(project, member, one, other)
    assert edges() == {(one.pk, other.pk): round(4 / 6, 6)}


def test_its_audience_is_the_intersection_of_both(
    project, other_project, member, outsider, stranger
):
    closed = make_audience(project, "slack:P1", [member])
    hidden = make_node(project, "slack:P1:1.0", "Hidden words.", audience=closed)
    mine = kept(project, member, "Mine.")
    shared = kept(project, None, "Ours.")
    narrow = kept(project, None, "Hidden words.", hidden)
    for _ in range(3):
        talk(project, member, mine, shared, narrow)
    seen = {
        user: {
            (e.source_id, e.target_id)
            for e in Edge.objects.visible_to(user).filter(relation="co_occurs")
        }
        for user in (member, outsider, stranger)
    }
    assert len(seen[member]) == 3
    assert seen[outsider] == seen[stranger] == set()
    share(mine, by=member)
    now_seen = Edge.objects.visible_to(outsider).filter(relation="co_occurs")
    assert [(e.source_id, e.target_id) for e in now_seen] == [(mine.pk, shared.pk)]


def test_what_is_forgotten_takes_its_pairs_and_edges_along(project, member):
    one, other = kept(project, member, "One."), kept(project, member, "Other.")
    for _ in range(3):
        talk(project, member, one, other)
    forget(one, by=member)
    assert edges() == {}
    assert not ReferencedPair.objects.exists()
    talk(project, member, other)


def test_an_edge_is_written_again_only_once_its_weight_is_off(project, member):
    one, other = kept(project, member, "One."), kept(project, member, "Other.")
    for _ in range(3):
        talk(project, member, one, other)
    Edge.objects.filter(relation="co_occurs").update(weight=0.995)
    talk(project, member, one, other)
    assert edges() == {(one.pk, other.pk): 0.995}, "one percent is not worth a write"
    talk(project, member, one)
    assert edges() == {(one.pk, other.pk): 0.8}


def test_over_many_conversations_a_weight_stays_within_one_percent(project, member):
    nodes = [kept(project, member, text) for text in ("One.", "Other.", "Third.")]
    for number in range(1, 49):
        talk(project, member, *(n for k, n in enumerate(nodes, 1) if number % k == 0))
    rows = {(p.one_id, p.other_id): p.together for p in ReferencedPair.objects.all()}
    of = dict(Observation.objects.values_list("pk", "conversations"))
    found = edges()
    assert len(found) == 3
    for (a, b), weight in found.items():
        both = rows[a, b]
        assert weight == pytest.approx(both / (of[a] + of[b] - both), rel=DRIFT)
