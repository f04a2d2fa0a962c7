"""Memory in the review: complaints, contradictions, what goes along, what relies."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from connections.models import Role
from graph.models import Node, ReviewItem
from graph.review.deciding import NotDecidable, consequences_of, decide, undo
from graph.review.kinds import Decision, Verb, finders
from graph.review.pruning import consequences, prune, purge_due, restore
from graph.review.reading import detail_of, queue_of, sizes_of
from memory.feedback import give_feedback, resolve, take_feedback_back
from memory.models import Feedback, Observation
from memory.observations import current
from memory.support import check_support
from tests.factories import make_audience, make_node, make_review_item
from tests.graph.review.queueing import decide_it, make_reviewer
from tests.memory.making import make_conversation
from tests.memory.memories import again, kept

pytestmark = pytest.mark.django_db
SAID = "The supplier Volta failed the audit."


@pytest.fixture
def rita(project):
    return make_reviewer(project)


@pytest.fixture
def turn(project, member):
    asked = make_conversation(project, member, "Who failed the audit?")
    return asked.turns.get()


@pytest.fixture
def message(project):
    return make_node(project, "slack:C1:1.0", SAID)


class TestFeedback:
    def test_a_complaint_is_an_item_once_and_a_good_word_none(self, turn, member):
        give_feedback(turn, member, "good")
        assert not ReviewItem.objects.exists()
        give_feedback(turn, member, "wrong", "It was Beta.")
        item = ReviewItem.objects.get()
        assert (item.kind, item.state) == ("feedback", "open")
        assert turn.question not in item.why + str(item.detail)
        give_feedback(turn, member, "good")
        item.refresh_from_db()
        assert item.state == "withdrawn"
        give_feedback(turn, member, "outdated")
        item.refresh_from_db()
        assert item.state == "open"
        take_feedback_back(turn, member)
        item.refresh_from_db()
        assert item.state == "withdrawn"

    def test_its_decision_resolves_it_and_an_undo_opens_both(
        self, project, turn, member, rita
    ):
        feedback = give_feedback(turn, member, "wrong")
        item = ReviewItem.objects.get()
        row = decide_it(item, Verb.KEEP, rita, reason="It was Volta.")
        feedback.refresh_from_db()
        assert (feedback.state, feedback.resolved_by) == ("resolved", rita)
        undo(row.pk, rita)
        feedback.refresh_from_db()
        item.refresh_from_db()
        assert (feedback.state, item.state) == ("open", "open")

    def test_resolving_it_elsewhere_closes_the_item(self, turn, member, rita):
        feedback = give_feedback(turn, member, "wrong")
        assert resolve(feedback, rita, "Looked into.")
        item = ReviewItem.objects.get()
        assert (item.state, item.decisions.get().decided_by) == ("decided", rita)
        assert not resolve(feedback, rita, "Again.")
        assert item.decisions.count() == 1

    def test_who_decides_it_is_shown_the_question(self, turn, member, rita):
        give_feedback(turn, member, "wrong", "It was Beta.")
        item = ReviewItem.objects.select_related("project__tenant").get()
        facts = dict(detail_of(item, rita).facts)
        assert facts["question"] == turn.question
        assert facts["note"] == "It was Beta."

    def test_the_finder_finds_what_is_open(self, project, other_project, turn, member):
        feedback = give_feedback(turn, member, "wrong")
        (found,) = finders["feedback"](project, timezone.now())
        item = ReviewItem.objects.get()
        assert (found.subject, found.fingerprint) == (item.subject, item.fingerprint)
        assert list(finders["feedback"](other_project, timezone.now())) == []
        Feedback.objects.filter(pk=feedback.pk).update(state="resolved")
        assert list(finders["feedback"](project, timezone.now())) == []


class TestPruning:
    def test_what_rests_on_it_alone_goes_along_and_comes_back(
        self, project, member, rita, message
    ):
        other = make_node(project, "slack:C1:2.0", SAID)
        alone = kept(project, None, "Volta failed.", message)
        both = kept(project, None, "The audit was failed.", message, other)
        by_hand = kept(project, None, "Volta is our supplier.", message, origin="hand")
        found = consequences(project, [message.pk], rita)
        assert {g.node_id for g in found.along} == {alone.pk}
        stays = {r.name: r.count for r in found.reliances}
        assert stays["memories that rest on it too"] == 2
        prune(project, [message.pk], by=rita, reason="x", token=found.token)
        check_support(project)
        held = set(current(project, member).values_list("pk", flat=True))
        assert held == {both.pk, by_hand.pk}
        restore(project, [message.pk], by=rita)
        check_support(project)
        held = set(current(project, member).values_list("pk", flat=True))
        assert held == {alone.pk, both.pk, by_hand.pk}

    def test_purged_observations_are_gone_and_what_they_superseded_leaves(
        self, project, rita, message
    ):
        alone = kept(project, None, "Volta failed.", message)
        older = kept(project, None, "Volta passed.")
        Observation.objects.filter(pk=older.pk).update(superseded_by=alone.pk)
        token = consequences(project, [message.pk], rita).token
        prune(project, [message.pk], by=rita, reason="x", token=token)
        purge_due(timezone.now() + timedelta(days=31))
        assert not Observation.objects.filter(pk=alone.pk).exists()
        assert not Node.objects.filter(pk=alone.pk).exists()
        assert again(older).left_because == "superseded"

    def test_answers_that_cite_it_are_counted_as_the_reader_may_see_them(
        self, project, member, rita, message
    ):
        make_conversation(project, member, "Theirs?", cited=[message])
        make_conversation(project, rita, "Mine?", cited=[message])
        found = consequences(project, [message.pk], rita)
        cited = next(r for r in found.reliances if r.name == "answers that cite it")
        assert (cited.count, cited.hidden, found.hidden) == (1, 1, 1)
        assert cited.examples[0][0] == "Mine?"


class TestContradictions:
    @pytest.fixture
    def item(self, project):
        one, two = (kept(project, None, f"Volta {w}.").node for w in ("won", "lost"))
        audience = make_audience(project)
        return make_review_item(
            project, one, kind="contradiction", other=two, audience=audience
        )

    def test_the_one_that_does_not_hold_is_pruned(self, project, rita, item):
        into = item.node_id
        token = consequences_of([item.pk], rita, into=into).token
        decision = Decision(
            verb=Verb.PRUNE, by=rita, reason="So.", token=token, into=into
        )
        row = decide(item.pk, decision, version=0)
        gone = Node.objects.filter(trashed_at__isnull=False)
        assert list(gone.values_list("pk", flat=True)) == [item.other_id]
        undo(row.pk, rita)
        assert not gone.exists()

    def test_an_edit_corrects_it_where_memory_lets_the_reviewer(
        self, project, rita, item
    ):
        with pytest.raises(Exception, match="not in a memory that you may change"):
            decide_it(item, Verb.EDIT, rita, text="Volta drew.")
        rita.is_staff = True
        rita.save()
        Observation.objects.update(is_shared=True)
        row = decide_it(item, Verb.EDIT, rita, text="Volta drew.")
        assert Node.objects.get(pk=item.node_id).content == "Volta drew."
        undo(row.pk, rita)
        assert Node.objects.get(pk=item.node_id).content == "Volta won."
        with pytest.raises(NotDecidable, match="has a text and no title"):
            decide_it(item, Verb.EDIT, rita, title="Volta")


def test_sizes_are_of_what_one_may_decide(project, other_project, rita, member, turn):
    give_feedback(turn, member, "wrong")
    secret = make_audience(project, "closed", [member])
    make_review_item(project, kind="stale", audience=secret)
    make_review_item(other_project, kind="stale")
    sizes = {size.kind: size.open for size in sizes_of(rita)}
    assert sizes["feedback"] == 1
    assert sizes["stale"] == 0
    assert {size.open for size in sizes_of(member)} == {0}
    project.memberships.filter(user=member).update(role=Role.REVIEWER)
    assert queue_of(member, kind="stale").count() == 1
