"""Names of the graph in a question are hinted, plain words are not."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from retrieval.frequencies import count_lexemes
from retrieval.results import Filters
from tests.factories import NOON, make_audience, make_node
from tests.plans import plan_with_only
from tests.retrieval.query.understanding import hinted, make_person, understood

pytestmark = pytest.mark.django_db


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

    @pytest.mark.parametrize(
        ("text", "is_meant"),
        [
            ("which support tickets are open", False),
            ("mails from Acme Pay Support", True),
            ("tickets that Support answered", True),
            ("what did support say", True),
            ("what came from acmepay", True),
        ],
    )
    def test_a_plain_word_is_no_sender_of_several_words(self, project, text, is_meant):
        sender = "AcmePay Help Support" if "acmepay" in text else "Acme Pay Support"
        make_person(project, "identity:desk", sender)
        assert bool(understood(project, text).hints) == is_meant

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
