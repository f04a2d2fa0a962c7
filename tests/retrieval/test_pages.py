"""The search page: what it shows, to whom, and what it says of what it cannot do."""

from __future__ import annotations

import re
from dataclasses import fields
from datetime import timedelta

import pytest
from django.test import Client, override_settings
from django.urls import reverse

from connections.models import User
from graph.models import Node
from retrieval import pages
from retrieval.asked import LISTS, MOMENTS, Asked
from retrieval.results import (
    Filters,
)
from tests.factories import (
    NOON,
    make_audience,
    make_edge,
    make_node,
)
from tests.retrieval.searched import found, get, index
from tests.worlds import QUESTION

pytestmark = pytest.mark.django_db

SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
def page(member: User, client: Client) -> Client:
    client.force_login(member)
    return client


class TestVisibility:
    """Three users; what is closed answers the question best."""

    def test_each_user_finds_what_they_may_see(
        self, world, member, outsider, client
    ) -> None:
        opened, closed = ({n.pk for n in nodes} for nodes in (world.open, world.closed))
        for user, expected in ((member, opened | closed), (outsider, opened)):
            client.force_login(user)
            text = get(client, q=QUESTION, project=world.project.path)
            assert found(text) == expected
            assert ("closed group" in text) == (user == member)
            assert "Theirs" not in text

    def test_a_project_of_others_does_not_exist(self, world, stranger, client) -> None:
        client.force_login(stranger)
        get(client, 404, q=QUESTION, project=world.project.path)
        own = get(client, q=QUESTION)
        assert found(own) == {node.pk for node in world.foreign}

    def test_who_is_in_no_project_is_told_so(self, user, client) -> None:
        client.force_login(user)
        assert "not in a project yet" in get(client, q="x")

    def test_who_is_not_signed_in_is_sent_to_the_login_page(self, client) -> None:
        answer = client.get(reverse("search"), {"q": "x"})
        assert answer.url == "/login/?next=/search/%3Fq%3Dx"
        answer = client.get(
            reverse("search"),
            {"q": "xy"},
            headers={"HX-Request": "true", "HX-Current-URL": "http://testserver/a?b=c"},
        )
        assert answer["HX-Redirect"] == "/login/?next=%2Fa%3Fb%3Dc"

    def test_facets_leave_out_who_and_where_one_may_not_see(
        self, project, member, outsider, client
    ) -> None:
        closed = make_audience(project, "slack:P1", [member])
        said = make_node(project, content="open words")
        room = make_node(
            project, "slack:P1", node_type="channel", title="#secret", audience=closed
        )
        make_edge(said, room, "posted_in", audience=make_audience(project))
        for user, is_there in ((member, True), (outsider, False)):
            client.force_login(user)
            assert ("#secret" in get(client, q="words")) == is_there

    def test_a_chip_does_not_tell_the_name_of_what_one_may_not_see(
        self, project, member, outsider, client
    ) -> None:
        closed = make_audience(project, "slack:P1", [member])
        make_node(
            project, "slack:P1", node_type="channel", title="#secret", audience=closed
        )
        for user, is_there in ((member, True), (outsider, False)):
            client.force_login(user)
            assert ("#secret" in get(client, channel="slack:P1")) == is_there


class TestNeighbourhood:
    def around(self, client: Client, node: Node, status: int = 200, **query) -> str:
        address = reverse("search_neighbourhood", args=[node.pk])
        answer = client.get(address, query, headers={"HX-Request": "true"})
        assert answer.status_code == status
        return answer.content.decode()

    def test_it_shows_only_what_the_reader_may_see(
        self, world, member, outsider, client
    ) -> None:
        client.force_login(member)
        text = self.around(client, world.near)
        assert f"/nodes/{world.bridge.pk}/" in text
        client.force_login(outsider)
        text = self.around(client, world.near)
        assert f"/nodes/{world.open[3].pk}/" in text
        for hidden in (world.bridge, world.far, world.beside):
            assert f"/nodes/{hidden.pk}/" not in text
        assert "answered" not in text
        assert "replied to" not in text

    def test_a_node_one_may_not_see_does_not_exist(
        self, world, outsider, stranger, client
    ) -> None:
        for user, node in (
            (outsider, world.closed[0]),
            (stranger, world.open[0]),
            (outsider, world.foreign[0]),
        ):
            client.force_login(user)
            self.around(client, node, 404)
        client.force_login(outsider)
        assert client.get("/search/neighbourhood/9" + "9" * 20 + "/").status_code == 404

    def test_picture_and_list_say_the_same_and_name_the_rest(
        self, page, project
    ) -> None:
        hub = make_node(project, content="hub")
        for n in range(30):
            tied = make_node(project, f"slack:C1:{n + 2}.0", f"word {n}")
            make_edge(hub, tied, weight=n)
        text = self.around(page, hub)
        picture, _, listed = text.partition("<ul")
        drawn = re.findall(r'<a href="/nodes/(\d+)/"', picture)
        assert len(drawn) == 13
        assert set(drawn) == set(
            re.findall(r'mentions</span> <a href="/nodes/(\d+)/"', listed)
        )
        assert "+17 more" in listed
        assert "word 29" in text
        assert "word 16<" not in text

    def test_where_little_is_tied_directly_the_next_step_is_drawn(
        self, page, project
    ) -> None:
        one, two, three = (
            make_node(project, f"slack:C1:{n}.0", f"word {n}") for n in range(3)
        )
        make_edge(one, two)
        make_edge(three, two)
        text = self.around(page, one)
        assert "word 2" in text
        assert "one step on" in text

    def test_what_is_tied_to_nothing_is_said_to_be(self, page, project) -> None:
        assert "tied to nothing" in self.around(page, make_node(project, content="x"))

    def test_it_can_be_asked_as_of_a_day(self, page, project) -> None:
        node, tied = (
            make_node(project, f"slack:C1:{n}.0", f"word {n}") for n in range(2)
        )
        make_edge(node, tied, valid_to=NOON)
        assert "tied to nothing" in self.around(page, node)
        before = (NOON - timedelta(days=1)).date().isoformat()
        assert "word 1" in self.around(page, node, as_of=before)
        assert "no date" in self.around(page, node, 400, as_of="once")

    def test_it_asks_as_many_queries_for_many_neighbours_as_for_one(
        self, page, project, django_assert_max_num_queries
    ) -> None:
        hub = make_node(project, content="hub")
        for n in range(20):
            make_edge(make_node(project, f"slack:C1:{n + 2}.0", "w"), hub)
        with django_assert_max_num_queries(14):
            self.around(page, hub)


class TestEscaping:
    def test_what_sources_say_is_never_markup(self, page, project) -> None:
        node = make_node(
            project,
            content=f"forklift {SCRIPT} <b>forklift</b>",
            title=f"{SCRIPT} forklift",
            tags=["<i>tag"],
            context=f"Ann {SCRIPT}",
            metadata={"url": "javascript:alert(1)"},
        )
        other = make_node(project, "slack:C1:2.0", f"{SCRIPT} ' \" forklift")
        room = make_node(project, "slack:C1", node_type="channel", title=f'"{SCRIPT}')
        make_edge(node, room, "posted_in")
        make_edge(node, other)
        index(project)
        text = get(page, q=f'"{SCRIPT} forklift')
        text += get(page, tag="<i>tag", channel='"><b>', person="'><b>")
        around = page.get(reverse("search_neighbourhood", args=[node.pk]))
        text += around.content.decode()
        assert "<script>alert" not in text
        assert "<b>" not in text
        assert "<i>tag" not in text
        assert "javascript:" not in text
        assert "&lt;<mark>script</mark>&gt;" in text
        assert "&lt;script&gt;" in around.content.decode()

    def test_no_page_has_a_script_or_style_within(self, page, project) -> None:
        node = make_node(project, content="forklift")
        make_edge(node, make_node(project, "slack:C1:2.0", "x"))
        index(project)
        text = get(page, q="forklift", tag="x") + get(page, q="forklift")
        text += page.get(
            reverse("search_neighbourhood", args=[node.pk])
        ).content.decode()
        assert " style=" not in text
        assert "<style" not in text
        assert not re.findall(r"\son\w+=", text)
        assert not re.findall(r"<script(?![^>]* src=)", text)


class TestBadInput:
    @pytest.mark.parametrize(
        ("query", "says"),
        [
            ({"profile": "best"}, "no profile &#x27;best&#x27;; there are: "),
            ({"type": "letter"}, "no node type &#x27;letter&#x27;; there are: "),
            ({"source": "fax"}, "no kind of source &#x27;fax&#x27;"),
            ({"colour": "red"}, "no filter &#x27;colour&#x27;; there are: q, "),
            ({"since": "yesterday"}, "is no date for &#x27;since&#x27;"),
            ({"until": "2026-02-30"}, "is no date for &#x27;until&#x27;"),
            ({"as_of": "2026-13-01T99:00"}, "is no date for &#x27;as_of&#x27;"),
            ({"since": "2026-03-02", "until": "2026-03-02"}, "the later one"),
            ({"limit": "0"}, "from 1 to 200"),
            ({"limit": "1000000000"}, "from 1 to 200"),
            ({"limit": "-1"}, "from 1 to 200"),
            ({"limit": "²"}, "from 1 to 200"),
            ({"person": "x" * 601}, "at most 600 characters"),
            ({"tag": [f"t{n}" for n in range(51)]}, "At most 50 of tag"),
        ],
    )
    def test_it_is_said_in_the_page_and_what_was_typed_is_kept(
        self, page, project, query, says
    ) -> None:
        make_node(project, content="forklift")
        text = get(page, 400, q="my forklift", **query)
        assert says in text
        assert 'value="my forklift"' in text
        assert not found(text)

    def test_a_date_that_is_none_stays_in_its_field(self, page) -> None:
        text = get(page, 400, since="yesterday")
        assert 'type="text" name="since" value="yesterday"' in text

    @pytest.mark.parametrize(
        "query",
        [
            "x" * 10_000,
            "fork\x00lift",
            "the of and",
            "?!.,;:",
            "\U0001f69c\U0001f525",
            "'; DROP TABLE graph_nodes; --",
            "%s %(x)s {allowed}",
            '"forklift',
            "\ud83d".encode("utf-8", "replace").decode(),
        ],
    )
    def test_odd_questions_are_answered(self, page, project, query) -> None:
        make_node(project, content="The forklift")
        index(project)
        get(page, q=query)
        assert Node.objects.exists()

    def test_a_longer_question_is_refused_with_its_length(self, page) -> None:
        assert "has 10001 characters" in get(page, 400, q="x" * 10_001)

    def test_a_nul_in_a_filter_is_no_error_of_the_server(self, page, project) -> None:
        for name in ("person", "channel", "tag", "ignore"):
            get(page, **{name: "a\x00b"})
        get(page, 404, project="a\x00b")
        for name in ("type", "since", "profile", "limit", "a\x00"):
            get(page, 400, **{name: "a\x00b"})

    @override_settings(FABRIC={**pages.settings.FABRIC, "SEARCH_LIMIT_MOST": 5})
    def test_no_more_is_shown_than_the_setting_allows(self, page, project) -> None:
        for n in range(8):
            make_node(project, f"slack:C1:{n}.0", f"words {n}")
        text = get(page, q="")
        assert len(found(text)) == 5
        assert "Show more" not in text
        get(page, 400, limit="6")


def test_every_filter_has_its_name_in_the_address() -> None:
    names = {each.name for each in fields(Filters)}
    asked = {each.name for each in fields(Asked)}
    assert {*LISTS.values(), *MOMENTS} == names
    assert {*LISTS, *MOMENTS} <= asked
