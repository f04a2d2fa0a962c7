"""Which persons may be one though nothing proves it: a pure function for people to judge.

It finds what `graph.persons` leaves apart on purpose: a full name that several have, a
name spelt almost alike or with an initial, one mailbox name under two domains.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from graph.persons import full_name
from graph.review import near_names

SIMILAR = 0.6
# A word that so many names share tells nobody apart; neither does a mailbox name.
MOST_ALIKE = 40
MOST_SHARING, FEWEST_LETTERS = 4, 5
# Of a name that many have, each is held against the first only: merges are transitive.
PAIRED = 5
# Mailboxes of a function, not of a person (RFC 2142 and what is customary besides).
FUNCTIONS = frozenset(
    [
        "abuse",
        "accounts",
        "admin",
        "administrator",
        "billing",
        "careers",
        "contact",
        "contracts",
        "data",
        "dev",
        "devops",
        "editor",
        "enquiries",
        "events",
        "feedback",
        "finance",
        "hello",
        "helpdesk",
        "hostmaster",
        "hr",
        "info",
        "inquiries",
        "invoices",
        "jobs",
        "legal",
        "list",
        "lists",
        "mail",
        "mailer-daemon",
        "maintainer",
        "marketing",
        "media",
        "members",
        "news",
        "newsletter",
        "noc",
        "no-reply",
        "noreply",
        "notifications",
        "office",
        "operations",
        "orders",
        "partners",
        "postmaster",
        "press",
        "privacy",
        "purchasing",
        "recruiting",
        "root",
        "sales",
        "security",
        "service",
        "shop",
        "support",
        "sysadmin",
        "team",
        "usenet",
        "users",
        "uucp",
        "webmaster",
        "welcome",
        "www",
    ]
)


@dataclass(frozen=True, slots=True)
class Someone:
    """A person with all that their identities say: full names and addresses."""

    person_id: int
    key: str
    names: frozenset[str]
    addresses: frozenset[str]
    identities: tuple[str, ...] = ()

    @property
    def mailboxes(self) -> frozenset[str]:
        """Return what stands before the @ of their addresses, a tag (+x) left out."""
        return frozenset(
            address.partition("@")[0].partition("+")[0].lower()
            for address in self.addresses
        )


@dataclass(slots=True)
class Pair:
    """Two persons who may be one, and every reason found."""

    one: Someone
    other: Someone
    reasons: list[str] = field(default_factory=list)
    score: float = 0.0


def someone(
    person_id: int,
    key: str,
    names: Iterable[str],
    addresses: Iterable[str],
    identities: Iterable[str] = (),
) -> Someone:
    """Return a person by the full names among `names`, in the form that compares."""
    return Someone(
        person_id,
        key,
        frozenset(filter(None, map(full_name, names))),
        frozenset(filter(None, addresses)),
        tuple(identities),
    )


def alike(people: Sequence[Someone]) -> list[Pair]:
    """Return the pairs of `people` that may be one person, each once, by their keys."""
    found: dict[tuple[str, str], Pair] = {}
    for one, other, reason, score in (
        *_same_name(people),
        *_similar_names(people),
        *_same_mailbox(people),
    ):
        first, second = sorted((one, other), key=lambda who: who.key)
        pair = found.setdefault((first.key, second.key), Pair(first, second))
        if reason not in pair.reasons:
            pair.reasons.append(reason)
        pair.score = max(pair.score, score)
    return [pair for _, pair in sorted(found.items())]


Found = tuple[Someone, Someone, str, float]


def _same_name(people: Sequence[Someone]) -> Iterator[Found]:
    holders: dict[str, list[Someone]] = defaultdict(list)
    for who in people:
        for name in who.names:
            holders[name].append(who)
    for name, several in holders.items():
        for one, other in _paired(several):
            yield (
                one,
                other,
                f"both are called {name}, and so the name is no proof",
                1.0,
            )


def _paired(several: list[Someone]) -> Iterable[tuple[Someone, Someone]]:
    several = sorted(several, key=lambda who: who.key)
    if len(several) <= PAIRED:
        return combinations(several, 2)
    return ((several[0], other) for other in several[1:])


def _similar_names(people: Sequence[Someone]) -> Iterator[Found]:
    """Yield persons with different names that share a word and are spelt alike."""
    by_word: dict[str, set[tuple[str, int]]] = defaultdict(set)
    for place, who in enumerate(people):
        for name in who.names:
            for word in name.split():
                if len(word) > 2:
                    by_word[word].add((name, place))
    compared: set[tuple[int, int, str, str]] = set()
    for held in by_word.values():
        if len(held) > MOST_ALIKE:
            continue
        for (name, one), (said, other) in combinations(sorted(held), 2):
            pair = (one, other, name, said)
            if one == other or name == said or pair in compared:
                continue
            compared.add(pair)
            if reason := how_alike(name, said):
                yield people[one], people[other], *reason


def how_alike(name: str, said: str) -> tuple[str, float] | None:
    """Return why two full names may be of one person, with how much; None: they differ."""
    if _is_short_for(name, said) or _is_short_for(said, name):
        return f"{name} may be short for {said}", SIMILAR
    share = similarity(name, said)
    if share < SIMILAR:
        return None
    return f"{name} and {said} are spelt alike ({share:.2f})", share


def similarity(one: str, other: str) -> float:
    """Return the share of trigrams two texts have in common, as pg_trgm counts them."""
    return near_names.alike(near_names.trigrams(one), near_names.trigrams(other))


def _is_short_for(name: str, said: str) -> bool:
    """Return whether `name` is `said` with first names as initials: "a lee"."""
    firsts, others = name.split(), said.split()
    last, family = firsts[-1:], others[-1:]
    firsts, others = firsts[:-1], others[:-1]
    return (
        bool(firsts)
        and last == family
        and len(firsts) <= len(others)
        and all(len(first) == 1 for first in firsts)
        and any(len(other) > 1 for other in others)
        and all(o.startswith(f) for f, o in zip(firsts, others, strict=False))
    )


def _same_mailbox(people: Sequence[Someone]) -> Iterator[Found]:
    """Yield persons with one mailbox name under two domains, unless their names say
    that they are two."""
    holders: dict[str, list[Someone]] = defaultdict(list)
    for who in people:
        for mailbox in who.mailboxes:
            if _is_personal(mailbox):
                holders[mailbox].append(who)
    for mailbox, several in holders.items():
        if not 1 < len(several) <= MOST_SHARING:
            continue
        for one, other in combinations(several, 2):
            if not _named_apart(one, other):
                yield one, other, f"both have a mailbox {mailbox}@", 0.8


def _is_personal(mailbox: str) -> bool:
    letters = sum(c.isalpha() for c in mailbox)
    return letters >= FEWEST_LETTERS and mailbox not in FUNCTIONS


def _named_apart(one: Someone, other: Someone) -> bool:
    """Return whether both have full names, and none of one is like one of the other."""
    if not one.names or not other.names:
        return False
    return not any(
        name == said or how_alike(name, said)
        for name in one.names
        for said in other.names
    )
