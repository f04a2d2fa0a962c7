"""Sentences from parts: one set of words a conversation, no two alike."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime, time, timedelta

from connections.demo.company import FIRST_DAY, LAST_DAY, ZONE, Company

TOO_ALIKE = 0.72
_NUMBERS = {
    "n": (5, 14), "m": (2, 4), "count": (14, 190), "hour": (9, 15),
    "minutes": (14, 95), "percent": (91, 99), "gb": (3, 38), "weeks": (5, 26),
}  # fmt: skip


class Words(dict[str, str]):
    """The words of one conversation: each slot is drawn once and then kept.

    A digit at the end of a slot's name asks for another word of the same list, a
    capital letter at its beginning for the word with a capital.
    """

    def __init__(self, company: Company, rng: random.Random, at: datetime) -> None:
        super().__init__()
        self._company = company
        self._rng = rng
        self.at = at
        first, second = rng.sample(list(company.customers.values()), 2)
        self.customer = first
        self.update(
            customer=first.name, town=first.town, segment=first.segment,
            contact=first.contact_name, first=first.first_name, slug=first.slug,
            customer2=second.name, town2=second.town,
            week=str(at.isocalendar().week), hour=str(rng.randint(9, 14)),
            ticket=f"T-{rng.randint(2100, 9890)}",
            invoice=f"RK-26{rng.randint(10000, 99999)}",
            offer=f"O-{rng.randint(1000, 9999)}",
            amount=f"{rng.randint(21, 989) * 10 + 5:,}",
            month=f"{at - timedelta(28):%B}", month2=f"{at + timedelta(31):%B}",
            serial=f"H{rng.randint(2, 9)}-{rng.randint(10000, 99999)}",
        )  # fmt: skip

    def __missing__(self, slot: str) -> str:
        value = self._draw(slot)
        self[slot] = value
        return value

    def _draw(self, slot: str) -> str:
        if slot[0].isupper():
            word = self[slot[0].lower() + slot[1:]]
            return word[0].upper() + word[1:]
        if slot in self._company.words:
            return self._word(slot)
        base = slot.rstrip("0123456789")
        if base == "hour":
            return str(int(self["hour"]) + 1)
        if base == "percent" and slot != base:
            return str(self._rng.randint(52, 96))
        if base in _NUMBERS:
            return str(self._rng.randint(*_NUMBERS[base]))
        return self._word(base)

    def _word(self, base: str) -> str:
        if base.endswith("_bare"):
            return self[base.removesuffix("_bare")].removeprefix("the ")
        if base == "speaker":
            people = [p for p in self._company.people.values() if p.in_slack]
            return self._rng.choice(people).name_at(self.at)
        taken = {self.get(name) for name in (base, f"{base}2", f"{base}3")}
        choices = [w for w in self._company.words[base] if w not in taken]
        return self._rng.choice(choices)

    def say(self, template: str) -> str:
        """Return `template` filled, each sentence begun with a capital."""
        text = template.format_map(self)
        return re.sub(r"(^|[.!?:]\s|\n)(the|a|an|some)\b", _capital, text)


def _capital(match: re.Match[str]) -> str:
    before, word = match.groups()
    if before.startswith(":"):
        return match.group()
    return before + word[0].upper() + word[1:]


def tokens(text: str) -> frozenset[str]:
    """Return the words of `text`, lower-cased, as a set."""
    return frozenset(re.findall(r"\w+", text.lower()))


def likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the Jaccard similarity of two sets of words; 0 where both are empty."""
    union = len(one | other)
    return len(one & other) / union if union else 0.0


class Distinct:
    """Remembers what was said, so that nothing is said twice in nearly one form."""

    def __init__(self, said: Iterable[str] = ()) -> None:
        self._all: set[frozenset[str]] = {tokens(text) for text in said}
        self._scenes: dict[str, list[frozenset[str]]] = defaultdict(list)

    def admit(self, scene: str, text: str) -> bool:
        """Say whether `text` is new; what is new is remembered."""
        words = tokens(text)
        alike = words in self._all or any(
            likeness(words, other) > TOO_ALIKE for other in self._scenes[scene]
        )
        if not alike:
            self._all.add(words)
            self._scenes[scene].append(words)
        return not alike

    def is_new(self, text: str) -> bool:
        """Say whether these words were never said; they are remembered."""
        before = len(self._all)
        self._all.add(tokens(text))
        return len(self._all) > before

    def say(
        self, scene: str, rng: random.Random, templates: Sequence[str], words: Words
    ) -> str:
        """Return one of `templates` filled, or "" when all of them were said before."""
        for template in rng.sample(list(templates), len(templates)):
            text = words.say(template)
            if self.admit(scene, text):
                return text
        return ""


class Clock:
    """Draws working moments: Monday to Friday, nine to five, no holidays."""

    def __init__(self, company: Company, rng: random.Random) -> None:
        self._rng = rng
        days = [FIRST_DAY + timedelta(n) for n in range((LAST_DAY - FIRST_DAY).days)]
        self._days = [
            day for day in days if day.weekday() < 5 and day not in company.holidays
        ]

    def moment(self, allowed: Callable[[date], bool] = lambda day: True) -> datetime:
        """Return a moment between 8:40 and 15:40 on an allowed working day."""
        day = self._rng.choice([day for day in self._days if allowed(day)])
        minute = self._rng.randint(8 * 60 + 40, 15 * 60 + 40)
        return datetime.combine(day, time(minute // 60, minute % 60), ZONE)

    def later(self, moment: datetime) -> datetime:
        """Return a moment 3 to 34 minutes on."""
        return moment + timedelta(minutes=self._rng.randint(3, 34))

    def next_working(self, moment: datetime) -> datetime:
        """Return a moment some hours on, the next working day if it gets late."""
        answer = moment + timedelta(minutes=self._rng.randint(25, 300))
        if answer.hour < 17:
            return answer
        later = next((d for d in self._days if d > moment.date()), LAST_DAY)
        return self.moment(lambda day: day == later)


def spans(limits: Sequence[Sequence[date]] | None) -> Callable[[date], bool]:
    """Return the test whether a day lies in one of `limits`; without any, all do."""
    if not limits:
        return lambda day: True
    return lambda day: any(first <= day <= last for first, last in limits)


def at_noon() -> datetime:
    """Return noon of the last day, for words that belong to no day."""
    return datetime.combine(LAST_DAY, time(12), ZONE)
