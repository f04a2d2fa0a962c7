"""Edges learn from the answers they led to: counted once, faded, within the project."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.conf import settings
from django.utils import timezone

from connections.models import Project, User
from connections.providers.base import ProviderError
from graph.embed import embed_backlog
from graph.learned_weights import learned_among, learned_weights
from graph.models import Edge, Node
from memory import edge_uses
from memory.edge_tasks import count_edge_uses, forget_edge_uses
from memory.edge_uses import count_turn, count_uses, edges_that_led, uses_among
from memory.models import EdgeUse, Turn
from retrieval.frequencies import count_lexemes
from tests.factories import NOON, make_audience, make_edge, make_node
from tests.memory.making import make_conversation

pytestmark = pytest.mark.django_db
DAYS = timedelta(days=1)


@pytest.fixture
def half_life() -> timedelta:
    return settings.FABRIC["EDGE_HALF_LIFE"] * DAYS


@pytest.fixture
def said(project: Project) -> list[Node]:
    """A question, an answer that has none of its words, and what came after."""
    texts = ("Who has the key of the cold store?", "Hollis, until noon.", "Thanks!")
    nodes = [make_node(project, f"m{n}", text) for n, text in enumerate(texts)]
    make_edge(nodes[1], nodes[0], "replied_to")
    make_edge(nodes[2], nodes[1], "follows")
    count_lexemes(project, always=True)
    embed_backlog(project.pk)
    return nodes


def uses(edge: Edge, now: datetime) -> float:
    found = uses_among(edge.project, [edge.source_id, edge.target_id], now)
    return next((each.uses for each in found if each.edge == edge.pk), 0.0)


def edge_between(one: Node, other: Node) -> Edge:
    return Edge.objects.get(source=one, target=other)


def test_uses_halve_with_every_half_life(
    project: Project, said: list[Node], half_life: timedelta
) -> None:
    edge = edge_between(said[1], said[0])
    assert count_uses(project, [edge.pk], at=NOON) == 1
    assert uses(edge, NOON) == pytest.approx(1)
    assert uses(edge, NOON + half_life) == pytest.approx(0.5)
    count_uses(project, [edge.pk], at=NOON + half_life)
    assert uses(edge, NOON + half_life) == pytest.approx(1.5)
    assert uses(edge, NOON + 2 * half_life) == pytest.approx(0.75)


def test_a_use_told_late_counts_as_if_it_had_been_told_in_time(
    project: Project, said: list[Node], half_life: timedelta
) -> None:
    early, late = edge_between(said[1], said[0]), edge_between(said[2], said[1])
    later = NOON + 30 * DAYS
    for edge, moments in ((early, (NOON, later)), (late, (later, NOON))):
        for moment in moments:
            count_uses(project, [edge.pk], at=moment)
    assert uses(late, later) == pytest.approx(uses(early, later))


def test_only_edges_of_the_project_are_counted(
    project: Project, other_project: Project, said: list[Node]
) -> None:
    edge = edge_between(said[1], said[0])
    assert count_uses(other_project, [edge.pk], at=NOON) == 0
    assert count_uses(project, [], at=NOON) == 0
    assert not EdgeUse.objects.exists()
    count_uses(project, [edge.pk], at=NOON)
    assert uses_among(other_project, [said[0].pk, said[1].pk], NOON) == []
    assert [row.edge for row in learned_among(project, [n.pk for n in said], NOON)] == [
        edge.pk
    ]
    assert "use" in learned_weights


def test_the_edges_that_led_are_those_of_the_shortest_way_to_what_was_cited(
    project: Project, said: list[Node], member: User
) -> None:
    first, second, third = (node.pk for node in said)
    near, far = edge_between(said[1], said[0]), edge_between(said[2], said[1])

    def led(seeds: list[int], cited: list[int]) -> set[int]:
        return set(edges_that_led(project, member, seeds=seeds, cited=cited))

    assert led([first], [second]) == {near.pk}
    assert led([first], [third]) == {near.pk, far.pk}
    assert led([first, second], [third]) == {far.pk}
    assert led([first], [first]) == set()
    assert led([], [third]) == set()


def test_no_edge_led_through_what_the_asker_may_not_see(
    project: Project, said: list[Node], member: User, outsider: User
) -> None:
    closed = make_audience(project, "slack:P1", [member])
    Node.objects.filter(pk=said[1].pk).update(audience=closed)
    asked = {"seeds": [said[0].pk], "cited": [said[2].pk]}
    assert len(edges_that_led(project, member, **asked)) == 2
    assert not edges_that_led(project, outsider, **asked)


def test_a_turn_counts_the_edge_to_what_words_alone_did_not_find_and_only_once(
    project: Project, said: list[Node], member: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edge_uses, "SEEDS", 1)
    talk = make_conversation(
        project, member, "Who has the key of the cold store?", cited=[said[1]]
    )
    turn = talk.turns.get()
    assert count_turn(turn) == 1
    assert count_turn(turn) == 0
    use = EdgeUse.objects.get()
    assert use.edge == edge_between(said[1], said[0])
    assert use.uses == 1.0
    count_edge_uses()
    assert EdgeUse.objects.get().uses == 1.0


def test_what_a_turn_walked_from_led_to_what_it_cited(
    project: Project, said: list[Node], member: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edge_uses, "text_hits", lambda *_, **__: [])
    talk = make_conversation(project, member, cited=[said[2]])
    calls = [{"name": "walk", "arguments": {"node": said[1].pk, "deep": True}}]
    talk.turns.update(calls=calls)
    assert count_turn(talk.turns.get()) == 1
    assert EdgeUse.objects.get().edge == edge_between(said[2], said[1])


def test_waiting_turns_are_counted_and_one_that_cannot_be_keeps_waiting(
    project: Project, said: list[Node], member: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        make_conversation(project, member, cited=[said[1]])
    first = Turn.objects.earliest("pk")
    asked = edge_uses.text_hits

    def fails_once(*args: object, **options: object) -> list[int]:
        monkeypatch.setattr(edge_uses, "text_hits", asked)
        raise ProviderError("no embedder")

    monkeypatch.setattr(edge_uses, "text_hits", fails_once)
    assert edge_uses.count_waiting() == 1
    waiting = Turn.objects.filter(uses_counted_at=None)
    assert [turn.pk for turn in waiting] == [first.pk]
    assert edge_uses.count_waiting() == 1
    assert not waiting.all().exists()
    Turn.objects.update(uses_counted_at=None, created_at=timezone.now() - 2 * DAYS)
    assert edge_uses.count_waiting() == 0


def test_counts_that_faded_away_go_and_an_edge_takes_its_own_with_it(
    project: Project, said: list[Node], half_life: timedelta
) -> None:
    near, far = edge_between(said[1], said[0]), edge_between(said[2], said[1])
    count_uses(project, [near.pk], at=timezone.now() - 10 * half_life)
    count_uses(project, [far.pk])
    forget_edge_uses()
    assert EdgeUse.objects.get().edge_id == far.pk
    Edge.objects.filter(pk=far.pk).delete()
    assert not EdgeUse.objects.exists()
