"""A decision that was brought from elsewhere is taken back where its undo came along."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from connections.models import Role, User
from graph.exporting.export import export_graph
from graph.exporting.restore import import_graph
from graph.exporting.undo_payloads import check_undo
from graph.models import Node, ReviewDecision, ReviewItem, Trashed
from graph.review.deciding import consequences_of, decide, undo
from graph.review.errors import NotDecidable
from graph.review.kinds import Decision, Verb
from graph.review.pruning import restore
from tests.factories import (
    NOON,
    make_audience,
    make_member,
    make_node,
    make_project,
    make_review_item,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def reviewer(project):
    return make_member(project, "rita@acme.test", Role.REVIEWER)


@pytest.fixture
def decided(project, reviewer):
    """Return a project in which one item was kept, edited, pruned, snoozed, merged."""
    make_audience(project)
    items = {}
    for verb in ("keep", "edit", "prune", "snooze", "merge"):
        node = make_node(
            project,
            f"fact:{verb}",
            f"To {verb}.",
            node_type="fact",
            origin="extraction",
        )
        Node.objects.filter(pk=node.pk).update(confirmed_at=NOON)
        kind = "stale" if verb != "merge" else "duplicate"
        items[verb] = make_review_item(
            project, node, kind=kind, assigned_to=reviewer if verb == "keep" else None
        )
    said = {"by": reviewer, "reason": "So it is."}
    decide(items["keep"].pk, Decision(verb=Verb.KEEP, **said), version=0)
    decide(
        items["edit"].pk,
        Decision(verb=Verb.EDIT, text="Other words.", **said),
        version=0,
    )
    token = consequences_of([items["prune"].pk], reviewer).token
    decide(items["prune"].pk, Decision(verb=Verb.PRUNE, token=token, **said), version=0)
    until = timezone.now() + timedelta(days=3)
    decide(
        items["snooze"].pk, Decision(verb=Verb.SNOOZE, until=until, **said), version=0
    )
    ReviewDecision.objects.create(
        tenant_id=project.tenant_id, project=project, item=items["merge"],
        verb="merge", fingerprint="0" * 64, decided_by=reviewer,
        before={"item": {"state": "open"}, "act": {"merges": [1], "keep": 2}},
    )  # fmt: skip
    return project


@pytest.fixture
def copy(decided, reviewer, tmp_path):
    export_graph(decided, tmp_path / "one")
    there = make_project("acme/copy")
    import_graph(there, tmp_path / "one")
    make_member(there, reviewer.email, Role.REVIEWER)
    return there


def taken_back(copy, verb):
    row = ReviewDecision.objects.get(project=copy, verb=verb)
    undo(row.pk, User.objects.get(email="rita@acme.test"))
    return (
        ReviewItem.objects.get(pk=row.item_id),
        Node.objects.get(project=copy, key=f"fact:{verb}"),
    )


def test_keeping_editing_and_snoozing_are_taken_back_where_they_came_to(copy, reviewer):
    item, node = taken_back(copy, "keep")
    assert (item.state, item.assigned_to, node.confirmed_at) == ("open", reviewer, NOON)
    item, node = taken_back(copy, "edit")
    assert (item.state, node.content, node.confirmed_at) == ("open", "To edit.", NOON)
    item, _ = taken_back(copy, "snooze")
    assert (item.state, item.snoozed_until) == ("open", None)


def test_a_prune_is_taken_back_by_its_decision_or_from_the_trash(copy, tmp_path):
    item, node = taken_back(copy, "prune")
    assert (item.state, node.trashed_at) == ("open", None)
    second = make_project("acme/second")
    import_graph(second, tmp_path / "one")
    rita = make_member(second, "rita@acme.test", Role.REVIEWER)
    # As exports had it that told no undo.
    ReviewDecision.objects.filter(project=second).update(before={})
    away = Trashed.objects.get(project=second)
    assert restore(second, [away.node_id], by=rita) == [away.node_id]
    assert ReviewItem.objects.get(project=second, node=away.node_id).state == "open"


def test_a_merge_says_that_its_undo_did_not_come_along(copy, decided):
    with pytest.raises(NotDecidable, match="decided in another installation"):
        taken_back(copy, "merge")
    assert ReviewDecision.objects.get(project=copy, verb="merge").undone_at is None
    # Where it was decided nothing changed.
    assert ReviewDecision.objects.filter(project=decided, before={}).count() == 0


def test_a_second_export_says_the_same(copy, tmp_path):
    export_graph(copy, tmp_path / "two")
    name = "data/review_decisions.jsonl"
    first, second = ((tmp_path / n / name).read_text() for n in ("one", "two"))
    assert first == second
    told = {json.loads(line)["verb"]: json.loads(line) for line in first.splitlines()}
    assert told["prune"]["before"]["act"] == {"chosen": ["fact:prune"]}
    assert told["keep"]["before"]["item"]["assigned_to"] == "rita@acme.test"
    assert told["merge"]["before"] == {}


ITEM = {"state": "open", "snoozed_until": None, "assigned_to": None}


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ([], "an item and an act"),
        ({"item": {}, "act": {}}, "has a state"),
        ({"item": {**ITEM, "state": "gone"}, "act": {}}, "no state 'gone'"),
        ({"item": {**ITEM, "state": "snoozed"}, "act": {}}, "sleeps until"),
        ({"item": {**ITEM, "assigned_to": 7}, "act": {}}, "no address"),
        ({"item": ITEM, "act": {"edges": [1]}}, "has 'edges'"),
        ({"item": ITEM, "act": {"chosen": [7]}}, "no list of keys"),
        ({"item": ITEM, "act": {"node": "a", "chosen": []}}, "of a node or"),
        ({"item": ITEM, "act": {"confirmed_at": "today"}}, "no moment"),
    ],
)
def test_an_undo_that_no_export_tells_is_refused(before, said):
    assert said in check_undo({"before": before})
    assert check_undo({"before": {}}) == ""
    assert check_undo({"before": {"item": ITEM, "act": {"node": "a"}}}) == ""
