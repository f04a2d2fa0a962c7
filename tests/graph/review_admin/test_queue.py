"""The admin's list of the review queue: its order, its filters, the way through it."""

from __future__ import annotations

import pytest
from django.urls import reverse

from graph.admin.review_queue import Asked, next_of, previous_of
from graph.models import Node
from graph.review.deciding import hold
from tests.factories import make_audience, make_review_item
from tests.graph.review.queueing import make_claim, make_item, make_reviewer
from tests.graph.review_admin.sending import QUEUE, TRASH, page_of

pytestmark = pytest.mark.django_db


def test_the_queue_lists_what_waits_and_says_how_much_is_left(project, client) -> None:
    make_item(project, age_days=142, threshold=90, uses=7, priority=3)
    make_item(project, "decision:2", state="decided")
    page = client.get(QUEUE)
    assert page.context["cl"].result_count == 1
    assert "142\u00a0days (limit\u00a090)" in page.content.decode()
    assert b"1 left" in page.content


def test_an_empty_queue_says_what_to_do_next(client) -> None:
    page = client.get(QUEUE).content.decode()
    assert "Nothing waits for you." in page
    assert "manage.py scan_stale" in page


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["b", "a", "c"]),
        ("order=newest", ["c", "b", "a"]),
        ("order=oldest", ["a", "b", "c"]),
        ("order=use", ["c", "a", "b"]),
        ("kind=orphan", ["c"]),
        ("assigned=me", ["a"]),
        ("state=decided", ["d"]),
        ("state=any&order=oldest", ["a", "b", "c", "d"]),
        ("kind=nonsense", []),
    ],
)
def test_the_queue_is_filtered_and_ordered(
    project, reviewer, client, query, expected
) -> None:
    make_item(project, "a", subject="a", priority=2, uses=2, assigned_to=reviewer)
    make_item(project, "b", subject="b", priority=3, uses=1)
    make_item(project, "c", subject="c", priority=1, uses=3, kind="orphan")
    make_item(project, "d", subject="d", state="decided")
    page = client.get(f"{QUEUE}?{query}")
    assert [item.subject for item in page.context["cl"].result_list] == expected


def test_the_filters_of_the_list_go_along(project, client) -> None:
    first = make_item(project, "a", kind="orphan", priority=2)
    make_item(project, "b", priority=5)
    last = make_item(project, "c", kind="orphan", priority=1)
    query = "?_changelist_filters=kind%3Dorphan"
    page = client.get(page_of(first) + query)
    assert page.context["following"] == last
    assert page.context["left"] == "2"
    after = client.post(
        f"{QUEUE}{first.pk}/decide/{query}",
        {"verb": "keep", "version": 0, "reason": "So."},
    )
    assert after.url.startswith(page_of(last) + "?_changelist_filters=kind%3Dorphan")


@pytest.mark.parametrize("order", ["priority", "newest", "oldest", "use"])
def test_next_and_previous_walk_the_whole_queue(project, reviewer, order) -> None:
    for n in range(6):
        make_item(project, str(n), priority=n % 2 / 3, uses=n % 3)
    asked = Asked(order=order)
    listed = list(asked.rows(reviewer))
    assert len(listed) == 6
    after = [next_of(asked, item, reviewer) for item in listed]
    before = [previous_of(asked, item, reviewer) for item in listed]
    assert after == [*listed[1:], listed[0]]
    assert before == [None, *listed[:-1]]


def test_what_somebody_else_holds_is_not_the_next(project, reviewer) -> None:
    items = [make_item(project, str(n), priority=-n) for n in range(3)]
    hold(items[1].pk, make_reviewer(project, "rex@acme.test"))
    assert next_of(Asked(), items[0], reviewer) == items[2]
    hold(items[2].pk, reviewer)
    assert next_of(Asked(), items[0], reviewer) == items[2]


def test_skipping_lets_others_decide_the_item(project, reviewer, client) -> None:
    item, other = make_item(project, priority=2), make_item(project, "b", priority=1)
    client.get(page_of(item))
    item.refresh_from_db()
    assert item.held_by == reviewer
    after = client.post(f"{QUEUE}{item.pk}/leave/", {"to": "next"})
    assert after.url == page_of(other)
    item.refresh_from_db()
    assert item.held_by is None


def test_the_queue_never_names_a_node_closed_since(project, client) -> None:
    item = make_review_item(project, make_claim(project, content="The secret pump."))
    node = item.node
    Node.objects.filter(pk=node.pk).update(
        audience=make_audience(project, key="private:c9")
    )
    page = client.get(QUEUE)
    assert page.context["cl"].result_count == 1
    assert b"secret pump" not in page.content


def test_the_sidebar_leads_to_the_review_and_the_trash(project, client) -> None:
    make_item(project)
    page = client.get(reverse("admin:index")).content.decode()
    assert f'href="{QUEUE}"' in page
    assert f'href="{TRASH}"' in page
