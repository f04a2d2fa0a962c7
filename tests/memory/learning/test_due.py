from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from django.utils import timezone

from memory.learning.due import due_in

MONDAY = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Ann will send it by Friday.", date(2026, 3, 6)),
        ("by Monday", date(2026, 3, 2)),
        ("by next Monday", date(2026, 3, 9)),
        ("I will do it tomorrow", date(2026, 3, 3)),
        ("by 30 October", date(2026, 10, 30)),
        ("by October 30th", date(2026, 10, 30)),
        ("by the thirtieth of October", date(2026, 10, 30)),
        ("by 3 January", date(2027, 1, 3)),
        ("by Friday 19 December 2025", date(2025, 12, 19)),
        ("on 2026-05-04", date(2026, 5, 4)),
        ("Live by Tuesday the twenty-fourth.", date(2026, 3, 24)),
        ("by the 1st", date(2026, 4, 1)),
        ("by the end of the week", date(2026, 3, 6)),
        ("by the end of March", date(2026, 3, 31)),
        ("by end of month", date(2026, 3, 31)),
        ("by EOD", date(2026, 3, 2)),
        ("EOQ at the latest", date(2026, 3, 31)),
        ("within two weeks", date(2026, 3, 16)),
        ("next week", date(2026, 3, 13)),
        ("by June", date(2026, 6, 30)),
        ("before February", date(2027, 2, 28)),
        ("by 31 February", None),
        ("some day", None),
        ("It may work.", None),
        ("in the second half", None),
    ],
)
def test_a_day_is_counted_from_when_it_was_said(text, day):
    due = due_in(text, MONDAY)
    assert (timezone.localdate(due) if due else None) == day


def test_without_a_day_to_count_from_only_a_whole_date_counts():
    assert due_in("by Friday", None) is None
    assert due_in("by 30 October", None) is None
    assert timezone.localdate(due_in("by 30 October 2026", None)) == date(2026, 10, 30)


def test_it_is_due_at_the_end_of_the_day():
    due = timezone.localtime(due_in("by Friday", MONDAY))
    assert (due.hour, due.minute) == (23, 59)
