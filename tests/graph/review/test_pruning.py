"""What a prune takes along, what relies on it, and that nothing of it is lost."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core import signing
from django.core.exceptions import PermissionDenied
from django.utils import timezone

from graph.extraction import extract_texts
from graph.models import Edge, Node, Record, ReviewItem, Tombstone, Trashed
from graph.review.confirming import AT_ONCE, confirm_again
from graph.review.errors import NoSuchItem, Unconfirmed
from graph.review.pruning import consequences, prune, purge_due, restore
from tests.factories import (
    draft_account,
    draft_channel,
    draft_message,
    make_audience,
    make_edge,
    make_node,
    make_review_item,
    take_in,
)
from tests.graph.review.queueing import make_claim, make_reviewer
from tests.graph.snapshots import snapshot

pytestmark = pytest.mark.django_db

SAID = draft_message("1.000001", "We decided to use Redis. Redis is fast.")
ALSO = draft_message("2.000001", "Redis again, and Kafka.")


@pytest.fixture
def rita(project):
    return make_reviewer(project)


@pytest.fixture
def talk(project):
    """Two messages, with what is read out of them."""
    take_in(project, draft_account(), draft_channel(), SAID, ALSO)
    extract_texts(project)
    return Node.objects.get(key="slack:C1:1.000001")


def pruned(project, nodes, by, **more):
    token = consequences(project, nodes, by).token
    return prune(project, nodes, by=by, reason="Old.", token=token, **more)


def live_keys(project):
    rows = Node.objects.of(project).current().filter(valid_to=None)
    return set(rows.values_list("key", flat=True))


def decisions(project):
    rows = Node.objects.of(project).filter(node_type="decision")
    return list(rows.filter(trashed_at=None, valid_to=None))


class TestConsequences:
    def test_parts_go_along_and_parts_of_something_else_stay(self, project, rita):
        whole, other = (make_node(project, k, node_type="file") for k in ("f", "g"))
        own, shared, deep = (
            make_node(project, k, "x", node_type="section")
            for k in ("f#1", "f#2", "f#3")
        )
        for part in (own, shared):
            make_edge(part, whole, "part_of")
        make_edge(shared, other, "part_of")
        make_edge(deep, own, "part_of")
        found = consequences(project, [whole.pk], rita)
        assert [g.node_id for g in found.chosen] == [whole.pk]
        assert {g.node_id for g in found.along} == {own.pk, deep.pk}
        assert found.edges == 3
        assert [(r.name, r.count) for r in found.reliances] == [
            ("ties to what stays", 1)
        ]

    def test_a_claim_goes_with_its_only_text_and_a_name_of_two_stays(
        self, project, rita, talk
    ):
        (decision,) = decisions(project)
        found = consequences(project, [talk.pk], rita)
        assert {g.key for g in found.along} == {decision.key}
        proofs = [r for r in found.reliances if "proofs" in r.name]
        assert [(r.count, r.examples[0][0]) for r in proofs] == [(1, "Redis")]

    def test_what_a_reader_may_not_see_is_counted_and_not_named(self, project, rita):
        closed = make_audience(project, "closed")
        node = make_node(project, "a")
        secret = make_node(project, "b", audience=closed)
        make_edge(node, secret, audience=closed)
        part = make_node(project, "c", audience=closed, node_type="section")
        make_edge(part, node, "part_of")
        found = consequences(project, [node.pk], rita)
        assert (list(found.along), found.reliances[0].count, found.hidden) == ([], 0, 2)

    def test_nothing_of_another_tenant_is_counted(
        self, project, other_project, rita, talk
    ):
        before = consequences(project, [talk.pk], rita)
        take_in(other_project, draft_account(), draft_channel(), SAID, ALSO)
        after = consequences(project, [talk.pk], rita)
        assert (before.along, before.edges, before.reliances) == (
            after.along,
            after.edges,
            after.reliances,
        )
        theirs = Node.objects.of(other_project).get(key=talk.key)
        with pytest.raises(NoSuchItem):
            consequences(project, [theirs.pk], rita)

    def test_a_member_without_the_role_and_a_stranger_are_refused(
        self, project, talk, member, stranger
    ):
        for user in (member, stranger):
            with pytest.raises(PermissionDenied):
                consequences(project, [talk.pk], user)
            with pytest.raises(PermissionDenied):
                prune(project, [talk.pk], by=user, reason="x", token="x")


class TestConfirming:
    def test_a_token_is_of_one_state_one_person_and_half_an_hour(
        self, project, rita, monkeypatch
    ):
        node, far = make_claim(project), make_node(project, "far")
        token = consequences(project, [node.pk], rita).token
        rob = make_reviewer(project, "rob@acme.test")
        with pytest.raises(Unconfirmed, match="has changed"):
            prune(project, [node.pk], by=rob, reason="x", token=token)
        make_edge(far, node)
        with pytest.raises(Unconfirmed, match="has changed") as caught:
            prune(project, [node.pk], by=rita, reason="x", token=token)
        now = signing.time.time
        fresh = caught.value.consequences.token
        monkeypatch.setattr(signing.time, "time", lambda: now() + 1801)
        with pytest.raises(Unconfirmed, match="older than half an hour"):
            prune(project, [node.pk], by=rita, reason="x", token=fresh)
        monkeypatch.undo()
        for wrong in ("", "x", token[:-1]):
            with pytest.raises(Unconfirmed):
                prune(project, [node.pk], by=rita, reason="x", token=wrong)
        assert not Trashed.objects.exists()
        assert not Tombstone.objects.exists()
        assert prune(project, [node.pk], by=rita, reason="x", token=fresh)

    def test_more_than_fifty_are_confirmed_twice(self, project, rita):
        nodes = [make_claim(project, f"decision:{n}").pk for n in range(AT_ONCE + 1)]
        first = consequences(project, nodes, rita)
        assert first.asks_again
        with pytest.raises(Unconfirmed, match="confirmed twice"):
            prune(project, nodes, by=rita, reason="x", token=first.token)
        second = confirm_again(project, nodes, rita, first.token)
        assert len(prune(project, nodes, by=rita, reason="x", token=second.token)) == 51


class TestTrash:
    def test_it_is_left_out_by_reads_and_comes_back_as_it_was(
        self, project, rita, talk
    ):
        before = snapshot(project), live_keys(project)
        (decision,) = decisions(project)
        item = make_review_item(project, decision)
        rows = pruned(project, [talk.pk], rita)
        assert {row.node_id for row in rows} == {talk.pk, decision.pk}
        assert {talk.key, decision.key}.isdisjoint(live_keys(project))
        item.refresh_from_db()
        assert item.state == "withdrawn"
        assert set(restore(project, [talk.pk], by=rita)) == {talk.pk, decision.pk}
        assert (snapshot(project), live_keys(project)) == before
        item.refresh_from_db()
        assert (item.state, item.detail) == ("open", {})

    def test_reading_again_leaves_it_in_the_trash_and_loses_nothing(
        self, project, rita, talk
    ):
        before = snapshot(project)
        keys = live_keys(project)
        pruned(project, [talk.pk], rita)
        gone = keys - live_keys(project)
        assert len(gone) == 2
        take_in(project, SAID, ALSO, draft_message("3.000001", "Redis, once more."))
        extract_texts(project)
        assert gone.isdisjoint(live_keys(project))
        restore(project, [talk.pk], by=rita)
        assert keys <= live_keys(project)
        after = snapshot(project)
        assert {k: after["nodes"][k] for k in gone} == {
            k: before["nodes"][k] for k in gone
        }
        assert before["evidence"] <= after["evidence"]
        assert before["edges"].keys() <= after["edges"].keys()

    def test_other_words_of_its_source_bring_it_back(self, project, rita, talk):
        pruned(project, [talk.pk], rita)
        take_in(project, draft_message("1.000001", "We decided on Valkey.", version=1))
        talk.refresh_from_db()
        assert (talk.trashed_at, talk.content) == (None, "We decided on Valkey.")
        assert not Trashed.objects.exists()
        assert not Tombstone.objects.exists()

    def test_what_went_with_another_comes_with_whichever_says_it(
        self, project, rita, talk
    ):
        second = Node.objects.get(key="slack:C1:2.000001")
        redis = Node.objects.get(key="Redis")
        pruned(project, [talk.pk], rita)
        pruned(project, [second.pk], rita)
        redis.refresh_from_db()
        assert redis.trashed_at is not None
        restore(project, [talk.pk], by=rita)
        redis.refresh_from_db()
        assert redis.trashed_at is None

    def test_what_somebody_may_not_see_is_not_put_back_by_them(
        self, project, rita, talk
    ):
        pruned(project, [talk.pk], rita)
        closed = make_audience(project, "closed")
        Trashed.objects.update(audience=closed)
        with pytest.raises(NoSuchItem):
            restore(project, [talk.pk], by=rita)


class TestPurge:
    def test_after_thirty_days_it_is_gone_with_all_that_it_led_to(
        self, project, rita, talk
    ):
        (decision,) = decisions(project)
        pruned(project, [talk.pk], rita)
        assert purge_due(timezone.now() + timedelta(days=29)) == 0
        assert purge_due(timezone.now() + timedelta(days=31)) == 2
        assert not Node.objects.filter(pk__in=[talk.pk, decision.pk]).exists()
        assert not Record.objects.filter(key=talk.key).exists()
        assert not Trashed.objects.exists()
        left = set(Tombstone.objects.values_list("key", flat=True))
        assert left == {talk.key, decision.key}
        assert "Redis" in live_keys(project)
        assert not Edge.objects.filter(source_id=talk.pk).exists()

    def test_no_source_brings_it_back_unless_it_says_something_else(
        self, project, rita, talk
    ):
        (decision,) = decisions(project)
        pruned(project, [talk.pk], rita)
        purge_due(timezone.now() + timedelta(days=31))
        after = live_keys(project)
        take_in(project, SAID, ALSO)
        extract_texts(project)
        assert live_keys(project) == after
        take_in(project, draft_message("1.000001", "We use Kafka.", version=1))
        assert talk.key in live_keys(project)
        assert decision.key not in live_keys(project)

    def test_a_second_purge_finds_nothing(self, project, rita, talk):
        pruned(project, [talk.pk], rita)
        later = timezone.now() + timedelta(days=31)
        assert (purge_due(later), purge_due(later)) == (2, 0)


def test_pruned_items_about_other_nodes_stay_open(project, rita):
    one, two = make_claim(project), make_claim(project, "decision:2")
    make_review_item(project, two)
    pruned(project, [one.pk], rita)
    assert ReviewItem.objects.get().state == "open"
