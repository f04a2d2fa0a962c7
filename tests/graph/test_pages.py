"""The page of a node: what it shows, and to whom it does not exist."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from connections.models import Project, User
from connections.records import node_types
from graph.models import Node
from graph.pages import FEW, PAGE
from tests.factories import (
    NOON,
    draft_account,
    draft_channel,
    draft_message,
    make_audience,
    make_edge,
    make_node,
    take_in,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def page(member: User, client: Client) -> Client:
    client.force_login(member)
    return client


def text_of(client: Client, node: Node, **query: str) -> str:
    answer = client.get(reverse("node", args=[node.pk]), query)
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_node_shows_its_words_and_why_it_is_there(
    page: Client, project: Project
) -> None:
    node = make_node(
        project,
        content="Two\nlines <i>here</i>",
        title="A message",
        tags=["cold"],
        context="Ann · #cold",
        metadata={"url": "https://chat.test/1"},
    )
    text = text_of(page, node)
    assert "Two\nlines &lt;i&gt;here&lt;/i&gt;" in text
    assert "Ann · #cold" in text
    assert 'href="https://chat.test/1"' in text
    assert "slack-export" in text
    assert ">cold<" in text


def test_a_link_of_a_source_that_is_no_web_address_is_not_offered(
    page: Client, project: Project
) -> None:
    node = make_node(project, content="x", metadata={"url": "javascript:alert(1)"})
    assert "javascript:" not in text_of(page, node)


def test_a_node_that_may_not_be_seen_does_not_exist(
    project: Project, member: User, outsider: User, stranger: User, client: Client
) -> None:
    closed = make_audience(project, "channel:C9", [member])
    node = make_node(project, content="secret", audience=closed)
    address = reverse("node", args=[node.pk])
    for user, status in ((member, 200), (outsider, 404), (stranger, 404)):
        client.force_login(user)
        assert client.get(address).status_code == status
    client.logout()
    assert client.get(address).url.startswith(reverse("login"))


def test_a_pruned_node_is_not_shown(page: Client, project: Project) -> None:
    node = make_node(project, content="x", trashed_at=NOON)
    assert page.get(reverse("node", args=[node.pk])).status_code == 404


def test_neighbours_leave_out_what_the_reader_may_not_see(
    page: Client, project: Project, outsider: User
) -> None:
    node = make_node(project, content="hub")
    seen = make_node(project, "slack:C1:2.0", "open words")
    closed = make_audience(project, "channel:C9", [outsider])
    hidden = make_node(project, "slack:C9:3.0", "closed words", audience=closed)
    make_edge(node, seen)
    make_edge(node, hidden, audience=make_audience(project))
    text = text_of(page, node)
    assert "open words" in text
    assert "closed words" not in text


def test_neighbours_are_grouped_with_counts_and_a_way_to_all(
    page: Client, project: Project
) -> None:
    node = make_node(project, content="hub")
    for n in range(FEW + 2):
        make_edge(make_node(project, f"slack:C1:{n + 2}.0", f"word {n}"), node)
    text = text_of(page, node)
    assert f'mentioned by <span class="count">{FEW + 2}</span>' in text
    assert "relation=mentions&amp;direction=in" in text
    whole = text_of(page, node, relation="mentions", direction="in")
    assert all(f"word {n}" in whole for n in range(FEW + 2))


def test_ended_edges_are_not_neighbours(page: Client, project: Project) -> None:
    node = make_node(project, content="hub")
    make_edge(node, make_node(project, "slack:C1:2.0", "past words"), valid_to=NOON)
    assert "past words" not in text_of(page, node)


def test_flags_say_what_limits_a_nodes_worth(page: Client, project: Project) -> None:
    old = timezone.now() - timedelta(days=400)
    node = make_node(
        project,
        content="x",
        gone_at=old,
        valid_to=old,
        occurred_at=old,
    )
    text = text_of(page, node)
    assert "Gone at its source" in text
    assert "Ended" in text
    assert "13 months old" in text


def test_a_channel_shows_its_messages_in_order_by_pages(
    page: Client, project: Project
) -> None:
    channel = make_node(project, "slack:C1", node_type="channel", title="#cold")
    for n in range(PAGE + 1):
        message = make_node(project, f"slack:C1:{n}.0", f"message number {n}.")
        make_edge(message, channel, "posted_in", position=Decimal(n))
    first = text_of(page, channel)
    assert first.index("message number 1.") < first.index("message number 2.")
    assert f"message number {PAGE}." not in first
    assert f"message number {PAGE}." in text_of(page, channel, page="2")
    assert f"message number {PAGE}." in text_of(page, channel, order="newest")


@pytest.mark.parametrize("number", ["0", "-1", "x", "99999999999999", "²"])
def test_a_page_number_that_is_none_is_not_found(
    page: Client, project: Project, number: str
) -> None:
    channel = make_node(project, "slack:C1", node_type="channel", title="#cold")
    address = reverse("node", args=[channel.pk])
    assert page.get(address, {"page": number}).status_code == 404


def test_a_file_shows_its_sections_in_order(page: Client, project: Project) -> None:
    file = make_node(project, "file:a.md", node_type="file", title="a.md")
    for n in (10, 2, 0):
        section = make_node(
            project,
            f"file:a.md#{n}",
            f"section text {n}.",
            node_type="section",
            title=f"Part {n}",
            metadata={"position": n},
        )
        make_edge(section, file, "part_of")
    text = text_of(page, file)
    places = [text.index(f"section text {n}.") for n in (0, 2, 10)]
    assert places == sorted(places)


def test_a_person_shows_the_identities_and_why_they_are_one(
    page: Client, project: Project
) -> None:
    take_in(
        project,
        draft_channel(),
        draft_account("U1", "Ann Lee", "ann@acme.test"),
        draft_message("1.000001", "Hello"),
    )
    person = Node.objects.get(node_type="person")
    text = text_of(page, person)
    assert "slack-user:U1" in text
    assert "person:ann@acme.test" in text
    assert "same address ann@acme.test" in text


def test_the_page_asks_the_same_number_of_queries_for_many_neighbours(
    page: Client, project: Project, django_assert_max_num_queries
) -> None:
    node = make_node(project, content="hub")
    for n in range(30):
        make_edge(make_node(project, f"slack:C1:{n + 2}.0", "w"), node)
    with django_assert_max_num_queries(24):
        text_of(page, node)


def test_every_node_type_has_its_icon() -> None:
    sprite = (Path(settings.BASE_DIR) / "static" / "icons.svg").read_text()
    missing = {
        kind.name: kind.icon
        for kind in node_types.values()
        if f'id="{kind.icon}"' not in sprite
    }
    assert not missing
