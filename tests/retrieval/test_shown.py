"""The search page: results, chips, facets, and why each result is there."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from unittest.mock import patch

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from connections.models import Project, User
from graph.models import Node
from retrieval import pages
from retrieval.results import (
    Contribution,
    Filters,
    GraphRelation,
    Hint,
    Parsed,
    Result,
    SearchAnswer,
    Staleness,
)
from tests.factories import (
    NOON,
    draft_account,
    draft_channel,
    draft_message,
    make_audience,
    make_edge,
    make_node,
    make_project,
    take_in,
)
from tests.retrieval.searched import found, get, index, visible_words
from tests.worlds import QUESTION

pytestmark = pytest.mark.django_db


@pytest.fixture
def page(member: User, client: Client) -> Client:
    client.force_login(member)
    return client


class TestAnswer:
    def test_more_results_come_twenty_at_a_time(self, page, project) -> None:
        for n in range(45):
            make_node(project, f"slack:C1:{n}.0", f"word {n}")
        text = get(page)
        assert len(found(text)) == 20
        more = re.search(r'href="([^"]*limit=40[^"]*)#result-21"', text)
        assert more
        text = page.get(reverse("search") + more[1].replace("&amp;", "&"))
        assert len(found(text.content.decode())) == 40
        text = get(page, limit=60)
        assert len(found(text)) == 45
        assert "Show more" not in text

    def test_the_words_of_the_question_are_marked_in_all_their_forms(
        self, page, project
    ) -> None:
        make_node(
            project, content="Batteries: one BATTERY failed, a battlement did not"
        )
        index(project)
        text = get(page, q="batteries")
        marked = re.findall(r"<mark>(.*?)</mark>", text)
        assert {"Batteries", "BATTERY"} <= set(marked)
        assert "battlement" not in marked

    def test_arms_and_their_shares_are_named(self, world, member, client) -> None:
        client.force_login(member)
        text = get(client, q=QUESTION, project=world.project.path)
        first = visible_words(text[text.index('id="result-1"') :])
        assert re.search(r"keyword \d+ [\d.]+ \d+ %", first)
        assert re.search(r"\[Λ\+\d\d\]", text)
        assert re.search(r"\d+ ms", visible_words(text))

    def test_without_a_question_the_most_recent_and_samples_are_shown(
        self, page, project
    ) -> None:
        project.sample_questions = ["Who has the <key>?"]
        project.save()
        old = make_node(project, content="old", occurred_at=NOON)
        new = make_node(
            project, "slack:C1:2.0", "new", occurred_at=NOON + timedelta(days=1)
        )
        text = get(page)
        assert text.index(f"/nodes/{new.pk}/") < text.index(f"/nodes/{old.pk}/")
        assert "Who has the &lt;key&gt;?" in text
        assert "q=Who+has+the+%3Ckey%3E%3F" in text

    def test_nothing_found_says_where_and_what_to_loosen(self, page, project) -> None:
        take_in(project, draft_channel(), draft_message("1.000001", "Hello"))
        text = get(page, q="forklift", tag="nothing", since="2030-01-01")
        words = visible_words(text)
        assert "Nothing in acme/main answers this" in words
        assert "slack-export (not read yet)" in words
        assert "without tag nothing" in words
        assert "without from 1 Jan 2030" in words
        loosened = re.findall(r'<li><a href="([^"]*)">without tag', text)
        assert loosened == ["?q=forklift&amp;project=acme%2Fmain&amp;since=2030-01-01"]

    def test_stale_gone_and_private_results_say_so(self, page, project, member) -> None:
        days = timezone.now() - timedelta(days=215)
        make_node(project, content="forklift", occurred_at=days, gone_at=NOON)
        closed = make_audience(project, "slack:P1", [member])
        make_node(project, "slack:P1:1.0", "forklift", audience=closed)
        text = get(page)
        assert "7 months old" in text
        assert "gone at its source" in text
        assert "closed group" in text

    def test_facets_count_and_narrow(self, page, project) -> None:
        take_in(
            project,
            draft_channel(),
            draft_account("U1", "Ann Lee", "ann@acme.test"),
            draft_account("U2", "Ben Low"),
            draft_message("1.000001", "forklift one"),
            draft_message("2.000001", "forklift two"),
            draft_message("3.000001", "forklift three", user="U2"),
        )
        text = get(page, q="forklift")
        ann = re.search(r'href="([^"]*person=[^"]*)"[^>]*title="Ann Lee">', text)
        assert ann
        assert "Ann Lee 2 " in visible_words(text)
        answer = page.get(reverse("search") + ann[1].replace("&amp;", "&"))
        narrowed = answer.content.decode()
        assert len(found(narrowed)) == 2
        assert 'class="chip chosen"' in narrowed
        assert len(found(get(page, q="forklift", channel="#C1"))) == 3
        assert len(found(get(page, q="forklift", channel="slack:C1"))) == 3
        assert len(found(get(page, q="forklift", channel="C2"))) == 0

    def test_many_results_take_as_many_queries_as_few(
        self, page, project, django_assert_max_num_queries
    ) -> None:
        for n in range(60):
            node = make_node(project, f"slack:C1:{n}.0", f"forklift {n}")
            make_edge(node, make_node(project, f"p{n}", node_type="person"), "sent_by")
        index(project)
        with django_assert_max_num_queries(38):
            get(page, q="forklift")

    def test_typing_on_replaces_the_address_and_a_new_question_pushes_one(
        self, page, project
    ) -> None:
        def header(before: str, now: str) -> str:
            current = f"http://testserver/search/?q={before}"
            answer = page.get(
                reverse("search"),
                {"q": now, "project": project.path},
                headers={"HX-Request": "true", "HX-Current-URL": current},
            )
            assert "<html" not in answer.content.decode()
            pushed = answer.get("HX-Push-Url")
            return "push" if pushed else answer["HX-Replace-Url"]

        assert header("", "yel") == "push"
        assert header("yel", "yell") == "/search/?q=yell&project=acme%2Fmain"
        assert header("yellow", "yell") == "/search/?q=yell&project=acme%2Fmain"
        assert header("yell", "compressor") == "push"
        assert header("yell", "") == "push"

    def test_the_project_is_remembered_across_pages(self, page, member) -> None:
        other = make_project("acme/other")
        other.memberships.create(user=member, role="viewer")
        get(page, project="acme/other")
        assert "Search acme/other" in get(page)
        assert "acme/other says" in page.get("/").content.decode() or (
            "acme/other is empty" in page.get("/").content.decode()
        )


PARSED = Parsed(
    query="forklift",
    asked="forklift last week",
    hints=(Hint(said="an", name="Ann Lee", node_type="person", key="p1"),),
    intent="decision",
    typed=Filters(types=("message",), tags=("cold",)),
    preferred=Filters(since=datetime(2026, 3, 2, tzinfo=UTC), people=("p1",)),
)


def full_answer(node: Node) -> Callable[..., SearchAnswer]:
    result = Result(
        key=node.key,
        node_id=node.pk,
        node_type="message",
        title="",
        text=node.content,
        context="",
        url="",
        score=0.5,
        relevance=1.0,
        recency=0.1,
        authority=1.3,
        timestamp=NOON,
        source_kind="slack",
        tags=(),
        is_gone=False,
        stale=Staleness(False, 1, 90),
        contributions={
            "keyword": Contribution(1, 2.0),
            "vector": Contribution(40, 0.7),
        },
        entities=("Redis <streams>",),
        graph_relations=(GraphRelation("Redis", "used_for", "queues"),),
        cross_validated=True,
        cross_referenced=True,
    )

    def search(project, query, *, ignore=(), profile, filters, **_):
        search.ignored = ignore
        return SearchAnswer(
            query=query,
            profile=profile,
            results=(result,),
            arms={"keyword": 5, "vector": 40},
            took_ms=12.4,
            effort=9,
            dropped={"walk": "it took more than 2 s"},
            parsed=PARSED,
            timings={"keyword": 3.25},
        )

    return search


class TestWhatWasUnderstood:
    def shown(self, client: Client, project: Project, **query) -> tuple[str, object]:
        node = make_node(project, content="The forklift")
        search = full_answer(node)
        with patch.object(pages, "search", search):
            return get(client, q="forklift last week type:message", **query), search

    def test_each_guess_can_be_taken_back_and_brought_back(self, page, project) -> None:
        text, search = self.shown(page, project, ignore="decision")
        assert search.ignored == ("decision",)
        for name in ("Ann+Lee", "time", "decision"):
            assert f"ignore={name}" in text
        chips = visible_words(text[text.index('class="chips"') :])
        assert "person Ann Lee" in chips
        assert "time from 2 Mar 2026" in chips
        assert chips.count("person") == 2  # the chip, and what its link says
        again = re.search(r'href="([^"]*)" title="Take it into account again"', text)
        assert again
        assert "ignore" not in again[1]

    def test_a_word_read_as_another_is_told_marked_and_taken_back(
        self, page, project
    ) -> None:
        node = make_node(project, "n", content="The forklift stands in hall two.")
        index(project)
        text = get(page, q="where is the forklfit")
        assert found(text) == {node.pk}
        assert "spelling forklfit \u2192 forklift" in visible_words(text)
        assert "<mark>forklift</mark>" in text
        back = re.search(r'href="([^"]*ignore=forklfit[^"]*)"', text)
        assert back
        text = page.get(reverse("search") + back[1].replace("&amp;", "&"))
        assert "\u2192" not in visible_words(text.content.decode())

    def test_a_typed_operator_is_taken_back_without_the_others(
        self, page, project
    ) -> None:
        text, _ = self.shown(page, project)
        links = dict(
            re.findall(
                r'class="chip typed"><span class="chip-label">(\w+)</span>.*?href="(.*?)"',
                text,
            )
        )
        assert links == {
            "type": "?q=forklift+last+week&amp;project=acme%2Fmain&amp;tag=cold",
            "tag": "?q=forklift+last+week&amp;project=acme%2Fmain&amp;type=message",
        }

    def test_an_arm_that_was_dropped_is_named_with_its_reason(
        self, page, project
    ) -> None:
        text, _ = self.shown(page, project)
        words = visible_words(text)
        assert (
            "The walk search had no part in this answer: it took more than 2 s" in words
        )
        assert "keyword 5 3.2 ms" in words or "keyword 5 3.3 ms" in words
        assert "[Λ+09] 12 ms" in words

    def test_entities_relations_and_shares_are_shown(self, page, project) -> None:
        text, _ = self.shown(page, project)
        words = visible_words(text)
        assert "Redis &lt;streams&gt;" in text
        assert "Redis used_for queues" in words
        assert "said in several places" in words
        shares = [int(share) for share in re.findall(r"(\d+) %", words)]
        assert sum(shares) == 100
        assert shares[0] > shares[1] > 0
