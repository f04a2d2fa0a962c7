"""Spans of days on the calendar: what each form of a date means, seen from a day.

A month, a weekday or a day without its year is the latest that has begun.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta

from connections.registry import Registry

_months = "jan feb mar apr may jun jul aug sep oct nov dec"
_weekdays = "monday tuesday wednesday thursday friday saturday sunday"
_numbers = "one two three four five six seven eight nine ten eleven twelve"
MONTHS, WEEKDAYS = _months.split(), _weekdays.split()
ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": 4}
COUNTS = {word: number for number, word in enumerate(_numbers.split(), start=1)} | {
    "a": 1,
    "an": 1,
    "few": 3,
    "couple": 2,
}
ONE = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Days:
    """The days from `first` until before `after`."""

    first: date
    after: date


Reader = Callable[..., Days]
readers: Registry[Reader] = Registry("form of a date")


def day(at: date) -> Days:
    return Days(at, at + ONE)


def week(at: date) -> Days:
    monday = at - ONE * at.weekday()
    return Days(monday, monday + 7 * ONE)


def month(at: date) -> Days:
    return months(at.replace(day=1), 1)


def quarter(at: date) -> Days:
    return months(date(at.year, at.month - (at.month - 1) % 3, 1), 3)


def year(at: date) -> Days:
    return months(date(at.year, 1, 1), 12)


def months(first: date, count: int) -> Days:
    return Days(first, later(first, count))


def later(at: date, count: int) -> date:
    """Return the day `count` months later, or the last of a shorter month."""
    years, month0 = divmod(at.month - 1 + count, 12)
    first = date(at.year + years, month0 + 1, 1)
    length = (
        date(first.year + first.month // 12, first.month % 12 + 1, 1) - first
    ).days
    return first.replace(day=min(at.day, length))


CALENDAR = {"day": day, "week": week, "month": month, "quarter": quarter, "year": year}
UNIT_MONTHS = {"month": 1, "quarter": 3, "year": 12}


def earlier(today: date, count: int, unit: str) -> date:
    """Return the day `count` days, weeks, months, quarters or years ago."""
    if unit in UNIT_MONTHS:
        return later(today, -count * UNIT_MONTHS[unit])
    return today - count * (7 * ONE if unit == "week" else ONE)


def count_of(word: str) -> int:
    if word.isdigit():
        return int(word)
    words = word.removesuffix(" of").split()
    return COUNTS[words[-1]]


def month_number(word: str) -> int:
    return MONTHS.index(word[:3]) + 1


def day_number(word: str) -> int:
    return int("".join(filter(str.isdigit, word)))


@readers.register("iso_day")
def iso_day(today: date, y: str, m: str, d: str) -> Days:
    return day(date(int(y), int(m), int(d)))


@readers.register("iso_month")
def iso_month(today: date, y: str, m: str) -> Days:
    return month(date(int(y), int(m), 1))


@readers.register("dotted")
def dotted(today: date, d: str, m: str, y: str) -> Days:
    return day(date(int(y), int(m), int(d)))


@readers.register("day_month")
def day_month(today: date, d: str, m: str, y: str | None) -> Days:
    number, of = day_number(d), month_number(m)
    if y:
        return day(date(int(y), of, number))
    return day(_latest(today, of, number))


def _latest(today: date, of: int, number: int) -> date:
    """Return the latest such day that has begun; 29 February may be years ago."""
    for year_ in range(today.year, today.year - 9, -1):
        try:
            at = date(year_, of, number)
        except ValueError:
            continue
        if at <= today:
            return at
    raise ValueError(f"there is no day {number} in month {of}")


@readers.register("month_day")
def month_day(today: date, m: str, d: str, y: str | None) -> Days:
    return day_month(today, d, m, y)


@readers.register("month_year")
def month_year(today: date, m: str, y: str) -> Days:
    return month(date(int(y), month_number(m), 1))


@readers.register("quarter")
def quarter_number(today: date, n: str, y: str | None) -> Days:
    first = date(int(y or today.year), 3 * int(n) - 2, 1)
    if not y and first > today:
        first = later(first, -12)
    return quarter(first)


@readers.register("quarter_words")
def quarter_words(today: date, n: str, y: str) -> Days:
    return quarter_number(today, str(ORDINALS[n]), y)


@readers.register("half")
def half(today: date, n: str, y: str) -> Days:
    return months(date(int(y), 6 * int(n) - 5, 1), 6)


@readers.register("day_word")
def day_word(today: date, word: str) -> Days:
    back = {"today": 0, "yesterday": 1}.get(word, 2)
    return day(today - back * ONE)


@readers.register("this_unit")
def this_unit(today: date, unit: str) -> Days:
    return CALENDAR[unit](today)


@readers.register("last_unit")
def last_unit(today: date, unit: str) -> Days:
    return CALENDAR[unit](CALENDAR[unit](today).first - ONE)


@readers.register("weekend")
def weekend(today: date, which: str) -> Days:
    this = week(today) if which == "this" else last_unit(today, "week")
    return Days(this.after - 2 * ONE, this.after)


@readers.register("past")
def past(today: date, count: str, unit: str) -> Days:
    return Days(earlier(today, count_of(count), unit), today + ONE)


@readers.register("past_unit")
def past_unit(today: date, unit: str) -> Days:
    return past(today, "1", unit)


@readers.register("ago")
def ago(today: date, count: str, unit: str) -> Days:
    """A week, month or year ago is all of that week, month or year."""
    return CALENDAR[unit](earlier(today, count_of(count), unit))


@readers.register("weekday")
def weekday(today: date, name: str) -> Days:
    return day(today - (today.weekday() - WEEKDAYS.index(name)) % 7 * ONE)


@readers.register("last_weekday")
def last_weekday(today: date, name: str) -> Days:
    return weekday(today - ONE, name)


@readers.register("month")
def month_name(today: date, m: str) -> Days:
    return month(_latest(today, month_number(m), 1))


@readers.register("which_month")
def which_month(today: date, which: str, m: str) -> Days:
    this = month_name(today, m)
    if which != "this" and today < this.after:
        return months(later(this.first, -12), 1)
    return this


@readers.register("year")
def year_number(today: date, y: str) -> Days:
    if int(y) > today.year + 1:
        raise ValueError(f"nothing is said of {y} yet")
    return year(date(int(y), 1, 1))
