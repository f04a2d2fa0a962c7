"""Doubtful edges, and two that may be one."""

from __future__ import annotations

import pytest

from graph.extraction import extract_texts
from graph.merging import MergeRefused, resolved
from graph.models import (
    Edge,
    Evidence,
    Identity,
    IdentityDecision,
    Node,
    Tombstone,
)
from graph.review.deciding import NotDecidable, undo
from graph.review.kinds import Verb
from tests.factories import (
    draft_account,
    draft_channel,
    draft_message,
    make_audience,
    make_review_item,
    take_in,
)
from tests.graph.review.queueing import decide_it, make_claim, make_reviewer

pytestmark = pytest.mark.django_db


@pytest.fixture
def rita(project):
    return make_reviewer(project)


SAID = "FastAPI uses Redis."


@pytest.fixture
def doubt(project):
    """An item about an edge that was read out of one message."""
    take_in(project, draft_account(), draft_channel(), draft_message("1.000001", SAID))
    extract_texts(project)
    edge = Edge.objects.get(relation="uses")
    return make_review_item(
        project,
        kind="low_confidence",
        detail={"edge": edge.pk},
        audience=make_audience(project),
    )


def live(project):
    return Edge.objects.of(project).filter(relation="uses", valid_to=None).count()


class TestEdges:
    def test_a_pruned_edge_is_not_read_out_of_the_same_words_again(
        self, project, rita, doubt
    ):
        decide_it(doubt, Verb.PRUNE, rita)
        assert live(project) == 0
        take_in(project, draft_message("1.000001", f"Well. {SAID}", version=1))
        take_in(project, draft_message("2.000001", SAID))
        extract_texts(project)
        assert live(project) == 0

    def test_other_words_that_say_so_bring_it_back(self, project, rita, doubt):
        decide_it(doubt, Verb.PRUNE, rita)
        take_in(project, draft_message("2.000001", "I know that FastAPI uses Redis!"))
        extract_texts(project)
        assert live(project) == 1

    def test_an_undo_makes_it_live_again_even_after_its_text_changed(
        self, project, rita, doubt
    ):
        row = decide_it(doubt, Verb.PRUNE, rita)
        undo(row.pk, rita)
        assert (live(project), Tombstone.objects.count()) == (1, 0)
        row = decide_it(doubt, Verb.PRUNE, rita)
        take_in(project, draft_message("1.000001", f"Well. {SAID}", version=1))
        extract_texts(project)
        undo(row.pk, rita)
        extract_texts(project)
        assert live(project) == 1

    def test_a_sources_own_edge_is_not_pruned(self, project, rita, doubt):
        Edge.objects.filter(pk=doubt.detail["edge"]).update(origin="source")
        with pytest.raises(NotDecidable, match="source's own"):
            decide_it(doubt, Verb.PRUNE, rita)


@pytest.fixture
def pair(project):
    """Two persons that may be one, and an item about them."""
    take_in(
        project,
        draft_account("U1", "Ann Lee"),
        draft_account("U2", "A. Lee"),
    )
    one, other = (Identity.objects.get(key=f"slack-user:U{n}").person for n in (1, 2))
    return make_review_item(project, one, kind="identity", other=other)


def persons(project):
    rows = Identity.objects.filter(project=project)
    return rows.values_list("person_id", flat=True).distinct().count()


class TestIdentities:
    @pytest.mark.parametrize(("verb", "left"), [(Verb.MERGE, 1), (Verb.KEEP, 2)])
    def test_the_word_of_a_reviewer_is_kept_and_can_be_taken_back(
        self, project, rita, pair, verb, left
    ):
        row = decide_it(pair, verb, rita)
        assert persons(project) == left
        assert IdentityDecision.objects.get().decided_by == rita
        pair.refresh_from_db()
        assert (pair.state, pair.node_id is None) == ("decided", False)
        undo(row.pk, rita)
        assert persons(project) == 2
        assert not IdentityDecision.objects.exists()
        pair.refresh_from_db()
        assert pair.state == "open"
        assert {pair.node_id, pair.other_id} == set(
            Identity.objects.values_list("person_id", flat=True)
        )

    def test_held_apart_after_a_merge_is_two(self, project, rita, pair):
        decide_it(pair, Verb.MERGE, rita)
        with pytest.raises(Exception, match="faster"):
            decide_it(pair, Verb.KEEP, rita)


class TestDuplicates:
    def test_they_are_merged_into_one_of_the_two(self, project, rita):
        one, two, third = (make_claim(project, f"decision:{n}") for n in (1, 2, 3))
        item = make_review_item(project, one, kind="duplicate", other=two)
        with pytest.raises(NotDecidable, match="one of the two"):
            decide_it(item, Verb.MERGE, rita, into=third.pk)
        row = decide_it(item, Verb.MERGE, rita, into=two.pk)
        item.refresh_from_db()
        assert (item.state, item.node_id, item.other_id) == ("decided", one.pk, two.pk)
        current = Node.objects.of(project).filter(valid_to=None).order_by("pk")
        assert list(current.values_list("pk", flat=True)) == [two.pk, third.pk]
        assert resolved(project, [one.key]) == {one.key: two.key}
        undo(row.pk, rita)
        assert current.count() == 3
        assert resolved(project, [one.key]) == {}
        assert set(Evidence.objects.values_list("node_id", flat=True)) == {
            one.pk,
            two.pk,
            third.pk,
        }

    def test_what_cannot_be_merged_says_so_and_stays_open(self, project, rita):
        one = make_claim(project, "decision:1")
        other = make_claim(project, "pattern:1", node_type="pattern")
        item = make_review_item(project, one, kind="duplicate", other=other)
        with pytest.raises(MergeRefused, match="one type"):
            decide_it(item, Verb.MERGE, rita)
        item.refresh_from_db()
        assert item.state == "open"

    def test_keep_holds_them_to_be_two(self, project, rita):
        one, two = (make_claim(project, f"decision:{n}") for n in (1, 2))
        item = make_review_item(project, one, kind="duplicate", other=two)
        undo(decide_it(item, Verb.KEEP, rita).pk, rita)
        item.refresh_from_db()
        assert item.state == "open"
