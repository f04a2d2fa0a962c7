"""What the words of a question prefer: an intent, a time, people, kinds of things."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from retrieval.results import Filters
from tests.factories import NOON, make_audience, make_node
from tests.retrieval.query.understanding import NOW, make_person, understood

pytestmark = pytest.mark.django_db


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
