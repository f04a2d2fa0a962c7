from __future__ import annotations

import subprocess
import sys
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.calendar_spans import later
from retrieval.times import FORMS, days_written, find_event, find_time

# A Tuesday.
NOW = datetime(2026, 3, 17, 15, 30, tzinfo=UTC)


def read(text: str, now: datetime = NOW) -> tuple[str, str] | None:
    found = find_time(text, now)
    if found is None:
        return None
    ends = (found.interval.since, found.interval.until)
    return tuple(at.strftime("%Y-%m-%d") if at else "" for at in ends)


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("what was said today", "2026-03-17", "2026-03-18"),
        ("yesterday's mails", "2026-03-16", "2026-03-17"),
        ("the day before yesterday", "2026-03-15", "2026-03-16"),
        ("what happened last week?", "2026-03-09", "2026-03-16"),
        ("this week", "2026-03-16", "2026-03-23"),
        ("last weekend", "2026-03-14", "2026-03-16"),
        ("this quarter", "2026-01-01", "2026-04-01"),
        ("last quarter", "2025-10-01", "2026-01-01"),
        ("last year's budget", "2025-01-01", "2026-01-01"),
        ("in the last 7 days", "2026-03-10", "2026-03-18"),
        ("over the past two months", "2026-01-17", "2026-03-18"),
        ("the last couple of weeks", "2026-03-03", "2026-03-18"),
        ("two weeks ago", "2026-03-02", "2026-03-09"),
        ("3 days ago", "2026-03-14", "2026-03-15"),
        ("a month ago", "2026-02-01", "2026-03-01"),
        ("in March 2025", "2025-03-01", "2025-04-01"),
        ("in March", "2026-03-01", "2026-04-01"),
        ("in april", "2025-04-01", "2025-05-01"),
        ("in May?", "2025-05-01", "2025-06-01"),
        ("last March", "2025-03-01", "2025-04-01"),
        ("last October", "2025-10-01", "2025-11-01"),
        ("in 2024", "2024-01-01", "2025-01-01"),
        ("on 14 March", "2026-03-14", "2026-03-15"),
        ("on 20 March", "2025-03-20", "2025-03-21"),
        ("16 August, 2023?", "2023-08-16", "2023-08-17"),
        ("March 14th, 2025", "2025-03-14", "2025-03-15"),
        ("on the 3rd of May 2025", "2025-05-03", "2025-05-04"),
        ("on 29 February", "2024-02-29", "2024-03-01"),
        ("2025-03-14", "2025-03-14", "2025-03-15"),
        ("in 2025-03", "2025-03-01", "2025-04-01"),
        ("am 14.03.2025", "2025-03-14", "2025-03-15"),
        ("since Monday", "2026-03-16", ""),
        ("on Wednesday", "2026-03-11", "2026-03-12"),
        ("last Tuesday", "2026-03-10", "2026-03-11"),
        ("before March 2025", "", "2025-03-01"),
        ("after March 2025", "2025-04-01", ""),
        ("until 2024", "", "2025-01-01"),
        ("mails from March", "2026-03-01", "2026-04-01"),
        ("between March and May", "2025-03-01", "2025-06-01"),
        ("between November and February", "2025-11-01", "2026-03-01"),
        ("between March and May 2024", "2024-03-01", "2024-06-01"),
        ("between November 2023 and February", "2023-11-01", "2024-03-01"),
        ("from 2022 to 2024", "2022-01-01", "2025-01-01"),
        ("between 1 March and 5 March", "2026-03-01", "2026-03-06"),
        ("Q3 2025", "2025-07-01", "2025-10-01"),
        ("in Q3", "2025-07-01", "2025-10-01"),
        ("the third quarter of 2024", "2024-07-01", "2024-10-01"),
        ("H1 2025", "2025-01-01", "2025-07-01"),
    ],
)
def test_a_time_expression_is_read_as_its_days(text, since, until):
    assert read(text) == (since, until)


@pytest.mark.parametrize(
    "text",
    [
        "may I see it",
        "what may happen",
        "the march to the sea",
        "they march on",
        "the second release",
        "sat on it",
        "version 2.1 of it",
        "release 2025.03",
        "OPS-2025 is open",
        "ticket #2024",
        "CVE-2025-0301",
        "see https://acme.test/2025-03-14/x",
        "at 10:30",
        "on 31 February",
        "on 2025-02-30",
        "in 20245",
        "march 3 miles",
        "between May and the rest",
        "last meeting",
        "9999 years ago",
        "the last 9999 years",
        "Monday",
        "in 2099",
        "",
    ],
)
def test_what_is_no_time_is_left_alone(text):
    assert read(text) is None


def test_midnight_is_that_of_the_zone_asked_from():
    berlin = datetime(2026, 3, 17, 0, 30, tzinfo=ZoneInfo("Europe/Berlin"))
    interval = find_time("today", berlin).interval
    assert interval.since.isoformat() == "2026-03-17T00:00:00+01:00"
    in_march = find_time("in March", berlin).interval
    assert in_march.until.isoformat() == "2026-04-01T00:00:00+02:00"


def test_the_place_of_the_words_is_given():
    text = "What was said in March 2025 about pumps?"
    found = find_time(text, NOW)
    assert text[found.begin : found.end] == "in March 2025"


@pytest.mark.parametrize(
    ("text", "how", "names"),
    [
        ("before the launch meeting", "before", ["launch"]),
        ("since our weekly ops sync?", "since", ["weekly ops"]),
        ("after the product launch", "after", ["product", "product launch"]),
        ("said in the board meeting", "in", ["board"]),
    ],
)
def test_an_event_is_read_with_what_it_may_be_called(text, how, names):
    phrase = find_event(text)
    assert (phrase.how, [name for name, _, _ in phrase.names]) == (how, names)


@pytest.mark.parametrize(
    "text",
    ["before the meeting", "in the launch", "after it", "before launch", "at the"],
)
def test_what_names_no_event_is_none(text):
    assert find_event(text) is None


@pytest.mark.parametrize(
    ("typed", "first", "after"),
    [
        ("14 März 2025", date(2025, 3, 14), date(2025, 3, 15)),
        ("mars 2025", date(2025, 3, 1), date(2025, 4, 1)),
        ("2025", date(2025, 1, 1), date(2026, 1, 1)),
    ],
)
def test_a_typed_date_may_be_in_another_language(typed, first, after):
    days = days_written(typed, NOW)
    assert (days.first, days.after) == (first, after)


@pytest.mark.parametrize("typed", ["never", "soon", "x" * 5000, "\u0665", "-"])
def test_what_is_no_date_is_none(typed):
    assert days_written(typed, NOW) is None


def test_dates_in_questions_do_without_dateparser():
    code = (
        "import sys, datetime as d; from retrieval.times import find_time;"
        "now = d.datetime(2026, 3, 17, tzinfo=d.UTC);"
        "assert find_time('in March 2025', now);"
        "assert 'dateparser' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


NUMBERS = st.integers(0, 99999).map(str)
SAID = (
    "in on since before after until between from and to the last this past ago of March"
    " may May feb 29 30 31 2024 2025-02-30 Q3 quarter week weeks days day Monday a few"
    " year years yesterday today 14th h2 weekend"
)
WORDS = st.sampled_from(SAID.split())


@given(
    st.lists(st.one_of(WORDS, NUMBERS), max_size=8),
    st.datetimes(datetime(1971, 1, 1), datetime(2200, 1, 1), timezones=st.timezones()),
)
def test_intervals_are_ordered_and_know_their_zone(words, now):
    found = find_time(" ".join(words), now)
    if found is None:
        return
    since, until = found.interval.since, found.interval.until
    assert since or until
    assert all(at.tzinfo is not None for at in (since, until) if at)
    assert since is None or until is None or since < until


@given(st.text(), st.datetimes(timezones=st.just(UTC)))
def test_no_text_is_too_strange_to_read(text, now):
    find_time(text, now)
    find_event(text)


@given(st.dates(date(1900, 1, 1), date(2200, 1, 1)), st.integers(-600, 600))
def test_a_month_later_is_in_that_month(at, count):
    there = later(at, count)
    assert (there.year * 12 + there.month) - (at.year * 12 + at.month) == count
    assert there.day <= at.day


def test_every_form_of_a_date_has_its_reader():
    from retrieval.calendar_spans import readers

    assert FORMS.keys() == readers.keys()
