"""Days that a question speaks of: "in the last 7 days", "in March 2024", "this year"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta

from memory.sql.translator.base import Period
from memory.sql.translator.language import Language
from memory.sql.translator.words import Token

YEARS = range(1900, 2101)
ISO = re.compile(r"\d{4}-\d\d-\d\d")
LONGEST = 6


def period_at(
    tokens: Sequence[Token], language: Language, today: date
) -> tuple[int, Period] | None:
    """Return the period that `tokens` begin with, and how many of them tell it."""
    words = [token.low for token in tokens[:LONGEST]]
    for read in (_relative, _named_day, _month_of_year, _day_of_month, _iso):
        try:
            found = read(words, tokens, language, today)
        except (ValueError, OverflowError):  # beyond the calendar
            continue
        if found:
            length, first, end = found
            said = " ".join(token.text for token in tokens[:length])
            return length, Period(first=first, end=end, said=said)
    return None


Found = tuple[int, str, str] | None


def _relative(
    words: Sequence[str], tokens: Sequence[Token], language: Language, today: date
) -> Found:
    """Read "last 7 days", "past year", "this month", "diese Woche"."""
    if not words:
        return None
    which = words[0]
    if len(words) > 1 and words[1] in language.units:
        unit = language.units[words[1]]
        if which in language.this:
            return 2, *_span(_start(today, unit), unit, 1)
        if which in language.next_:
            return 2, *_span(_step(_start(today, unit), unit, 1), unit, 1)
        if which in language.last:
            return 2, *_span(_step(_start(today, unit), unit, -1), unit, 1)
    if len(words) > 2 and which in language.last and words[2] in language.units:
        number = _count(words[1], tokens[1], language)
        if number:
            unit = language.units[words[2]]
            first = _step(today, unit, -number).isoformat()
            return 3, first, _step(today, "day", 1).isoformat()
    return None


def _count(word: str, token: Token, language: Language) -> int | None:
    if isinstance(token.number, int) and 0 < token.number < 1000:
        return token.number
    return language.numbers.get(word)


def _named_day(
    words: Sequence[str], tokens: Sequence[Token], language: Language, today: date
) -> Found:
    if not words or words[0] not in language.days or tokens[0].quoted:
        return None
    # German "Morgen" is also the morning; only the day is written small.
    if tokens[0].capital and tokens[0].place:
        return None
    day = today + timedelta(days=language.days[words[0]])
    return 1, *_span(day, "day", 1)


def _month_of_year(
    words: Sequence[str], tokens: Sequence[Token], language: Language, today: date
) -> Found:
    """Read "March 2024"."""
    if len(words) < 2 or words[0] not in language.months:
        return None
    skip = 2 if len(words) > 2 and words[1] in ("of", "des") else 1
    year = tokens[skip].number
    if isinstance(year, int) and year in YEARS:
        return skip + 1, *_span(date(year, language.months[words[0]], 1), "month", 1)
    return None


def _day_of_month(
    words: Sequence[str], tokens: Sequence[Token], language: Language, today: date
) -> Found:
    """Read "March 5, 2024", "5 March 2024" and "5. März 2024"."""
    plain = [
        (place, token) for place, token in enumerate(tokens[:5]) if not token.is_mark
    ][:3]
    if len(plain) < 3:
        return None
    (_, one), (_, two), (last, year) = plain
    month, day = (one, two) if one.low in language.months else (two, one)
    if month.low not in language.months or not isinstance(day.number, int):
        return None
    if not isinstance(year.number, int) or year.number not in YEARS:
        return None
    try:
        first = date(year.number, language.months[month.low], day.number)
    except ValueError:
        return None
    return last + 1, *_span(first, "day", 1)


def _iso(
    words: Sequence[str], tokens: Sequence[Token], language: Language, today: date
) -> Found:
    if not words or not ISO.fullmatch(words[0]):
        return None
    try:
        return 1, *_span(date.fromisoformat(words[0]), "day", 1)
    except ValueError:
        return None


def year_period(year: int) -> Period:
    """Return a calendar year."""
    first, end = _span(date(year, 1, 1), "year", 1)
    return Period(first=first, end=end, said=str(year))


def _start(day: date, unit: str) -> date:
    if unit == "week":
        return day - timedelta(days=day.weekday())
    if unit == "month":
        return day.replace(day=1)
    if unit == "quarter":
        return day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1)
    if unit == "year":
        return day.replace(month=1, day=1)
    return day


def _step(day: date, unit: str, count: int) -> date:
    if unit in ("day", "week"):
        return day + timedelta(days=count * (7 if unit == "week" else 1))
    months = {"month": 1, "quarter": 3, "year": 12}[unit] * count
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    for shorter in range(4):
        try:
            return date(year, month + 1, day.day - shorter)
        except ValueError:
            continue
    raise ValueError(day)


def _span(first: date, unit: str, count: int) -> tuple[str, str]:
    return first.isoformat(), _step(first, unit, count).isoformat()
