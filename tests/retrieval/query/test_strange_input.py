"""Whatever is typed parses, and in no long time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from connections.registry import UnknownName
from retrieval.errors import UnusableOperator
from retrieval.frequencies import count_lexemes
from retrieval.models import LexemeCount
from tests.factories import make_node
from tests.retrieval.query.understanding import understood

pytestmark = pytest.mark.django_db


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
        [
            "pump " * 2000,
            "x" * 10_000,
            "a-" * 5000,
            '"' * 10_000,
            "between " * 1200,
            "pmups vavles " * 400,
            "vavles" * 1000,
        ],
    )
    def test_a_long_one_takes_no_long_time(self, project, text):
        make_node(project, "a", "valves", node_type="topic", title="pumps")
        count_lexemes(project, always=True)
        began = datetime.now(UTC)
        assert understood(project, text, spelling=True).query
        assert datetime.now(UTC) - began < timedelta(seconds=2)

    @settings(
        max_examples=60,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
    @given(st.text(max_size=80) | st.text("pumpsvale'\"# ", max_size=80))
    def test_any_text_parses(self, project, text):
        if not LexemeCount.objects.exists():
            make_node(project, "a", "The pumps have valves.")
            count_lexemes(project, always=True)
        try:
            parsed = understood(project, text, spelling=True)
        except (UnusableOperator, UnknownName):
            return
        assert parsed.query or not parsed.asked
