"""What the pages of the review say of each kind, and what they leave out."""

from __future__ import annotations

import re

import pytest

from connections.models import Role
from tests.factories import make_project, make_review_item
from tests.graph.review.queueing import make_claim, make_item
from tests.graph.review_admin.sending import QUEUE, page_of

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("kind", "named"),
    [
        ("stale", "Keep"),
        ("duplicate", "Keep both"),
        ("contradiction", "Keep both"),
        ("identity", "Keep apart"),
        ("feedback", "Looked into"),
    ],
)
def test_keeping_is_called_what_it_does_to_items_of_a_kind(
    project, client, kind, named
) -> None:
    item = make_item(project, kind=kind)
    page = client.get(page_of(item)).content.decode()
    assert f'data-key="a">{named} <kbd>' in page
    assert f'type="submit">{named}</button>' in page


def test_what_an_item_has_none_of_is_not_asked_about(project, client) -> None:
    page = client.get(page_of(make_review_item(project, kind="feedback")))
    told = page.content.decode()
    assert "Flagged" in told
    for nothing in ("Evidence", "Who relies on", "Last said of", "<dt>Age", "<dt>Uses"):
        assert nothing not in told


def test_evidence_without_a_quote_shows_its_record_and_of_which_of_two_it_is(
    project, client
) -> None:
    one = make_claim(project, "decision:1", content="Pumps of Acme.")
    other = make_claim(project, "decision:2", content="Pumps of Bolt.")
    item = make_review_item(project, one, kind="contradiction", other=other)
    told = client.get(page_of(item)).content.decode()
    for side, words in (("A", "Pumps of Acme."), ("B", "Pumps of Bolt.")):
        quote = rf'<blockquote dir="auto">{words}</blockquote>\s*<p[^>]*>'
        assert re.search(rf'{quote}<b class="rv-of">{side}</b>', told), side


def test_the_list_leaves_out_columns_that_say_the_same_in_every_row(
    project, reviewer, client
) -> None:
    make_item(project)
    usual = client.get(QUEUE).context["cl"].list_display
    assert not {"status", "project"} & set(usual)
    assert "status" in client.get(QUEUE, {"state": "any"}).context["cl"].list_display
    second = make_project("acme/second")
    second.memberships.create(user=reviewer, role=Role.REVIEWER)
    assert "project" in client.get(QUEUE).context["cl"].list_display
