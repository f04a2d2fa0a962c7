"""Reference pages made from parts: support articles, accounts, runbooks, releases."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from connections.demo.company import FIRST_DAY, ZONE, Company, read_mapping
from connections.demo.words import Distinct, Words


@dataclass(frozen=True, slots=True)
class Page:
    """A Markdown page at `path` below the folder; `updated` is its last change."""

    path: str
    title: str
    owner: str
    updated: date
    tags: tuple[str, ...]
    sections: tuple[tuple[str, str], ...]

    def markdown(self) -> str:
        """Return the page with its frontmatter."""
        head = (
            f'---\ntitle: "{self.title}"\nowner: {self.owner}\n'
            f"updated: {self.updated}\ntags: [{', '.join(self.tags)}]\n---\n"
        )
        parts = [f"# {self.title}", *(f"## {h}\n{text}" for h, text in self.sections)]
        return head + "\n\n".join(parts) + "\n"


_HEADINGS = {
    "kb": ("What is seen", "Cause", "What helps", "What to avoid"),
    "account": ("Who they are", "How they use it", "Wishes", "Notes"),
    "runbook": ("What this is for", "First look", "What to do", "Afterwards"),
    "release": ("New", "Repaired", "Known"),
    "month": ("Result", "Payments", "To watch"),
}
_NOT_SECTIONS = ("titles",)


class Pages:
    """Writes pages of one company from one source of chance."""

    def __init__(
        self, company: Company, rng: random.Random, distinct: Distinct
    ) -> None:
        self._company = company
        self._rng = rng
        self._distinct = distinct
        self._parts: dict[str, dict[str, list[str]]] = read_mapping("pages.yaml")

    def all(self) -> list[Page]:
        """Return every page that is made from parts."""
        return [
            *self._articles(),
            *self._accounts(),
            *self._runbooks(),
            *self._releases(),
            *self._months(),
        ]

    def _words(self, day: date) -> Words:
        at = datetime.combine(day, time(12), ZONE)
        return Words(self._company, self._rng, at)

    def _day(self, first: date, last: date) -> date:
        day = first + timedelta(self._rng.randrange((last - first).days))
        return day - timedelta(max(0, day.weekday() - 4))

    def _sections(self, kind: str, words: Words) -> tuple[tuple[str, str], ...]:
        made = []
        parts = [p for p in self._parts[kind] if p not in _NOT_SECTIONS]
        for part, heading in zip(parts, _HEADINGS[kind], strict=True):
            templates = self._parts[kind][part]
            text = self._distinct.say(f"{kind}/{part}", self._rng, templates, words)
            made.append((heading, text))
        return tuple((heading, text) for heading, text in made if text)

    def _articles(self) -> list[Page]:
        pages = []
        symptoms = self._rng.sample(self._company.words["symptom"], 12)
        for code, symptom in zip(self._company.words["code"], symptoms, strict=True):
            day = self._day(date(2026, 5, 5), date(2026, 7, 17))
            words = self._words(day)
            words.update(code=code, symptom=symptom)
            title = words.say(self._rng.choice(self._parts["kb"]["titles"]))
            owner = self._rng.choice(["Anna Okonjolu", "Eoin Mulgraine"])
            made = self._sections("kb", words)
            path = f"support/kb/{code.lower()}.md"
            pages.append(Page(path, title, owner, day, ("support", "kb"), made))
        return pages

    def _accounts(self) -> list[Page]:
        pages = []
        for customer in list(self._company.customers.values())[:26]:
            day = self._day(FIRST_DAY, date(2026, 11, 13))
            words = self._words(day)
            words.update(
                customer=customer.name, town=customer.town, segment=customer.segment,
                contact=customer.contact_name,
            )  # fmt: skip
            owner = self._rng.choice(["Callum Reyeston", "Yusra Haddadin"])
            made = self._sections("account", words)
            path = f"sales/accounts/{customer.slug}.md"
            tags = ("sales", "account", customer.segment)
            pages.append(Page(path, customer.name, owner, day, tags, made))
        return pages

    def _runbooks(self) -> list[Page]:
        pages = []
        for service in self._company.words["service"]:
            day = self._day(date(2026, 1, 8), date(2026, 11, 6))
            words = self._words(day)
            words["service"] = service
            name = service.removeprefix("the ")
            owner = self._rng.choice(["Jonas Achterbeek", "Tomasz Wielgusz"])
            made = self._sections("runbook", words)
            path = f"engineering/runbooks/{name.lower().replace(' ', '-')}.md"
            tags = ("engineering", "runbook")
            pages.append(Page(path, f"Runbook: {name}", owner, day, tags, made))
        return pages

    def _releases(self) -> list[Page]:
        first = date(2026, 4, 7)
        days: Sequence[date] = [first + timedelta(14 * n) for n in range(17)][::2]
        return [self._release(day) for day in days]

    def _release(self, day: date) -> Page:
        made = self._sections("release", self._words(day))
        title = f"Release of {day.day} {day:%B %Y}"
        path = f"product/releases/{day}.md"
        return Page(path, title, "Beatriz Nogarra", day, ("release",), made)

    def _months(self) -> list[Page]:
        pages = []
        for number in range(10):
            end = date(2026, number + 1, 5)
            words = self._words(end)
            month = end - timedelta(6)
            words["month"] = f"{month:%B}"
            made = self._sections("month", words)
            title = f"Finance note {month:%B %Y}"
            path = f"finance/notes/{month:%Y-%m}.md"
            tags = ("finance", "month")
            pages.append(Page(path, title, "Lucía Ferranova", end, tags, made))
        return pages
