from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.learning.frames import Frame, contradicts

CONTRADICTIONS = [
    ("The launch is in June.", "The launch is in May."),
    ("The launch is on 12 June.", "The launch is on 3 May."),
    ("The launch moved to 12 June.", "The launch is on 3 May."),
    (
        "Ann Lee: The migration is postponed to 21 August.",
        "The migration ends on 30 June.",
    ),
    ("The licence costs 5,000 euro a year.", "The licence costs 3,000 euro a year."),
    ("Bob no longer leads the platform team.", "Bob leads the platform team."),
    ("We do not use Redis for the ingest queue.", "We use Redis for the ingest queue."),
    (
        "We decided to use MySQL for billing.",
        "We decided to use PostgreSQL for billing.",
    ),
    ("We chose Deskwren for the helpdesk.", "We chose Ticketfold for the helpdesk."),
]
COMPATIBLE = [
    ("The launch is in Paris.", "The launch is in May."),
    ("The launch party is on 3 June.", "The launch is on 3 May."),
    ("The team met on Tuesday.", "The team met on Monday."),
    ("Acme paid 4,000 euro in June.", "Acme paid 3,000 euro in May."),
    (
        "We decided to use MySQL for search.",
        "We decided to use PostgreSQL for billing.",
    ),
    ("The licence covers 40 users.", "The licence costs 3,000 euro a year."),
    ("Ann will send the report by Friday.", "Bob will send the invoice by Monday."),
    ("The launch is on 3 May.", "The launch is on 3 May, said Ann."),
    ("No sensor failed in ward 7.", "The pump of ward 9 failed in the night."),
]


@pytest.mark.parametrize(("new", "old"), CONTRADICTIONS)
def test_another_value_of_the_same_thing_contradicts(new, old):
    assert contradicts(Frame(new), Frame(old))


@pytest.mark.parametrize(("new", "old"), COMPATIBLE)
def test_another_thing_or_another_time_does_not(new, old):
    assert not contradicts(Frame(new), Frame(old))


TEXTS = st.one_of(
    st.sampled_from([text for pair in CONTRADICTIONS + COMPATIBLE for text in pair]),
    st.text(max_size=80),
)


@settings(max_examples=200, deadline=None, database=None)
@given(TEXTS)
def test_nothing_contradicts_itself(text):
    assert not contradicts(Frame(text), Frame(text))


def test_a_topic_is_what_it_is_about_and_the_kind_of_value():
    assert Frame("Ann Lee: The launch is on 3 May.").topic == "launch: date"
    assert Frame("We chose Deskwren for the helpdesk.").topic == "helpdesk: choice"
    assert Frame("The launch is in Paris.").topic == ""
