"""Observations in search: every arm, three users."""

from __future__ import annotations

import pytest

from graph.embed import embed_backlog
from graph.models import Edge, Node
from memory.observations import share
from retrieval.arms.base import Plan
from retrieval.frequencies import count_lexemes
from retrieval.profiles import Profile, profiles
from retrieval.search import search
from tests.factories import make_audience, make_node
from tests.memory.memories import again, kept

pytestmark = pytest.mark.django_db

SAID = "The supplier Volta failed the audit of the batteries."
QUESTION = "Which supplier failed the audit of the batteries?"
ARMS = {
    "keyword": {"keyword": Plan()},
    "vector": {"vector": Plan()},
    "walk": {"keyword": Plan(), "vector": Plan(), "walk": Plan()},
}


@pytest.fixture
def remembered(project, other_project, member, stranger):
    """One thing of the member's own, one that is shared but rests on a closed channel,
    and one of another tenant."""
    closed = make_audience(project, "slack:P1", [member])
    opened = make_node(project, "slack:C1:1.0", SAID)
    hidden = make_node(project, "slack:P1:1.0", SAID, audience=closed)
    foreign = make_node(other_project, "slack:C1:1.0", SAID)
    found = {
        "own": kept(project, member, f"{SAID} We look for another.", opened),
        "narrow": kept(project, None, f"{SAID} It was dear.", hidden),
        "foreign": kept(other_project, stranger, SAID, foreign),
    }
    for one in (project, other_project):
        count_lexemes(one, always=True)
        embed_backlog(one.pk)
    return found


def hits(project, user, arm, monkeypatch):
    recipe = Profile(name="one arm", arms=ARMS[arm])
    monkeypatch.setitem(profiles, "one arm", recipe)
    answer = search(project, QUESTION, user=user, profile="one arm")
    return {r.node_id: r for r in answer.results if arm in r.contributions}


@pytest.mark.parametrize("arm", ARMS)
def test_each_user_finds_their_memory_beside_the_graph(
    arm, project, member, outsider, stranger, remembered, monkeypatch
):
    own, narrow = remembered["own"], remembered["narrow"]
    found = hits(project, member, arm, monkeypatch)
    assert {own.pk, narrow.pk} <= found.keys()
    assert (found[own.pk].store, found[own.pk].id) == ("memory", f"memory:{own.pk}")
    assert {"graph", "memory"} == {result.store for result in found.values()}
    others = hits(project, outsider, arm, monkeypatch)
    assert others
    assert {r.store for r in others.values()} == {"graph"}
    assert hits(project, stranger, arm, monkeypatch) == {}
    share(again(own), by=member)
    assert own.pk in hits(project, outsider, arm, monkeypatch)
    assert narrow.pk not in hits(project, outsider, arm, monkeypatch)
    assert hits(project, stranger, arm, monkeypatch) == {}


def test_a_walk_goes_from_what_was_cited_to_what_was_learned_for_those_who_may(
    project, member, outsider, remembered
):
    own = remembered["own"]
    cited = Edge.objects.get(source=own.node, relation="supported_by").target_id

    def reached(user):
        nodes = Node.objects.visible_to(user).current()
        return set(
            nodes.reachable_from([own.pk], project=project).values_list("pk", flat=True)
        )

    assert reached(member) >= {own.pk, cited}
    assert reached(outsider) == set()


def test_what_is_superseded_is_found_only_as_of_then(project, member):
    older = kept(project, member, "The launch of Volta is in May.", subject="launch")
    newer = kept(project, member, "The launch of Volta is in June.", subject="launch")
    found = search(project, "When is the launch of Volta?", user=member).results
    assert [r.node_id for r in found] == [newer.pk]
    assert older.pk != newer.pk
