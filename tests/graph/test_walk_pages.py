"""The pages of a timeline and of the ways between two nodes."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse

from connections.models import Project, User
from graph import walk_pages
from graph.models import Node
from graph.pages import FEW, PAGE
from tests.factories import NOON, make_audience, make_edge, make_node

pytestmark = pytest.mark.django_db


@pytest.fixture
def page(member: User, client: Client) -> Client:
    client.force_login(member)
    return client


def text_of(client: Client, name: str, node: Node, **query: str) -> str:
    answer = client.get(reverse(name, args=[node.pk]), query)
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_timeline_tells_what_happened_the_newest_first(
    page: Client, project: Project
) -> None:
    channel = make_node(project, "C1", node_type="channel", title="#cold")
    for day, word in ((1, "first"), (2, "second")):
        said = NOON + timedelta(days=day)
        post = make_node(project, word, f"the {word} <post>", occurred_at=said)
        make_edge(post, channel, "posted_in")
    text = text_of(page, "timeline", channel)
    assert "posted here" in text
    assert text.index("the second &lt;post&gt;") < text.index("the first")
    oldest = text_of(page, "timeline", channel, order="oldest")
    assert oldest.index("the first") < oldest.index("the second")
    assert reverse("timeline", args=[channel.pk]) in text_of(page, "node", channel)


def test_a_long_timeline_goes_on(page: Client, project: Project) -> None:
    node = make_node(project, "hub", title="A hub")
    for number in range(PAGE + 1):
        said = NOON + timedelta(minutes=number)
        make_edge(
            make_node(project, f"n{number}", f"word{number}.", occurred_at=said), node
        )
    address = reverse("timeline", args=[node.pk])
    first = page.get(address)
    assert "word0." not in first.content.decode()
    after = first.context["next"]
    assert "word0." in text_of(page, "timeline", node, after=after)
    assert page.get(address, {"after": "nonsense"}).status_code == 404


def test_the_ways_to_another_node_are_named(page: Client, project: Project) -> None:
    ann = make_node(project, "ann", node_type="person", title="Ann Lee")
    mail = make_node(project, "mail", title="Re: launch")
    thread = make_node(project, "thread", node_type="thread", title="Launch day")
    make_edge(mail, ann, "sent_by")
    make_edge(mail, thread, "in_thread")
    for named in ("thread", str(thread.pk)):
        text = text_of(page, "paths", ann, to=named)
        stops = text[text.index('class="way-step"') :]
        assert stops.index("sent by") < stops.index("Re: launch")
        assert stops.index("in thread") < stops.index("Launch day")


def test_what_the_ways_left_out_is_said(
    page: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walk_pages, "FAN_OUT", 2)
    hub, end = make_node(project, "hub", title="The hub"), make_node(project, "end")
    for number in range(4):
        make_edge(make_node(project, f"n{number}"), hub)
    make_edge(hub, end)
    assert "+2 more, by weight" in text_of(page, "paths", hub, to="end")


def test_a_node_one_may_not_see_is_named_no_differently_than_none(
    page: Client, project: Project, outsider: User, other_project: Project
) -> None:
    node = make_node(project, "a", title="A")
    closed = make_audience(project, "G9", [outsider])
    hidden = make_node(project, "hidden", title="Hush", audience=closed)
    theirs = make_node(other_project, "theirs", title="Theirs")
    for named in ("hidden", str(hidden.pk), "theirs", str(theirs.pk), "9" * 30, "\x00"):
        text = text_of(page, "paths", node, to=named)
        assert "There is no node" in text
        assert "Hush" not in text


@pytest.mark.parametrize("name", ["timeline", "paths"])
def test_the_pages_of_a_node_that_may_not_be_seen_do_not_exist(
    name: str,
    project: Project,
    member: User,
    outsider: User,
    stranger: User,
    client: Client,
) -> None:
    closed = make_audience(project, "G9", [member])
    node = make_node(project, "n", audience=closed)
    address = reverse(name, args=[node.pk])
    for user, status in ((member, 200), (outsider, 404), (stranger, 404)):
        client.force_login(user)
        assert client.get(address).status_code == status
    client.logout()
    assert client.get(address).url.startswith(reverse("login"))


def test_the_node_page_says_how_many_neighbours_it_leaves_out(
    page: Client, project: Project
) -> None:
    node = make_node(project, "hub")
    for number in range(FEW + 3):
        make_edge(make_node(project, f"n{number}"), node)
    assert "+3 more, by weight" in text_of(page, "node", node)
