"""When something is due: the dates of a promise, seen from the day it was made."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, time, timedelta

from django.utils import timezone

from retrieval import calendar_spans as spans
from retrieval.times import DAY, MONTH, WEEKDAY, YEAR

_tens = ("", "twenty-", "thirty-")
_ones = [
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
]
ORDINALS = {
    **{word: number for number, word in enumerate(_ones, start=1)},
    "twentieth": 20,
    "thirtieth": 30,
    **{f"twenty-{word}": 20 + n for n, word in enumerate(_ones[:9], start=1)},
    "thirty-first": 31,
}
_ORDINAL = "|".join(sorted(ORDINALS, key=len, reverse=True))
_NUMBERED = rf"(?P<day>{DAY}|{_ORDINAL})"
_COUNT = (
    r"(?P<count>\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve)"
)
_BY = (
    r"(?:by|until|till|before|on|due|for|this|next|coming|from|no later than"
    r"|at the latest)(?: (?:the|this|next|coming))*"
)
ONE = timedelta(days=1)

Reader = Callable[[re.Match[str], date], date]


def _on_day(said: re.Match[str], today: date) -> date:
    return _dated(said["day"], said["month"], said["year"], today)


def _dated(day: str, month: str, year: str | None, today: date) -> date:
    number = ORDINALS.get(day.lower()) or spans.day_number(day)
    of = spans.month_number(month.lower())
    if year:
        return date(int(year), of, number)
    found = date(today.year, of, number)
    # A day long past is next year's; one of last week was just missed.
    return found if found >= today - 7 * ONE else found.replace(year=today.year + 1)


def _numbered(said: re.Match[str], today: date) -> date:
    """Return the next day with that number: "Tuesday the twenty-seventh"."""
    number = ORDINALS.get(said["day"].lower()) or spans.day_number(said["day"])
    for month in range(12):
        first = spans.later(today.replace(day=1), month)
        last = spans.month(first).after - ONE
        if number <= last.day and (found := first.replace(day=number)) >= today:
            return found
    raise ValueError(said.group())


def _weekday(said: re.Match[str], today: date) -> date:
    ahead = (spans.WEEKDAYS.index(said["weekday"].lower()) - today.weekday()) % 7
    # On a Friday, "by Friday" is today and "next Friday" is not.
    is_next = re.search(r"\bnext\b", said.group(), re.IGNORECASE) is not None
    return today + ONE * (ahead or (7 if is_next else 0))


def _tomorrow(said: re.Match[str], today: date) -> date:
    return today + ONE


def _today(said: re.Match[str], today: date) -> date:
    return today


def _end_of(said: re.Match[str], today: date) -> date:
    unit = said["unit"].lower()
    if said["which"] and said["which"].lower().strip() == "next":
        today = spans.CALENDAR[unit](today).after
    if unit == "week":
        return spans.week(today).first + 4 * ONE
    return spans.CALENDAR[unit](today).after - ONE


def _short(said: re.Match[str], today: date) -> date:
    unit = {"w": "week", "m": "month", "q": "quarter", "y": "year"}
    last = said["end"].lower()[-1]
    if last not in unit:
        return today
    if last == "w":
        return spans.week(today).first + 4 * ONE
    return spans.CALENDAR[unit[last]](today).after - ONE


def _within(said: re.Match[str], today: date) -> date:
    count, unit = spans.count_of(said["count"].lower()), said["unit"].lower()
    return spans.earlier(today, -count, unit)


def _by_month(said: re.Match[str], today: date) -> date:
    of = spans.month_number(said["month"].lower())
    year = int(said["year"]) if said["year"] else today.year + (of < today.month)
    return spans.month(date(year, of, 1)).after - ONE


# The most exact first. The second of each: whether it is a date on its own.
_FORMS: tuple[tuple[re.Pattern[str], bool, Reader], ...] = tuple(
    (re.compile(rf"(?<![\w-]){form}(?![\w-])", re.IGNORECASE), absolute, reader)
    for form, absolute, reader in (
        (
            rf"(?P<year>{YEAR})-(?P<month>[01]\d)-(?P<day>[0-3]\d)",
            True,
            lambda m, _: date(int(m["year"]), int(m["month"]), int(m["day"])),
        ),
        (rf"{_NUMBERED}(?: of)? (?P<month>{MONTH}),? (?P<year>{YEAR})", True, _on_day),
        (rf"(?P<month>{MONTH}) (?P<day>{DAY}),? (?P<year>{YEAR})", True, _on_day),
        (rf"{_NUMBERED}(?: of)? (?P<month>{MONTH})(?P<year>)", False, _on_day),
        (rf"(?P<month>{MONTH}) (?P<day>{DAY})(?P<year>)", False, _on_day),
        (rf"(?:{WEEKDAY} |{_BY} )the {_NUMBERED}(?! (?:of|time))", False, _numbered),
        (
            r"(?:the )?end of (?:the )?(?P<which>this |next |the )?(?P<unit>day|week"
            r"|month|quarter|year)",
            False,
            _end_of,
        ),
        (rf"{_BY} (?P<weekday>{WEEKDAY})", False, _weekday),
        (r"tomorrow", False, _tomorrow),
        (r"(?P<end>eod|cob|eow|eom|eoq|eoy)", False, _short),
        (
            rf"(?:in|within)(?: the)?(?: next)? {_COUNT} (?P<unit>day|week|month)s?",
            False,
            _within,
        ),
        (r"(?P<which>next |this )(?P<unit>week|month|quarter)", False, _end_of),
        (r"today|tonight|this (?:morning|afternoon|evening)", False, _today),
        (
            rf"(?:by|until|before|end of)(?: the)?(?: end of)? (?P<month>{MONTH})(?:"
            rf" (?P<year>{YEAR}))?",
            False,
            _by_month,
        ),
    )
)


def due_in(text: str, said_at: datetime | None) -> datetime | None:
    """Return the end of the day that `text` names, seen from when it was said.

    Without a day to count from only dates with their year are read; None where there
    is no date.
    """
    today = timezone.localtime(said_at).date() if said_at else None
    for form, absolute, reader in _FORMS:
        if today is None and not absolute:
            continue
        if found := form.search(text):
            try:
                return end_of_day(reader(found, today or date.min))
            except (ValueError, OverflowError):
                continue  # 31 February
    return None


def end_of_day(day: date) -> datetime:
    """Return the last second of `day` where the site is."""
    last = time(23, 59, 59)
    return datetime.combine(day, last, timezone.get_default_timezone())
