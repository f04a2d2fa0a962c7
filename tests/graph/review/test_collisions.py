"""Two reviewers at the same moment, a death in the middle, and any order of acts."""

from __future__ import annotations

import threading

import pytest
from django.db import close_old_connections, connection
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from connections.models import Audit
from graph.models import Node, ReviewDecision, Tombstone, Trashed
from graph.review.deciding import Collision, consequences_of, decide
from graph.review.kinds import Decision, Verb
from graph.review.pruning import consequences, prune, restore
from tests.factories import make_edge, make_node
from tests.graph.review.queueing import decide_it, make_item, make_reviewer
from tests.graph.snapshots import snapshot


@pytest.mark.django_db(transaction=True)
def test_of_two_at_once_one_decides_and_the_other_hears_of_it(project):
    users = [make_reviewer(project, f"{name}@acme.test") for name in ("a", "b")]
    item = make_item(project)
    tokens = [consequences_of([item.pk], user).token for user in users]
    start, outcomes = threading.Barrier(2), []

    def act(user, token):
        try:
            start.wait(10)
            decision = Decision(verb=Verb.PRUNE, by=user, reason="So.", token=token)
            outcomes.append(decide(item.pk, decision, version=0))
        except Collision as error:
            outcomes.append(error)
        finally:
            connection.close()

    threads = [
        threading.Thread(target=act, args=pair)
        for pair in zip(users, tokens, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(type(each).__name__ for each in outcomes) == [
        "Collision",
        "ReviewDecision",
    ]
    assert ReviewDecision.objects.count() == 1
    assert Trashed.objects.count() == Tombstone.objects.count() == 1
    close_old_connections()


@pytest.mark.django_db
def test_a_death_in_the_middle_leaves_nothing(project, monkeypatch):
    rita = make_reviewer(project)
    item = make_item(project)
    before = snapshot(project)

    def die(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("graph.review.deciding._audit", die)
    with pytest.raises(KeyboardInterrupt):
        decide_it(item, Verb.PRUNE, rita)
    item.refresh_from_db()
    assert (item.state, item.version) == ("open", 0)
    assert snapshot(project) == before
    assert not Trashed.objects.exists()
    assert not Tombstone.objects.exists()
    assert not Audit.objects.filter(verb="node.pruned").exists()


@pytest.mark.django_db
@settings(
    max_examples=6,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(acts=st.lists(st.tuples(st.booleans(), st.integers(0, 3)), max_size=6))
def test_any_sequence_of_prunes_and_undos_leaves_what_is_not_pruned_as_it_was(
    project, acts
):
    rita = _world(project)
    nodes = {
        key: Node.objects.get(project=project, key=key) for key in ("a", "b", "c", "d")
    }
    before = snapshot(project)
    chosen: list[str] = []
    for is_prune, which in acts:
        key = "abcd"[which]
        node = Node.objects.get(pk=nodes[key].pk)
        if is_prune and node.trashed_at is None:
            token = consequences(project, [node.pk], rita).token
            prune(project, [node.pk], by=rita, reason="x", token=token)
            chosen.append(key)
        elif not is_prune and key in chosen:
            restore(project, [node.pk], by=rita)
            chosen.remove(key)
    hidden = set(Node.objects.of(project).exclude(trashed_at=None).values_list("key"))
    assert hidden == {(row.node.key,) for row in Trashed.objects.all()}
    assert set(chosen) <= {key for (key,) in hidden}
    assert Tombstone.objects.count() == len(hidden)
    if not chosen:
        assert hidden == set()
        assert snapshot(project) == before
    for key in chosen:
        restore(project, [nodes[key].pk], by=rita)
    assert snapshot(project) == before


def _world(project):
    """A whole with parts, and a neighbour; anew for each example."""
    Trashed.objects.all().delete()
    Tombstone.objects.all().delete()
    Node.objects.of(project).delete()
    project.sources.all().delete()
    a, b, c, d = (make_node(project, key, f"Words of {key}.") for key in "abcd")
    make_edge(b, a, "part_of")
    make_edge(c, b, "part_of")
    make_edge(d, a, "mentions", valid_from=timezone.now())
    found = project.memberships.filter(user__email="rita@acme.test").first()
    return found.user if found else make_reviewer(project)
