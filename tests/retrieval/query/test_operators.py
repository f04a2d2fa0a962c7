"""What is typed as a filter is one, and leaves the text."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from connections.registry import UnknownName
from retrieval.errors import UnusableOperator
from retrieval.results import Filters
from retrieval.search import search
from tests.factories import make_audience, make_edge, make_node
from tests.retrieval.query.understanding import hinted, make_person, understood

pytestmark = pytest.mark.django_db


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
