"""Which identities are one person: a pure function, so that any order of arrival
gives the same persons, and what became ambiguous comes apart again."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

_BRACKETED = re.compile(r"\([^)]*\)|\[[^\]]*\]|\"[^\"]*\"")
_WORD = re.compile(r"[^\W\d_][\w'.\u2019-]*")


@dataclass(frozen=True, slots=True)
class Named:
    """An identity as the function sees it; `side` is mail, chat or name."""

    key: str
    side: str
    address: str = ""
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Decision:
    """A person's word on two identities: merge or split."""

    verb: str
    first: str
    second: str


@dataclass(frozen=True, slots=True)
class Link:
    """Two identities of one human, and why."""

    first: str
    second: str
    because: str


@dataclass(frozen=True, slots=True)
class Person:
    """A component: its identities, sorted, and the links that hold it together."""

    identities: tuple[str, ...]
    links: tuple[Link, ...]

    @property
    def key(self) -> str:
        return f"identity:{self.identities[0]}"


def full_name(name: str) -> str:
    """Return `name` in a form that compares, or "" where it is no full name.

    "Lee, Ann" is "ann lee"; accents, case and what stands in brackets do not count.
    One word, an address, a name with digits or "Ann via List" is no full name.
    """
    if "@" in name or re.search(r"\bvia\b", name, re.IGNORECASE):
        return ""
    plain = _BRACKETED.sub(" ", name).strip().strip("'\"")
    plain = unicodedata.normalize("NFKD", plain)
    plain = "".join(c for c in plain if not unicodedata.combining(c)).casefold()
    last, comma, first = plain.partition(",")
    if comma:
        plain = f"{first} {last}"
    words = [word.strip(".") for word in plain.split()]
    if len(words) < 2 or not all(_WORD.fullmatch(word) for word in words):
        return ""
    return " ".join(words)


class _Components:
    """Union-find that refuses to join what people have split."""

    def __init__(self, keys: Iterable[str], splits: Iterable[tuple[str, str]]) -> None:
        self.parent = {key: key for key in keys}
        self.splits = [pair for pair in splits if self.parent.keys() >= set(pair)]

    def find(self, key: str) -> str:
        while self.parent[key] != key:
            self.parent[key] = self.parent[self.parent[key]]
            key = self.parent[key]
        return key

    def join(self, first: str, second: str) -> bool:
        """Join two components; False where a split forbids it."""
        a, b = sorted((self.find(first), self.find(second)))
        if a == b:
            return True
        for one, other in self.splits:
            if {self.find(one), self.find(other)} == {a, b}:
                return False
        self.parent[b] = a
        return True


def persons(
    identities: Sequence[Named], decisions: Sequence[Decision] = ()
) -> list[Person]:
    """Return the persons of `identities`, by key.

    Two are one where people merged them, where the address is equal, or where a
    normalised full name is that of exactly one component on each side that knows it.
    What people have split never shares a person.
    """
    keys = {identity.key for identity in identities}
    splits = [(d.first, d.second) for d in decisions if d.verb == "split"]
    components = _Components(keys, splits)
    links = _joined(components, _decided(keys, decisions) + _by_address(identities))
    found = {identity.key: components.find(identity.key) for identity in identities}
    links += _joined(components, _by_name(identities, found))
    return _collect(keys, components, links)


def _joined(components: _Components, links: Sequence[Link]) -> list[Link]:
    return [link for link in links if components.join(link.first, link.second)]


def _decided(keys: set[str], decisions: Sequence[Decision]) -> list[Link]:
    return [
        Link(d.first, d.second, "merged by a person")
        for d in sorted(decisions, key=lambda d: (d.first, d.second))
        if d.verb == "merge" and d.first in keys and d.second in keys
    ]


def _chain(keys: Iterable[str], because: str) -> list[Link]:
    first, *others = sorted(keys)
    return [Link(first, other, because) for other in others]


def _by_address(identities: Sequence[Named]) -> list[Link]:
    owners: dict[str, set[str]] = defaultdict(set)
    for identity in identities:
        if identity.address:
            owners[identity.address.lower()].add(identity.key)
    return [
        link
        for address, keys in sorted(owners.items())
        for link in _chain(keys, f"same address {address}")
    ]


def _by_name(identities: Sequence[Named], component: Mapping[str, str]) -> list[Link]:
    sides: dict[str, dict[str, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    for identity in sorted(identities, key=lambda i: i.key, reverse=True):
        for name in filter(None, map(full_name, identity.names)):
            sides[name][identity.side][component[identity.key]] = identity.key
    links = []
    for name, by_side in sorted(sides.items()):
        if all(len(found) == 1 for found in by_side.values()):
            keys = {key for found in by_side.values() for key in found.values()}
            if len(keys) > 1:
                links += _chain(keys, f"same full name {name}, nobody else's")
    return links


def _collect(
    keys: set[str], components: _Components, links: Sequence[Link]
) -> list[Person]:
    members: dict[str, list[str]] = defaultdict(list)
    held: dict[str, list[Link]] = defaultdict(list)
    for key in sorted(keys):
        members[components.find(key)].append(key)
    for link in links:
        held[components.find(link.first)].append(link)
    return [
        Person(tuple(identities), tuple(held[root]))
        for root, identities in sorted(members.items())
    ]
