"""The demo company: its people, customers, channels and words, read from `text/`."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache
from pathlib import Path
from zoneinfo import ZoneInfo

import yaml

TEXT = Path(__file__).parent / "text"
ZONE = ZoneInfo("Europe/Dublin")
FIRST_DAY = date(2025, 11, 20)
LAST_DAY = date(2026, 11, 20)
MOVED = date(2026, 7, 13)
TEAM_ID = "T08TARNWIK"


@dataclass(frozen=True, slots=True)
class Person:
    """A colleague; `changed` is the day on which name and address became today's."""

    handle: str
    name: str
    email: str
    title: str
    team: str
    former_name: str = ""
    former_email: str = ""
    changed: date | None = None
    name_only: bool = False
    in_slack: bool = True

    @property
    def slack_id(self) -> str:
        return "U0" + short_hash(self.handle, 9)

    def name_at(self, moment: datetime) -> str:
        """Return the name that was in use at `moment`."""
        return self.former_name if self._before(moment) else self.name

    def email_at(self, moment: datetime) -> str:
        """Return the address that was in use at `moment`."""
        return self.former_email if self._before(moment) else self.email

    def _before(self, moment: datetime) -> bool:
        return self.changed is not None and moment.date() < self.changed


@dataclass(frozen=True, slots=True)
class Customer:
    """A customer, with the person there who writes mails."""

    id: int
    name: str
    revenue: int
    segment: str
    town: str
    contact: str

    @property
    def slug(self) -> str:
        return self.name.split()[0].lower()

    @property
    def contact_name(self) -> str:
        return self.contact or f"{self.name} Quality"

    @property
    def first_name(self) -> str:
        return self.contact.split()[0] if self.contact else "colleagues"

    @property
    def email(self) -> str:
        local = self.contact.lower().replace(" ", ".") if self.contact else "quality"
        return f"{local}@{self.slug}.example"


@dataclass(frozen=True, slots=True)
class Channel:
    """A Slack conversation; `fill` is how many threads are made from parts."""

    name: str
    id: str
    topic: str
    kind: str
    members: tuple[str, ...]
    fill: int


@dataclass(frozen=True, slots=True)
class Company:
    """Everything that the story is told with."""

    people: dict[str, Person]
    customers: dict[str, Customer]
    recent: tuple[str, ...]
    channels: dict[str, Channel]
    words: dict[str, list[str]]
    holidays: frozenset[date]


def read_mapping(name: str) -> dict:
    """Return the mapping that `text/{name}` holds."""
    found = yaml.safe_load((TEXT / name).read_text(encoding="utf-8"))
    if not isinstance(found, dict):
        raise TypeError(f"text/{name} should hold a mapping at its top.")
    return found


def read_rows(name: str) -> list[dict]:
    """Return the list of mappings that `text/{name}` holds."""
    found = yaml.safe_load((TEXT / name).read_text(encoding="utf-8"))
    if not isinstance(found, list):
        raise TypeError(f"text/{name} should hold a list at its top.")
    return found


def short_hash(text: str, length: int) -> str:
    """Return `length` upper-case letters and digits that follow from `text`."""
    number = int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")
    letters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
    return "".join(letters[(number >> (5 * i)) & 31] for i in range(length))


def at_local(text: str) -> datetime:
    """Return "2026-02-03 10:12" as that moment in the company's time zone."""
    return datetime.strptime(str(text), "%Y-%m-%d %H:%M").replace(tzinfo=ZONE)


def listed(value: object) -> list[str]:
    """Return one string or a list of them as a list."""
    return [str(v) for v in value] if isinstance(value, list) else [str(value)]


@cache
def load_company() -> Company:
    """Return the company as `text/` describes it."""
    facts = read_mapping("people.yaml")
    sold = read_mapping("customers.yaml")
    words = read_mapping("words.yaml")
    people = {p["handle"]: _person(p, facts["domain"]) for p in facts["people"]}
    customers = [
        Customer(number, *row) for number, row in enumerate(sold["customers"], start=1)
    ]
    return Company(
        people=people,
        customers={c.name: c for c in customers},
        recent=tuple(sold["recent"]),
        channels={c["name"]: _channel(c, people) for c in facts["channels"]},
        words={name: [str(v) for v in values] for name, values in words.items()},
        holidays=_holidays(),
    )


def _person(facts: dict[str, str], domain: str) -> Person:
    former = facts.get("former_email", "")
    changed = facts.get("changed")
    return Person(
        handle=facts["handle"],
        name=facts["name"],
        email=f"{facts['email']}@{domain}" if facts["email"] else "",
        title=facts["title"],
        team=facts["team"],
        former_name=facts.get("former_name", ""),
        former_email=f"{former}@{domain}" if former else "",
        changed=changed if isinstance(changed, date) else None,
        name_only=facts.get("transcripts") == "name only",
        in_slack=bool(facts.get("slack", True)),
    )


def _channel(facts: dict[str, object], people: dict[str, Person]) -> Channel:
    kinds = ("private", "dm", "unlisted")
    asked = listed(facts["members"])
    members = [
        p.handle
        for p in people.values()
        if p.in_slack and ("all" in asked or p.team in asked or p.handle in asked)
    ]
    return Channel(
        name=str(facts["name"]),
        id=str(facts["id"]),
        topic=str(facts.get("topic", "")),
        kind=next((kind for kind in kinds if facts.get(kind)), "public"),
        members=tuple(members),
        fill=int(str(facts.get("fill", 0))),
    )


def _holidays() -> frozenset[date]:
    rows = (TEXT / "files/handbook/holiday-calendar-2026.csv").read_text("utf-8")
    days = [row.split(",")[0] for row in rows.splitlines()[1:]]
    return frozenset(date.fromisoformat(day) for day in days)
