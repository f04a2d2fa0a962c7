"""One item, one decision, by one person."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.exceptions import PermissionDenied
from django.utils import timezone

from connections.models import Audit
from graph.models import Node, ReviewDecision, ReviewItem, Trashed
from graph.review.deciding import (
    Collision,
    NoSuchItem,
    NotDecidable,
    consequences_of,
    decide,
    decide_all,
    hold,
    release,
    undo,
)
from graph.review.errors import Unconfirmed
from graph.review.kinds import Decision, Verb
from tests.factories import make_audience, make_review_item
from tests.graph.review.queueing import (
    decide_it,
    make_claim,
    make_item,
    make_reviewer,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def rita(project):
    return make_reviewer(project)


@pytest.fixture
def rob(project):
    return make_reviewer(project, "rob@acme.test")


@pytest.fixture
def item(project):
    return make_item(project)


class TestVerbs:
    def test_keep_confirms_the_claim_and_an_undo_takes_that_back(self, item, rita):
        row = decide_it(item, Verb.KEEP, rita, reason="Still so.")
        item.refresh_from_db()
        assert (item.state, item.version, row.reason) == ("decided", 1, "Still so.")
        assert item.node.confirmed_at is not None
        undo(row.pk, rita)
        item.refresh_from_db()
        assert (item.state, item.version) == ("open", 2)
        assert Node.objects.get(pk=item.node_id).confirmed_at is None

    @pytest.mark.parametrize("verb", [Verb.KEEP, Verb.PRUNE])
    def test_what_confirms_or_removes_needs_a_reason(self, item, rita, verb):
        with pytest.raises(NotDecidable, match="reason"):
            decide_it(item, verb, rita, reason="  ")

    def test_prune_puts_it_in_the_trash_and_an_undo_takes_it_out(self, item, rita):
        row = decide_it(item, Verb.PRUNE, rita)
        assert Node.objects.get(pk=item.node_id).trashed_at is not None
        assert Trashed.objects.get().decision_id == row.pk
        undo(row.pk, rita)
        assert Node.objects.get(pk=item.node_id).trashed_at is None
        assert not Trashed.objects.exists()

    def test_prune_without_the_token_changes_nothing(self, item, rita):
        with pytest.raises(Unconfirmed) as caught:
            decide(
                item.pk,
                Decision(verb=Verb.PRUNE, by=rita, reason="Old."),
                version=0,
            )
        assert [going.node_id for going in caught.value.consequences.chosen] == [
            item.node_id
        ]
        assert not Trashed.objects.exists()
        assert not ReviewDecision.objects.exists()

    @pytest.mark.parametrize("days", [-1, 0, 400])
    def test_snooze_needs_a_day_to_come_within_a_year(self, item, rita, days):
        until = timezone.now() + timedelta(days=days)
        with pytest.raises(NotDecidable, match="at most a year"):
            decide_it(item, Verb.SNOOZE, rita, until=until)

    def test_a_snoozed_item_sleeps_until_then_and_an_undo_wakes_it(self, item, rita):
        until = timezone.now() + timedelta(days=3)
        row = decide_it(item, Verb.SNOOZE, rita, until=until)
        item.refresh_from_db()
        assert (item.state, item.snoozed_until) == ("snoozed", until)
        undo(row.pk, rita)
        item.refresh_from_db()
        assert (item.state, item.snoozed_until) == ("open", None)

    def test_it_is_assigned_to_a_reviewer_who_may_see_it_only(
        self, project, item, rita, rob, member
    ):
        row = decide_it(item, Verb.ASSIGN, rita, assignee=rob)
        item.refresh_from_db()
        assert (item.state, item.assigned_to) == ("open", rob)
        undo(row.pk, rita)
        item.refresh_from_db()
        assert item.assigned_to is None
        with pytest.raises(NotDecidable, match="may not decide the review queue"):
            decide_it(item, Verb.ASSIGN, rita, assignee=member)
        closed = make_audience(project, "closed", [rita])
        secret = make_review_item(
            project, make_claim(project, "decision:2", audience=closed)
        )
        with pytest.raises(NotDecidable, match="may not see"):
            decide_it(secret, Verb.ASSIGN, rita, assignee=rob)

    def test_edit_gives_new_words_and_an_undo_the_old_ones(self, project, rita):
        node = make_claim(project, origin="extraction", title="Pumps")
        item = make_review_item(project, node)
        row = decide_it(item, Verb.EDIT, rita, text="Pumps of Beta.", title="Pump")
        node.refresh_from_db()
        assert (node.title, node.content) == ("Pump", "Pumps of Beta.")
        assert node.confirmed_at is not None
        undo(row.pk, rita)
        node.refresh_from_db()
        assert (node.title, node.content) == ("Pumps", "We use pumps of Acme.")
        assert node.confirmed_at is None

    def test_a_sources_own_words_are_not_edited(self, item, rita):
        with pytest.raises(NotDecidable, match="source's own"):
            decide_it(item, Verb.EDIT, rita, text="Other.")

    def test_a_verb_of_another_kind_is_refused(self, item, rita):
        with pytest.raises(NotDecidable, match="there is no merge here, but keep"):
            decide_it(item, Verb.MERGE, rita)

    def test_every_verb_is_audited(self, item, rita):
        row = decide_it(item, Verb.KEEP, rita)
        undo(row.pk, rita)
        verbs = Audit.objects.filter(verb__startswith="review.")
        assert set(verbs.values_list("verb", "actor")) == {
            ("review.kept", rita.pk),
            ("review.undone", rita.pk),
        }


class TestWho:
    def test_a_member_without_the_role_is_refused(self, item, member):
        with pytest.raises(PermissionDenied, match="reviewer"):
            decide_it(item, Verb.KEEP, member)

    def test_what_is_closed_to_a_reviewer_is_not_there(self, project, rita):
        closed = make_audience(project, "closed")
        secret = make_item(project, audience=closed)
        other = make_review_item(project, secret.node, kind="orphan", audience=closed)
        with pytest.raises(NoSuchItem):
            decide(secret.pk, Decision(verb=Verb.KEEP, by=rita, reason="x"), version=0)
        with pytest.raises(NoSuchItem):
            hold(other.pk, rita)

    def test_a_stranger_finds_nothing(self, item, stranger):
        with pytest.raises(NoSuchItem):
            decide(
                item.pk, Decision(verb=Verb.KEEP, by=stranger, reason="x"), version=0
            )


class TestCollisions:
    def test_who_holds_it_is_named_to_the_other(self, item, rita, rob):
        hold(item.pk, rita)
        with pytest.raises(
            Collision, match=r"rita@acme\.test is at it until"
        ) as caught:
            decide_it(item, Verb.KEEP, rob)
        assert caught.value.by == "rita@acme.test"
        assert caught.value.until > timezone.now() + timedelta(minutes=9)
        with pytest.raises(Collision):
            hold(item.pk, rob)
        assert decide_it(item, Verb.KEEP, rita)

    def test_a_hold_ends_after_ten_minutes_or_when_it_is_released(
        self, item, rita, rob
    ):
        hold(item.pk, rita)
        release(item.pk, rob)
        item.refresh_from_db()
        assert item.held_by == rita
        release(item.pk, rita)
        assert hold(item.pk, rob).held_by == rob
        past = timezone.now() - timedelta(seconds=1)
        ReviewItem.objects.filter(pk=item.pk).update(held_until=past)
        assert hold(item.pk, rita).held_by == rita

    def test_what_was_decided_meanwhile_is_told_with_who_and_how(self, item, rita, rob):
        decide_it(item, Verb.KEEP, rita, reason="Asked Ann.")
        decision = Decision(verb=Verb.KEEP, by=rob, reason="x")
        with pytest.raises(
            Collision, match=r"rita@acme\.test was faster: it was kept on .*Asked Ann"
        ):
            decide(item.pk, decision, version=0)
        assert ReviewDecision.objects.count() == 1

    def test_a_changed_item_is_not_decided(self, item, rita):
        ReviewItem.objects.filter(pk=item.pk).update(version=5)
        with pytest.raises(Collision, match="changed since you saw it"):
            decide(item.pk, Decision(verb=Verb.KEEP, by=rita, reason="x"), version=4)

    def test_only_the_latest_decision_is_taken_back_and_once(self, item, rita, rob):
        first = decide_it(item, Verb.ASSIGN, rita, assignee=rob)
        second = decide_it(item, Verb.KEEP, rita)
        with pytest.raises(NotDecidable, match="decided again since"):
            undo(first.pk, rita)
        undo(second.pk, rita)
        with pytest.raises(Collision, match="took it back already"):
            undo(second.pk, rita)
        assert undo(first.pk, rita).undone_by == rita


class TestBulk:
    def test_each_is_decided_or_refused_with_the_reason(self, project, rita, rob):
        items = [make_item(project, f"decision:{n}") for n in range(4)]
        hold(items[1].pk, rob)
        decide_it(items[2], Verb.KEEP, rob)
        decision = Decision(verb=Verb.KEEP, by=rita, reason="All right.")
        bulk = decide_all([(each.pk, 0) for each in items], decision)
        assert [row.item_id for row in bulk.done] == [items[0].pk, items[3].pk]
        assert {row.batch for row in bulk.done} == {bulk.batch}
        assert set(bulk.refused) == {items[1].pk, items[2].pk}
        assert "is at it until" in bulk.refused[items[1].pk]
        assert "was faster" in bulk.refused[items[2].pk]

    def test_a_bulk_prune_is_confirmed_for_all_together(self, project, rita):
        items = [make_item(project, f"decision:{n}") for n in range(3)]
        chosen = [(each.pk, 0) for each in items]
        ids = [each.pk for each in items]
        decision = Decision(verb=Verb.PRUNE, by=rita, reason="Old.")
        with pytest.raises(Unconfirmed):
            decide_all(chosen, decision)
        token = consequences_of(ids[:2], rita).token
        with pytest.raises(Unconfirmed, match="has changed"):
            decide_all(
                chosen,
                Decision(verb=Verb.PRUNE, by=rita, reason="Old.", token=token),
            )
        token = consequences_of(ids, rita).token
        bulk = decide_all(
            chosen, Decision(verb=Verb.PRUNE, by=rita, reason="Old.", token=token)
        )
        assert (len(bulk.done), bulk.refused) == (3, {})
        assert Trashed.objects.count() == 3
        undo(bulk.done[1].pk, rita)
        assert Trashed.objects.count() == 2
