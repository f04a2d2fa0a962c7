"""When: time expressions of a question, read into intervals.

An explicit grammar of what people write in English, anchored at blanks and
punctuation, so that versions ("2.1"), tickets ("OPS-2025"), the verb "may" and the
like are no dates. dateparser reads single dates in other words or languages, where
somebody typed one as an operator: searching whole questions with it took 9 ms and
found dates in "the second" and "to the march".
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from datetime import date, datetime

from retrieval import calendar_spans as spans
from retrieval.calendar_spans import Days
from retrieval.wording import FILLER

MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
YEAR = r"(?:19[789][0-9]|20[0-9]{2})"
DAY = r"(?:0?[1-9]|[12][0-9]|3[01])(?:st|nd|rd|th)?"
COUNT = (
    r"(?:[0-9]{1,4}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|(?:a )?few|(?:a )?couple(?: of)?)"
)
UNIT = r"(?:day|week|month|quarter|year)"
LAST = r"(?:last|previous)"

# Each form, and what reads its groups; a form with a name in SET_OFF is only a date
# where a preposition or the like precedes it.
FORMS = {
    "iso_day": rf"({YEAR})-([01][0-9])-([0-3][0-9])",
    "iso_month": rf"({YEAR})-([01][0-9])",
    "dotted": rf"([0-3]?[0-9])\.([01]?[0-9])\.({YEAR})",
    "day_month": rf"({DAY})(?: of)? ({MONTH})(?:,? ({YEAR}))?",
    "month_day": rf"({MONTH}) ({DAY})(?:,? ({YEAR}))?",
    "month_year": rf"({MONTH})(?:,| of)? ({YEAR})",
    "quarter": rf"q([1-4])(?:[ /]?({YEAR}))?",
    "quarter_words": rf"(first|second|third|fourth|last) quarter(?: of)? ({YEAR})",
    "half": rf"h([12])[ /]?({YEAR})",
    "day_word": r"(today|yesterday|the day before yesterday)",
    "this_unit": rf"(?:this|current) ({UNIT})",
    "last_unit": rf"{LAST} ({UNIT})",
    "weekend": rf"(this|{LAST}) weekend",
    "past": rf"(?:{LAST}|past) ({COUNT}) ({UNIT})s?",
    "past_unit": rf"past ({UNIT})",
    "ago": rf"({COUNT}) ({UNIT})s? ago",
    "last_weekday": rf"{LAST} ({WEEKDAY})",
    "which_month": rf"({LAST}|this) ({MONTH})",
    "month": rf"({MONTH})",
    "weekday": rf"({WEEKDAY})",
    "year": rf"({YEAR})",
}
SET_OFF = frozenset({"month", "weekday", "year"})
# Read with a capital only, unless a preposition precedes: "march 3 miles".
AMBIGUOUS = frozenset({"month_day"})

BEGIN = r"(?:(?<=[\s(\"'“\u2018,;:/])|^)"
END = r"(?=$|[\s,;:!?)\"'\u2019”]|\.(?:\s|$))"
_plain = {name: re.sub(r"\((?!\?)", "(?:", form) for name, form in FORMS.items()}
_any = "|".join(_plain.values())
HOW = "since|from|after|before|until|till|by|in|on|during|over|within|throughout|for"
RANGE = re.compile(
    rf"{BEGIN}(?:between|from) (?P<a>{_any}) (?:and|to|until|till|through) "
    rf"(?P<b>{_any}){END}",
    re.IGNORECASE | re.ASCII,
)
PHRASE = re.compile(
    rf"{BEGIN}(?:(?P<how>{HOW}) )?(?:the )?(?P<date>{_any}){END}",
    re.IGNORECASE | re.ASCII,
)
FORM = {
    name: re.compile(form, re.IGNORECASE | re.ASCII) for name, form in FORMS.items()
}

EVENT_KINDS = (
    "meeting|call|sync|standup|stand-up|review|retro|retrospective|workshop|kickoff"
    "|kick-off|session|demo|interview|conference|summit|webinar|briefing|planning"
)
_word = r"[^\s,;:!?.()\"]+"
EVENT = re.compile(
    rf"{BEGIN}(?P<how>before|after|since|until|during|at|in) "
    r"(?:(?:the|our|my|their|this|that|last) )+"
    rf"(?:(?P<named>(?:{_word} ){{1,5}}?(?:{EVENT_KINDS}){END})"
    rf"|(?P<bare>{_word}(?: {_word}){{0,2}}))",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Interval:
    """From `since`, until before `until`; None is open. Not empty."""

    since: datetime | None
    until: datetime | None


@dataclass(frozen=True, slots=True)
class TimePhrase:
    """An interval, and where in the text it is said."""

    interval: Interval
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class EventPhrase:
    """What something is dated by ("before the launch meeting").

    `names` are what it may be called, without the kind of event, each with the words
    as said and where in the text they end; `begin` is where the phrase begins.
    """

    how: str
    names: tuple[tuple[str, str, int], ...]
    begin: int


def find_time(text: str, now: datetime) -> TimePhrase | None:
    """Return the first time expression of `text`, in the time zone of `now`."""
    for found in RANGE.finditer(text):
        if interval := _between(found["a"], found["b"], now):
            return TimePhrase(interval, found.start(), found.end())
    for found in PHRASE.finditer(text):
        if interval := _read(found["how"] or "", found["date"], now):
            return TimePhrase(interval, found.start(), found.end())
    return None


def find_event(text: str) -> EventPhrase | None:
    """Return the first thing in `text` that something is dated by, if any."""
    for found in EVENT.finditer(text):
        how = found["how"].lower()
        names = _named(found) if found["named"] else _bare(found)
        # "In the launch ..." dates nothing, "in the launch meeting" does.
        if names and (found["named"] or how not in ("at", "in")):
            return EventPhrase(how, names, found.start())
    return None


def _named(found: re.Match[str]) -> tuple[tuple[str, str, int], ...]:
    said = found["named"]
    return ((said.rpartition(" ")[0], said, found.end("named")),)


def _bare(found: re.Match[str]) -> tuple[tuple[str, str, int], ...]:
    names: list[tuple[str, str, int]] = []
    words = found["bare"].split(" ")
    for count, word in enumerate(words, start=1):
        if word.lower() in FILLER:
            break
        name = " ".join(words[:count])
        names.append((name, name, found.start("bare") + len(name)))
    # "Before the meeting": which one, nobody said.
    is_any = re.fullmatch(EVENT_KINDS, words[0], re.IGNORECASE)
    return () if is_any else tuple(names)


def interval_of_event(how: str, at: datetime) -> Interval:
    """Return the time before, after or around (its day) an event."""
    if how in ("before", "until"):
        return Interval(None, at)
    if how in ("after", "since"):
        return Interval(at, None)
    return _interval("", spans.day(at.date()), at)


def days_of(phrase: str, today: date) -> Days | None:
    """Return the days that a date or a span ("2025-03", "last week") means."""
    phrase = " ".join(phrase.split())
    for name, form in FORM.items():
        if (found := form.fullmatch(phrase)) and (
            days := _days(name, found.groups(), today)
        ):
            return days
    return None


def days_written(phrase: str, now: datetime) -> Days | None:
    """Return what `days_of` or else dateparser makes of what somebody typed."""
    return days_of(phrase, now.date()) or _by_dateparser(phrase[:60], now)


def bounded(how: str, days: Days, now: datetime) -> Interval:
    """Return the interval "before", "after", "since", "until" or on some days."""
    return _interval(how, days, now)


def _by_dateparser(phrase: str, now: datetime) -> Days | None:
    settings = {
        "RELATIVE_BASE": now.replace(tzinfo=None),
        "PREFER_DATES_FROM": "past",
        "REQUIRE_PARTS": ["month", "year"],
    }
    try:
        found = _reader()(settings=settings).get_date_data(phrase)
    except (ValueError, OverflowError, RecursionError):
        return None
    if found.date_obj is None:
        return None
    said = found.date_obj.date()
    return spans.month(said) if found.period == "month" else spans.day(said)


@functools.cache
def _reader() -> functools.partial:
    # It takes 0.4 s to import and few ever need it.
    from dateparser.date import DateDataParser

    return functools.partial(DateDataParser, languages=["en", "de", "fr", "es", "it"])


def _read(how: str, phrase: str, now: datetime) -> Interval | None:
    how = how.lower()
    for name, form in FORM.items():
        found = form.fullmatch(phrase)
        if found is None or (name in SET_OFF and not how):
            continue
        if name in AMBIGUOUS and not how and phrase[0].islower() and not found[3]:
            continue
        if days := _days(name, found.groups(), now.date()):
            return _interval(how, days, now)
    return None


def _between(first: str, last: str, now: datetime) -> Interval | None:
    """Read both ends; the one without a year is the nearest to the other."""
    begin, end = days_of(first, now.date()), days_of(last, now.date())
    if begin is None or end is None:
        return None
    dated = [re.search(YEAR, said) is not None for said in (first, last)]
    if dated == [True, False]:
        end = days_of(last, spans.later(begin.first, 12) - spans.ONE)
    elif dated == [False, True] or begin.first > end.first:
        begin = days_of(first, end.first)
    if begin is None or end is None or begin.first >= end.after:
        return None
    return _interval("", Days(begin.first, end.after), now)


def _interval(how: str, days: Days, now: datetime) -> Interval:
    first, after = (_midnight(at, now) for at in (days.first, days.after))
    if how == "before":
        return Interval(None, first)
    if how in ("until", "till", "by"):
        return Interval(None, after)
    if how == "since":
        return Interval(first, None)
    if how == "after":
        return Interval(after, None)
    return Interval(first, after)


def _midnight(at: date, now: datetime) -> datetime:
    return datetime(at.year, at.month, at.day, tzinfo=now.tzinfo)


def _days(form: str, said: tuple[str | None, ...], today: date) -> Days | None:
    try:
        return spans.readers[form](today, *(word and word.lower() for word in said))
    except (ValueError, OverflowError):
        return None  # 31 February, or a time before the calendar
