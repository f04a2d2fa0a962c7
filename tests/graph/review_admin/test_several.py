"""Several items at once, and the trash, in the admin."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from graph.models import Node, ReviewDecision, ReviewItem, Trashed
from graph.review import confirming
from graph.review.kinds import Verb
from tests.graph.review.queueing import decide_it, make_item, make_reviewer
from tests.graph.review_admin.sending import QUEUE, TRASH, bulk, token_in

pytestmark = pytest.mark.django_db


def test_several_are_kept_at_once_and_taken_back_at_once(project, client) -> None:
    items = [make_item(project, str(n)) for n in range(3)]
    ReviewItem.objects.filter(pk=items[2].pk).update(
        held_by=make_reviewer(project, "rex@acme.test"),
        held_until=timezone.now() + timedelta(minutes=5),
    )
    _, done = bulk(client, "keep", items)
    after = client.get(done.url).content.decode()
    assert "Kept: 2 items." in after
    assert "1 left as it was: rex@acme.test is at it" in after
    batch = ReviewDecision.objects.values_list("batch", flat=True).distinct().get()
    client.post(f"{QUEUE}batches/{batch}/undo/")
    assert ReviewItem.objects.filter(state="open").count() == 3


def test_several_are_snoozed_and_assigned_at_once(project, reviewer, client) -> None:
    items = [make_item(project, str(n)) for n in range(2)]
    bulk(client, "assign", items, assignee=reviewer.pk)
    bulk(client, "snooze", items, days="7")
    found = ReviewItem.objects.filter(assigned_to=reviewer, state="snoozed")
    assert found.count() == 2


def test_pruning_several_is_confirmed_once_and_many_twice(
    project, client, monkeypatch
) -> None:
    monkeypatch.setattr(confirming, "AT_ONCE", 3)
    few = [make_item(project, f"few:{n}") for n in range(2)]
    asked, done = bulk(client, "prune", few)
    assert "Put in the trash" in asked.content.decode()
    assert done.status_code == 302
    assert Trashed.objects.count() == 2
    many = [make_item(project, f"many:{n}") for n in range(4)]
    _, second = bulk(client, "prune", many)
    assert second.status_code == 200
    assert "at once: are you sure?" in second.content.decode()
    assert Trashed.objects.count() == 2
    given = {
        "verb": "prune", "chosen": second.context["chosen"], "reason": "All so.",
        "token": token_in(second),
    }  # fmt: skip
    assert client.post(f"{QUEUE}bulk/", given).status_code == 302
    assert Trashed.objects.count() == 6


def test_the_trash_says_what_when_and_why_and_gives_it_back(
    project, reviewer, client
) -> None:
    item = make_item(project)
    decide_it(item, Verb.PRUNE, reviewer, reason="It is wrong.")
    page = client.get(TRASH).content.decode()
    row = Trashed.objects.get()
    gone_on = f"{timezone.localtime(row.purge_at):%d\u00a0%b\u00a0%Y}"
    for words in ("We use pumps of Acme.", "It is wrong.", str(reviewer), gone_on):
        assert words in page
    client.post(f"{TRASH}{row.pk}/restore/")
    assert not Trashed.objects.exists()
    assert Node.objects.get(pk=item.node_id).trashed_at is None


def test_several_come_out_of_the_trash_at_once_and_none_is_deleted(
    project, reviewer, client
) -> None:
    for n in range(2):
        decide_it(make_item(project, str(n)), Verb.PRUNE, reviewer)
    chosen = list(Trashed.objects.values_list("pk", flat=True))
    for action in ("delete_selected", "put_back"):
        assert Trashed.objects.count() == 2
        given = {"action": action, "_selected_action": chosen, "index": 0}
        client.post(TRASH, given)
    assert Trashed.objects.count() == 0
    assert Node.objects.filter(trashed_at=None).count() == 2
    assert client.get(f"{TRASH}1/delete/").status_code in (302, 403)
