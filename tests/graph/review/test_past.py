"""What was decided of something stays known once that is gone for good."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from connections.models import Role
from graph.models import Node, ReviewDecision, ReviewItem
from graph.residue import scan
from graph.review.deciding import consequences_of, decide, undo
from graph.review.errors import NotDecidable
from graph.review.kinds import Decision, Verb
from graph.review.past import forget_history, gone_subjects
from graph.review.pruning import purge_due
from tests.connections.api.callers import session_client
from tests.factories import make_member, make_node, make_review_item

pytestmark = pytest.mark.django_db
KEY, SECRET = "fact:qoppaflare-pump", "Qoppaflare leaks."


@pytest.fixture
def reviewer(project):
    user = make_member(project, "rita@acme.test", Role.REVIEWER)
    user.is_staff = True
    user.save()
    return user


def prune(project, reviewer):
    node = make_node(project, KEY, SECRET, node_type="fact", origin="extraction")
    item = make_review_item(project, node, why=SECRET, detail={"words": SECRET})
    make_review_item(project, node, kind="orphan", subject=f"node:{KEY}")
    token = consequences_of([item.pk], reviewer).token
    decision = Decision(
        verb=Verb.PRUNE, by=reviewer, reason="Qoppaflare is sold.", token=token
    )
    decide(item.pk, decision, version=0)
    return item


def later(days):
    return timezone.now() + timedelta(days=days)


def test_of_what_is_gone_it_stays_known_who_decided_what_and_when(project, reviewer):
    item = prune(project, reviewer)
    subject = item.subject
    assert purge_due(later(31)) == 1
    assert not Node.objects.filter(key=KEY).exists()
    # Nobody decided the other one.
    past = ReviewItem.objects.get(project=project)
    assert (past.pk, past.kind, past.state) == (item.pk, item.kind, "decided")
    assert past.subject == f"{gone_subjects(project, subject)[0]}:{item.pk}"
    assert (past.node_id, past.why, past.detail) == (None, "", {})
    decision = ReviewDecision.objects.get(item=past)
    assert (decision.verb, decision.decided_by) == ("prune", reviewer)
    assert (decision.reason, decision.before) == ("", {})
    # The audit and the tombstone keep what they keep.
    skip = ("audit_details", "graph_tombstones")
    assert scan(["qoppaflare"], project=project, skip=skip).found == {}


def test_it_is_read_and_neither_decided_nor_taken_back(project, reviewer, client):
    item = prune(project, reviewer)
    purge_due(later(31))
    decision = ReviewDecision.objects.get(item=item)
    with pytest.raises(NotDecidable, match="deleted for good"):
        undo(decision.pk, reviewer)
    client.force_login(reviewer)
    page = client.get(reverse("admin:graph_reviewitem_change", args=[item.pk]))
    assert page.status_code == 200
    assert page.context["panels"] == []
    assert page.context["undoable"] is None
    assert "rita@acme.test" in page.content.decode()
    listed = client.get(reverse("admin:graph_reviewitem_changelist") + "?state=decided")
    assert gone_subjects(project, item.subject)[0] in listed.content.decode()
    told = session_client(reviewer).get(f"/api/v1/review/items/{item.pk}/")
    assert (told.status_code, told.json()["item"]["node"]) == (200, None)
    nobody = make_member(project, "viewer@acme.test")
    assert session_client(nobody).get("/api/v1/review/items/").json()["results"] == []


def test_what_comes_back_and_goes_again_is_told_twice(project, reviewer):
    first = prune(project, reviewer)
    purge_due(later(31))
    second = prune(project, reviewer)
    assert second.pk != first.pk
    purge_due(later(31))
    digest = gone_subjects(project, first.subject)[0]
    assert ReviewItem.objects.filter(subject__startswith=digest).count() == 2


def test_it_goes_when_the_audit_forgets(project, reviewer, settings):
    prune(project, reviewer)
    waiting = make_node(project, "fact:other", "Other.", node_type="fact")
    make_review_item(project, waiting)
    purge_due(later(31))
    settings.FABRIC = {**settings.FABRIC, "AUDIT_DAYS": 90}
    assert forget_history(later(60)) == 0
    assert forget_history(later(200)) == 1
    assert ReviewDecision.objects.count() == 0
    assert ReviewItem.objects.get().node == waiting
