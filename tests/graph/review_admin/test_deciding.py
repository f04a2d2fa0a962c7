"""An item decided on its page in the admin, and what comes between."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from graph.models import Node, ReviewDecision, ReviewItem, Trashed
from graph.review.deciding import hold
from graph.review.kinds import Verb, review_kinds
from tests.factories import make_review_item
from tests.graph.review.queueing import decide_it, make_claim, make_item, make_reviewer
from tests.graph.review_admin.sending import QUEUE, page_of, send, token_in

pytestmark = pytest.mark.django_db


def test_keeping_opens_the_next_item_and_offers_to_undo(project, client) -> None:
    first = make_item(project, priority=2)
    second = make_item(project, "decision:2", priority=1)
    after = client.post(
        f"{QUEUE}{first.pk}/decide/",
        {"verb": "keep", "version": 0, "reason": "Asked Ann."},
        follow=True,
    )
    assert after.context["item"] == second
    assert b"Kept: " in after.content
    decision = ReviewDecision.objects.get()
    assert decision.reason == "Asked Ann."
    back = client.post(f"{QUEUE}decisions/{decision.pk}/undo/", follow=True)
    assert back.context["item"] == first
    first.refresh_from_db()
    assert first.state == "open"


def test_the_last_item_leads_back_to_the_list(project, client) -> None:
    item = make_item(project)
    after = client.post(
        f"{QUEUE}{item.pk}/decide/",
        {"verb": "keep", "version": 0, "reason": "So."},
        follow=True,
    )
    assert "Nothing waits for you." in after.content.decode()
    assert "Kept: " in after.content.decode()


def test_an_item_held_by_somebody_else_is_only_read(project, client) -> None:
    item = make_item(project)
    hold(item.pk, make_reviewer(project, "rex@acme.test"))
    page = client.get(page_of(item))
    assert (
        b"rex@acme.test</b>" in page.content or b"rex@acme.test has it" in page.content
    )
    assert page.context["panels"] == []
    assert send(client, item, "keep").status_code == 409


def test_a_collision_says_what_happened_and_keeps_what_was_typed(
    project, client
) -> None:
    item = make_item(project)
    seen = item.version
    decide_it(item, Verb.KEEP, make_reviewer(project, "rex@acme.test"))
    answer = send(client, item, "keep", version=seen, reason="My long thought.")
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "rex@acme.test was faster: it was kept" in page
    assert "My long thought." in page


def test_what_changed_and_is_still_open_can_be_sent_again(project, client) -> None:
    item = make_item(project)
    ReviewItem.objects.update(version=4)
    answer = client.post(
        f"{QUEUE}{item.pk}/decide/",
        {"verb": "keep", "version": 0, "reason": "My long thought."},
    )
    assert answer.status_code == 409
    page = answer.content.decode()
    assert 'value="My long thought."' in page
    assert 'name="version" value="4"' in page


def test_a_prune_is_confirmed_with_its_consequences(project, client) -> None:
    item = make_item(project)
    asked = send(client, item, "prune")
    assert asked.status_code == 200
    assert "Put in the trash" in asked.content.decode()
    assert Trashed.objects.count() == 0
    assert send(client, item, "prune", token="forged").status_code == 409
    assert Trashed.objects.count() == 0
    done = send(client, item, "prune", token=token_in(asked))
    assert done.status_code == 302
    assert Node.objects.get(pk=item.node_id).trashed_at is not None


def test_a_prune_of_what_changed_meanwhile_is_asked_anew(project, client) -> None:
    item = make_item(project)
    asked = send(client, item, "prune")
    Node.objects.update(updated_at=timezone.now() + timedelta(minutes=1))
    again = send(client, item, "prune", token=token_in(asked))
    assert again.status_code == 409
    assert "has changed since" in again.content.decode()
    assert Trashed.objects.count() == 0
    send(client, item, "prune", token=token_in(again))
    assert Trashed.objects.count() == 1


@pytest.mark.parametrize(
    ("verb", "given", "says"),
    [
        ("keep", {"reason": ""}, "This field is required."),
        ("snooze", {}, "Choose a day."),
        ("snooze", {"until": "2020-01-01"}, "a day to come"),
        ("edit", {"text": "We use pumps of Acme.", "title": ""}, "Give the new words"),
    ],
)
def test_what_a_verb_lacks_is_said_at_its_form(
    project, client, verb, given, says
) -> None:
    item = make_review_item(project, make_claim(project, origin="extraction"))
    answer = send(client, item, verb, **given)
    assert answer.status_code == 400
    assert says in answer.content.decode()
    assert ReviewDecision.objects.count() == 0


@pytest.mark.parametrize("verb", ["nonsense", "merge", ""])
def test_a_verb_that_is_not_there_is_a_bad_request(project, client, verb) -> None:
    assert send(client, make_item(project), verb).status_code == 400


def test_snooze_edit_and_assign_are_carried_out(project, reviewer, client) -> None:
    item = make_review_item(project, make_claim(project, origin="extraction"))
    send(client, item, "assign", assignee=reviewer.pk)
    item.refresh_from_db()
    assert item.assigned_to == reviewer
    send(client, item, "snooze", days="30")
    item.refresh_from_db()
    day = timezone.localtime(item.snoozed_until).date()
    assert (day - timezone.localdate()).days == 30
    send(client, item, "edit", text="We use pumps of\r\nBolt.", title="")
    assert Node.objects.get(pk=item.node_id).content == "We use pumps of\nBolt."


def test_every_kind_has_a_page_with_its_verbs(project, client) -> None:
    assert len(review_kinds) >= 8
    for name, kind in review_kinds.items():
        item = make_item(project, f"of:{name}", kind=name, subject=name)
        page = client.get(page_of(item))
        assert page.status_code == 200, name
        shown = {panel.verb for panel in page.context["panels"]}
        assert shown | {Verb.EDIT} >= set(kind.verbs), name
