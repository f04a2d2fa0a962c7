"""The names that extraction knows: a maintained list, and those of a project."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

import ahocorasick
import yaml
from django.core.exceptions import ImproperlyConfigured

LIST = Path(__file__).with_name("vocabulary.yaml")
TYPES = {"agents": "agent", "technologies": "technology", "patterns": "pattern"}
NAME_TYPES = frozenset(TYPES.values())


class _Plain(dict[int, int]):
    """Blanks for all but letters, digits, "+" and "#": one each, so offsets stay."""

    def __missing__(self, code: int) -> int:
        kept = chr(code).isalnum() or code in (0x2B, 0x23)
        self[code] = code if kept else 0x20
        return self[code]


_PLAIN = _Plain()


class Use(StrEnum):
    """Where a spelling counts as a name."""

    ALWAYS = "always"
    AS_WRITTEN = "as written"
    IN_COMPANY = "in company"


@dataclass(frozen=True, slots=True)
class Name:
    """A name of something, its type, and how else it is spelt."""

    name: str
    type: str
    spellings: tuple[str, ...] = ()
    use: Use = Use.ALWAYS


@dataclass(frozen=True, slots=True)
class Form:
    """One spelling of a name; `use` is that of this spelling."""

    name: str
    type: str
    spelling: str
    use: Use


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Spellings by their plain form, the automaton that finds them, a fingerprint."""

    forms: Mapping[str, Form]
    automaton: ahocorasick.Automaton
    fingerprint: str


def plain(text: str) -> str:
    """Return `text` in small letters, a blank for each sign; every offset stays."""
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    return lowered.translate(_PLAIN)


def same_name(name: str) -> str:
    """Return what all spellings of `name` have in common: "cursor pagination"."""
    return " ".join(plain(name).split())


@cache
def listed_names() -> tuple[Name, ...]:
    """Return the maintained list; a name in it twice is an error."""
    said = yaml.safe_load(LIST.read_text(encoding="utf-8"))
    names = [
        _name(line, kind, Use(use))
        for group, kind in TYPES.items()
        for use, lines in said[group].items()
        for line in lines
    ]
    seen: set[str] = set()
    for name in names:
        if (same := same_name(name.name)) in seen:
            raise ImproperlyConfigured(f"{LIST.name} has {name.name!r} twice.")
        seen.add(same)
    return tuple(names)


def _name(line: str, kind: str, use: Use) -> Name:
    name, *others = (each.strip() for each in line.split(","))
    return Name(name, kind, tuple(others), use)


@cache
def partial_names() -> Mapping[str, tuple[Name, ...]]:
    """Return the words of a question that stand for a part of listed names."""
    said = yaml.safe_load(LIST.read_text(encoding="utf-8"))
    return {
        word: tuple(
            name
            for name in listed_names()
            if any(
                word in same_name(spelling).split() for spelling, _ in _spellings(name)
            )
        )
        for word in said["partial"]
    }


@cache
def platforms() -> frozenset[str]:
    """Return the names of what others run on."""
    said = yaml.safe_load(LIST.read_text(encoding="utf-8"))
    return frozenset(said["platforms"])


def make_vocabulary(own: Iterable[Name], cues: Iterable[str] = ()) -> Vocabulary:
    """Return the vocabulary of the list and of `own` names, which come first.

    `cues` are words that the automaton finds besides.
    """
    forms: dict[str, Form] = {}
    for name in (*own, *listed_names()):
        for spelling, use in _spellings(name):
            forms.setdefault(
                f" {same_name(spelling)} ", Form(name.name, name.type, spelling, use)
            )
    forms.pop("  ", None)
    automaton = ahocorasick.Automaton()
    for form in (*forms, *(f" {cue} " for cue in cues)):
        automaton.add_word(form, form)
    automaton.make_automaton()
    listed = "\n".join(f"{form}{f}" for form, f in sorted(forms.items()))
    return Vocabulary(
        forms, automaton, hashlib.sha256(listed.encode()).hexdigest()[:12]
    )


def _spellings(name: Name) -> Iterable[tuple[str, Use]]:
    yield name.name, name.use
    for spelling in name.spellings:
        yield spelling, Use.ALWAYS
    several = same_name(name.name)
    # "feature flags" are the pattern, "databases" are no name.
    if name.type == "pattern" and " " in several and not several.endswith("s"):
        yield f"{several[:-1]}ies" if several.endswith("y") else f"{several}s", name.use
