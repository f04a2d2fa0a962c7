from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from connections.registry import UnknownName
from graph.models import Node
from retrieval.errors import UnusableOperator
from retrieval.frequencies import count_lexemes
from retrieval.query import parse
from retrieval.results import Filters
from retrieval.search import search
from tests.factories import NOON, make_audience, make_edge, make_node
from tests.plans import plan_with_only

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 17, 15, 30, tzinfo=UTC)


def understood(project, text, user=None, **options):
    nodes = Node.objects.all() if user is None else Node.objects.visible_to(user)
    return parse(project, text, nodes=nodes.of(project).current(), now=NOW, **options)


def hinted(parsed) -> list[str]:
    return [hint.name for hint in parsed.hints]


def make_person(project, key, name):
    return make_node(project, key, node_type="person", title=name)


@pytest.fixture
def people(project):
    return {
        name: make_person(project, f"identity:{name}", name)
        for name in ("Ann Lee", "Mark Stone", "Melanie Ortiz", "May Chen")
    }


class TestReference:
    """The example of the published design."""

    def test_the_question_comes_out_as_it_is_printed(self, project):
        parsed = understood(
            project, "What pagination approach did database-engineer recommend?"
        )
        assert parsed.query == "pagination approach recommend"
        assert set(hinted(parsed)) == {"database-engineer", "pagination"}
        assert parsed.intent in ("decision", "pattern")
        assert [hint.node_id for hint in parsed.hints] == [None, None]

    def test_a_known_name_is_the_graph_s_where_a_node_bears_it(self, project):
        node = make_node(
            project, "database-engineer", node_type="agent", title="database-engineer"
        )
        parsed = understood(project, "what did the database engineer say")
        (hint,) = parsed.hints
        assert (hint.node_id, hint.key, hint.similarity) == (node.pk, node.key, 1.0)


class TestOperators:
    @pytest.mark.parametrize(
        ("text", "typed"),
        [
            ("in:#support x", {"channels": ("#support",)}),
            ("in:plans/2025/ x", {"channels": ("plans/2025",)}),
            ('in:"Weekly sync" x', {"channels": ("Weekly sync",)}),
            ("TYPE:Email x", {"types": ("email",)}),
            ("type:file x", {"types": ("file", "section")}),
            ("source:slack x", {"sources": ("slack",)}),
            ("tag:Ops #launch x", {"tags": ("ops", "launch")}),
            ("from:nobody x", {"people": ("nobody",)}),
            (
                "after:2025-03 before:2025-06-02 x",
                {
                    "since": datetime(2025, 4, 1, tzinfo=UTC),
                    "until": datetime(2025, 6, 2, tzinfo=UTC),
                },
            ),
            (
                'during:"last week" x',
                {
                    "since": datetime(2026, 3, 9, tzinfo=UTC),
                    "until": datetime(2026, 3, 16, tzinfo=UTC),
                },
            ),
            (
                "on:2025-03-14, x",
                {
                    "since": datetime(2025, 3, 14, tzinfo=UTC),
                    "until": datetime(2025, 3, 15, tzinfo=UTC),
                },
            ),
        ],
    )
    def test_an_operator_is_a_filter_and_leaves_the_text(self, project, text, typed):
        parsed = understood(project, text)
        assert parsed.typed == Filters(**typed)
        assert (parsed.asked, parsed.query) == ("x", "x")

    @pytest.mark.parametrize(
        "text",
        [
            "foo:bar",
            "see https://acme.test/x",
            "at 10:30 sharp",
            "from: ann",
            "C# and issue #12",
            "wherefrom:ann",
        ],
    )
    def test_what_is_no_operator_stays_in_the_text(self, project, text):
        parsed = understood(project, text)
        assert (parsed.asked, parsed.typed) == (text, Filters())

    @pytest.mark.parametrize(
        ("text", "error", "says"),
        [
            ("type:nonsense", UnknownName, "'nonsense'.*email"),
            ("before:never", UnusableOperator, "before.*'never'.*2025-03-14"),
            ("source:fax", UnusableOperator, "'fax'.*mail.*slack"),
            ("after:2025 before:2024", UnusableOperator, "2026-01-01.*2024-01-01"),
            (" ".join(f"tag:t{n}" for n in range(60)), UnusableOperator, "50 tags"),
        ],
    )
    def test_a_value_that_means_nothing_is_an_error_that_says_what_would(
        self, project, text, error, says
    ):
        with pytest.raises(error, match=says):
            understood(project, text)

    @pytest.mark.parametrize(
        "who", ["ann", "ANN", "lee", '"Ann Lee"', '"ann lee"', "“Ann Lee”"]
    )
    def test_from_knows_people_by_any_of_their_names(self, project, people, who):
        assert understood(project, f"from:{who} pumps").typed.people == ("Ann Lee",)

    def test_from_takes_everybody_of_that_name(self, project, people):
        for n in range(20):
            make_person(project, f"identity:{n}", f"Ann {n:02}x")
        assert len(understood(project, "from:ann pumps").typed.people) == 21

    @pytest.mark.parametrize(
        ("text", "is_websearch"),
        [
            ('"cold start" pumps', True),
            ("pumps -valves", True),
            ("pumps or valves", True),
            ("pumps OR valves?", True),
            ("did Ann or Bob decide?", False),
            ("well-known - pumps", False),
            ('an unpaired " quote', False),
            ('from:"Ann Lee" pumps', False),
        ],
    )
    def test_search_syntax_is_seen_and_then_kept(self, project, text, is_websearch):
        parsed = understood(project, text)
        assert parsed.websearch is is_websearch
        assert not is_websearch or parsed.query == parsed.asked == text


class TestHints:
    @pytest.mark.parametrize(
        ("kind", "title", "text"),
        [
            ("technology", "PostgreSQL", "is postgresql slow"),
            ("technology", "PostgreSQL", "is postgressql slow"),
            ("topic", "incident response", "about incident-response training"),
            ("meeting", "Weekly sync", "who came to the weekly sync"),
            ("file", "travel-policy.md", "read the travel policy again"),
            ("file", "plan.md", "read plan.md again"),
            ("domain", "acme.test", "mails of acme"),
            ("pattern", "blue-green deployment", "about blue green deployment"),
            ("channel", "#ops-alerts", "what about ops-alerts"),
            ("channel", "#support", "what about #support"),
            ("channel", "#support", "in the support channel"),
        ],
    )
    def test_a_thing_is_hinted_by_its_name(self, project, kind, title, text):
        node = make_node(project, "thing", node_type=kind, title=title)
        hints = understood(project, text).hints
        assert [hint.node_id for hint in hints] == [node.pk]

    @pytest.mark.parametrize(
        ("kind", "title", "text"),
        [
            ("channel", "#general", "in general it works"),
            ("file", "plan.md", "what is the plan"),
            ("topic", "pumps", "valves"),
            ("message", "valves", "valves"),
            ("technology", "React", "how did they react"),
            ("topic", "what", "what is it"),
        ],
    )
    def test_plain_words_are_no_names(self, project, kind, title, text):
        make_node(project, "thing", node_type=kind, title=title)
        assert understood(project, text).hints == ()

    @pytest.mark.parametrize(
        ("text", "names"),
        [
            ("what did Ann say", ["Ann Lee"]),
            ("lee's plan", ["Ann Lee"]),
            ("melany said so", ["Melanie Ortiz"]),
            ("Where is Mark?", ["Mark Stone"]),
            ("what did mark say", ["Mark Stone"]),
            ("Mark said so", ["Mark Stone"]),
            ("a mark in stone", []),
            ("May we leave", []),
            ("what may happen", []),
            ("did Ann Lee meet May Chen", ["Ann Lee", "May Chen"]),
        ],
    )
    def test_people_are_hinted_by_their_names_but_not_by_plain_words(
        self, project, people, text, names
    ):
        assert sorted(hinted(understood(project, text))) == names

    def test_all_nodes_of_one_name_are_given(self, project, people):
        twin = make_person(project, "identity:other", "Ann Lee")
        hints = understood(project, "what did Ann Lee say").hints
        assert {h.node_id for h in hints} == {people["Ann Lee"].pk, twin.pk}

    def test_there_are_never_more_than_eight(self, project):
        for n in range(20):
            make_person(project, f"identity:{n}", f"Ann {n:02}x")
        assert len(understood(project, "what did Ann say").hints) == 8

    def test_a_word_in_use_is_not_taken_for_misspelt(self, project, people):
        make_node(project, "m", "melany is a word here")
        count_lexemes(project, always=True)
        assert understood(project, "melany said so").hints == ()

    def test_a_hint_taken_away_stays_away_with_what_came_of_it(self, project, people):
        parsed = understood(project, "what did Ann say", ignore=["ann lee"])
        assert (parsed.hints, parsed.preferred) == ((), Filters())

    def test_nothing_hidden_is_hinted(
        self, project, member, outsider, stranger, other_project
    ):
        closed = make_audience(project, "slack:P1", [member])
        make_node(
            project, "slack:P1", node_type="channel", title="#merger", audience=closed
        )
        make_person(other_project, "identity:x", "Merger Smith")
        for text in ("what about #merger", "the merger channel", "the mergerr channel"):
            assert hinted(understood(project, text, member)) == ["#merger"]
            for user in (outsider, stranger):
                parsed = understood(project, text, user)
                assert (parsed.hints, parsed.preferred) == ((), Filters())

    def test_the_pruned_and_other_projects_are_not_hinted(self, project, other_project):
        make_node(project, "a", node_type="topic", title="pumps", trashed_at=NOON)
        make_node(other_project, "b", node_type="topic", title="pumps")
        assert understood(project, "about pumps").hints == ()

    def test_a_question_costs_one_statement_and_one_more_for_unknown_words(
        self, project, people
    ):
        make_node(project, "m", "pumps and what was said of them")
        count_lexemes(project, always=True)

        def statements(text):
            with CaptureQueriesContext(
                connection,
            ) as queries:
                understood(project, text)
            return len(queries)

        assert statements("what did Ann say of pumps") == 1
        assert statements("what did Ann say of xylophones") == 2
        assert statements("?!") == 0

    def test_the_statement_can_use_the_index_of_names(self, project):
        from retrieval import hints_sql

        _, _, conditions = hints_sql.NAMED.partition("FROM graph_nodes n\n")
        conditions, _, _ = conditions.partition("AND n.id IN")
        names = "(SELECT array_agg(%(project)s || ':' || gram.name) FROM gram)"
        assert names in conditions
        conditions = conditions.replace(names, "ARRAY['1:pumps']")
        plan = plan_with_only("retrieval_hint_names", conditions)
        assert "Bitmap Index Scan on retrieval_hint_names" in plan


class TestIntent:
    @pytest.mark.parametrize(
        ("text", "intent"),
        [
            ("who knows about pumps", "person"),
            ("Who decided on Redis?", "person"),
            ("how do I restart the worker", "how-to"),
            ("how to restart the worker", "how-to"),
            ("why did we choose Redis", "decision"),
            ("what was decided about Redis", "decision"),
            ("best practices for caching", "pattern"),
            ("latest report on pumps", "recency"),
            ("When did the pump fail?", "recency"),
            ("what colour is the pump", "fact"),
            ("how many pumps are there", "fact"),
            ("pump failure", ""),
            ("what was said last week", "fact"),
        ],
    )
    def test_the_words_show_the_intent(self, project, text, intent):
        assert understood(project, text).intent == intent


class TestPreferred:
    def test_a_time_is_preferred_and_leaves_the_query(self, project):
        parsed = understood(project, "What was said about pumps in March 2025?")
        assert parsed.query == "said pumps"
        assert parsed.asked == "What was said about pumps in March 2025?"
        assert parsed.preferred == Filters(
            since=datetime(2025, 3, 1, tzinfo=UTC),
            until=datetime(2025, 4, 1, tzinfo=UTC),
        )

    def test_a_time_taken_away_is_searched_for(self, project):
        parsed = understood(project, "pumps in March 2025", ignore=["time"])
        assert (parsed.query, parsed.preferred) == ("pumps March 2025", Filters())

    def test_a_typed_time_leaves_none_to_infer(self, project):
        parsed = understood(project, "pumps last week before:2025-01-01")
        assert parsed.preferred == Filters()

    @pytest.mark.parametrize(
        ("text", "since", "until"),
        [
            ("said before the launch meeting", None, NOON),
            ("said since the launch", NOON, None),
            ("said after the launch meeting", NOON, None),
            (
                "said during the launch meeting",
                datetime(2026, 3, 2, tzinfo=UTC),
                datetime(2026, 3, 3, tzinfo=UTC),
            ),
            ("said before the lunch table", None, None),
            ("said before the meeting", None, None),
        ],
    )
    def test_a_meeting_dates_a_question(self, project, text, since, until):
        make_node(
            project,
            "fireflies:1",
            node_type="meeting",
            title="Launch meeting",
            occurred_at=NOON,
        )
        preferred = understood(project, text).preferred
        assert (preferred.since, preferred.until) == (since, until)

    def test_of_several_meetings_the_nearest_is_meant(self, project):
        for n in range(3):
            make_node(
                project,
                f"fireflies:{n}",
                node_type="meeting",
                title="Weekly sync",
                occurred_at=NOW - timedelta(days=7 * n + 1),
            )
        preferred = understood(project, "said since the weekly sync").preferred
        assert preferred.since == NOW - timedelta(days=1)

    def test_a_hidden_meeting_dates_nothing(self, project, member, outsider):
        closed = make_audience(project, "c", [member])
        make_node(
            project,
            "fireflies:1",
            node_type="meeting",
            title="Merger meeting",
            occurred_at=NOON,
            audience=closed,
        )
        text = "said before the merger meeting"
        assert understood(project, text, member).preferred.until == NOON
        assert understood(project, text, outsider).preferred == Filters()

    @pytest.mark.parametrize(
        ("text", "people"),
        [
            ("what did Ann say about pumps", ("Ann Lee",)),
            ("Ann thinks it is fine", ("Ann Lee",)),
            ("mails by Ann", ("Ann Lee",)),
            ("Ann's view", ("Ann Lee",)),
            ("the room next to Ann Lee", ("Ann Lee",)),
            ("pumps and Ann", ()),
        ],
    )
    def test_who_said_it_is_preferred(self, project, text, people, request):
        make_person(project, "identity:a", "Ann Lee")
        assert understood(project, text).preferred.people == people
        assert understood(project, text, ignore=["people"]).preferred.people == ()

    def test_a_channel_is_preferred_and_is_no_tag(self, project):
        make_node(project, "slack:C1", node_type="channel", title="#support")
        parsed = understood(project, "what was said in #support about #pumps")
        assert parsed.preferred.channels == ("#support",)
        assert parsed.typed == Filters(tags=("pumps",))
        assert parsed.asked == "what was said in #support about"

    @pytest.mark.parametrize(
        ("text", "types"),
        [
            ("mails about pumps", ("email",)),
            ("in which meeting were pumps discussed", ("meeting", "sentence")),
            ("the document on pumps", ("file", "section")),
            ("slack messages on pumps", ("message",)),
            ("what is the mail address of Ann", ()),
            ("meeting people", ()),
        ],
    )
    def test_a_kind_of_thing_is_preferred(self, project, text, types):
        assert understood(project, text).preferred.types == types
        assert understood(project, text, ignore=["type"]).preferred.types == ()


class TestStrangeInput:
    @pytest.mark.parametrize(
        ("text", "query"),
        [
            ("what is the", "what is the"),
            ("?!...", "?!..."),
            ("🚀", "🚀"),
            ("", ""),
            ("pumps\x00valves", "pumps valves"),
            ("'; DROP TABLE graph_nodes; --", "DROP TABLE graph_nodes"),
            ("100% of {allowed} %s %(x)s", "100 allowed s x s"),
            ("\ud800 pumps", "pumps"),
            ("من قال ذلك", "من قال ذلك"),
        ],
    )
    def test_it_parses_to_something_honest(self, project, text, query):
        assert understood(project, text).query == query

    @pytest.mark.parametrize(
        "text",
        ["pump " * 2000, "x" * 10_000, "a-" * 5000, '"' * 10_000, "between " * 1200],
    )
    def test_a_long_one_takes_no_long_time(self, project, text):
        make_node(project, "a", node_type="topic", title="pumps")
        began = datetime.now(UTC)
        assert understood(project, text).query
        assert datetime.now(UTC) - began < timedelta(seconds=2)

    @settings(
        max_examples=60,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
    @given(st.text(max_size=80))
    def test_any_text_parses(self, project, text):
        try:
            parsed = understood(project, text)
        except (UnusableOperator, UnknownName):
            return
        assert parsed.query or not parsed.asked


class TestPlaces:
    """The filter by place that `in:` sets."""

    def keys(self, project, *places, user=None):
        answer = search(project, "", user=user, filters=Filters(channels=places))
        return {result.key for result in answer.results}

    def test_a_channel_holds_its_messages_by_key_or_name(self, project):
        channel = make_node(project, "slack:C1", node_type="channel", title="#ops")
        make_edge(make_node(project, "m", "words"), channel, "posted_in")
        make_node(project, "other", "words")
        for place in ("slack:C1", "#ops", "OPS"):
            assert self.keys(project, place) == {"m"}
        assert self.keys(project, "nowhere") == set()

    def test_a_folder_holds_the_parts_of_files_below_it(self, project):
        def folder(path):
            return make_node(
                project,
                f"folder:{path}",
                node_type="folder",
                title=path.rpartition("/")[2],
                metadata={"path": path},
            )

        outer, inner, other = folder("a"), folder("a/b"), folder("ab")
        make_edge(inner, outer, "in_folder")
        for name, at in (("a/x", outer), ("a/b/y", inner), ("ab/z", other)):
            file = make_node(project, f"file:{name}", node_type="file", title=name)
            make_edge(file, at, "in_folder")
            part = make_node(project, f"file:{name}#0", "words", node_type="section")
            make_edge(part, file, "part_of")
        assert self.keys(project, "a") == {"file:a/x", "file:a/b/y"}
        assert self.keys(project, "a/b") == {"file:a/b/y"}

    def test_a_hidden_edge_puts_nothing_in_a_place(self, project, member, outsider):
        closed = make_audience(project, "c", [member])
        channel = make_node(project, "slack:C1", node_type="channel", title="#ops")
        make_edge(
            make_node(project, "m", "words"), channel, "posted_in", audience=closed
        )
        assert self.keys(project, "#ops", user=member) == {"m"}
        assert self.keys(project, "#ops", user=outsider) == set()
