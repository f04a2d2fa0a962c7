"""Entities and relations of a text, by rules; pure, and without any model.

Known names are found by one pass of an automaton; decisions, blockers, preferences and
relations are read only in sentences where something was found.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import TypedDict, TypeVar

from graph.claims import CLAIM_TYPES, TYPE_OF_CUE, find_claims, tie
from graph.mentions import Mention, find_mentions, scan
from graph.related import find_relations
from graph.sentences import Sentences, Span, quotable
from graph.vocabulary import (
    Name,
    Vocabulary,
    make_vocabulary,
    partial_names,
    plain,
)

T = TypeVar("T")

# Raise it when the rules change: every text is then read again.
RULES_VERSION = 1
CUES = (*TYPE_OF_CUE, "agent", "agents", "subagent")


class EntityDict(TypedDict):
    name: str
    type: str


# A key of it is a word that Python keeps for itself.
RelationDict = TypedDict("RelationDict", {"from": str, "relation": str, "to": str})


class Extracted(TypedDict):
    """What the published design calls an extraction."""

    entities: list[EntityDict]
    relations: list[RelationDict]


@dataclass(frozen=True, slots=True)
class Entity:
    """Something a text names or states; `name` of a claim is the sentence itself."""

    name: str
    type: str

    @property
    def is_claim(self) -> bool:
        return self.type in CLAIM_TYPES


@dataclass(frozen=True, slots=True)
class Evidence:
    """The words of a text that say so, and where they stand in it."""

    quote: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Relation:
    """`source` -relation-> `target`, both of them entities of the same text."""

    source: Entity
    relation: str
    target: Entity


@dataclass(frozen=True, slots=True)
class Extraction:
    """Entities and relations of a text in order, each with its first evidence; None
    for what its title names."""

    entities: dict[Entity, Evidence | None] = field(default_factory=dict)
    relations: dict[Relation, Evidence] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.entities)

    def as_published(self) -> Extracted:
        """Return it in the published form; what claims concern is no part of that."""
        return {
            "entities": [{"name": e.name, "type": e.type} for e in self.entities],
            "relations": [
                {"from": r.source.name, "relation": r.relation, "to": r.target.name}
                for r in self.relations
                if not r.source.is_claim
            ],
        }


@dataclass(frozen=True, slots=True)
class NamedEntity:
    """A name that a question gives; a partial one stands for each of `names`."""

    said: str
    names: tuple[str, ...]
    types: frozenset[str]
    start: int
    end: int
    is_partial: bool = False


@cache
def listed() -> Vocabulary:
    """Return the maintained list with the cues of claims, built once a process."""
    return make_vocabulary((), CUES)


def vocabulary_with(own: Iterable[Name]) -> Vocabulary:
    """Return the maintained list with a project's own names, which come first."""
    names = tuple(own)
    return make_vocabulary(names, CUES) if names else listed()


def extract_entities(text: str) -> Extracted:
    """Return the entities of `text` and how it relates them, as C publishes them."""
    return extract(text).as_published()


def extract(text: str, vocabulary: Vocabulary | None = None) -> Extraction:
    """Return the entities and relations of `text`, each with its evidence.

    Claims are tied to the names in their sentence: a blocker `blocked_by` what blocks,
    all others `concerns`.
    """
    found = Extraction()
    hits = scan(vocabulary or listed(), text)
    if not hits.forms and not hits.cues:
        return found
    sentences = Sentences(text)
    mentions = find_mentions(text, hits, sentences)
    for mention in mentions:
        _note(found.entities, _entity(mention), text, mention.sentence, mention.start)
    for related in find_relations(text, mentions):
        relation = Relation(
            _entity(related.source), related.relation, _entity(related.target)
        )
        _note(found.relations, relation, text, related.sentence, related.target.start)
    for claim in find_claims(text, hits.cues, sentences):
        entity = Entity(claim.text, claim.type)
        evidence = Evidence(text[claim.start : claim.end], claim.start, claim.end)
        found.entities.setdefault(entity, evidence)
        for mention in mentions:
            if claim.start <= mention.start < claim.end:
                how = tie(claim, text, mention.start)
                relation = Relation(entity, how, _entity(mention))
                found.relations.setdefault(relation, evidence)
    return found


def extract_names(text: str, vocabulary: Vocabulary | None = None) -> Extraction:
    """Return only the names in `text`: a title states nothing."""
    hits = scan(vocabulary or listed(), text)
    found = Extraction()
    if hits.forms or hits.cues:
        for mention in find_mentions(text, hits, Sentences(text)):
            _note(
                found.entities, _entity(mention), text, mention.sentence, mention.start
            )
    return found


def find_names(text: str, vocabulary: Vocabulary | None = None) -> list[NamedEntity]:
    """Return the names a question gives, in order, also parts of names.

    "What pagination did database-engineer recommend?" names cursor-pagination and
    offset-pagination by a part, and database-engineer.
    """
    hits = scan(vocabulary or listed(), text)
    whole = [
        NamedEntity(
            text[m.start : m.end], (m.name,), frozenset((m.type,)), m.start, m.end
        )
        for m in find_mentions(text, hits, Sentences(text))
    ]
    return sorted((*whole, *_partial(text, whole)), key=lambda n: n.start)


def _partial(text: str, whole: Iterable[NamedEntity]) -> Iterable[NamedEntity]:
    taken = [(n.start, n.end) for n in whole]
    said = plain(text)
    for word, names in partial_names().items():
        start = f" {said} ".find(f" {word} ")
        end = start + len(word)
        if start < 0 or any(a < end and start < b for a, b in taken):
            continue
        yield NamedEntity(
            text[start:end],
            tuple(name.name for name in names),
            frozenset(name.type for name in names),
            start,
            end,
            is_partial=True,
        )


def _entity(mention: Mention) -> Entity:
    return Entity(mention.name, mention.type)


def _note(
    into: dict[T, Evidence | None] | dict[T, Evidence],
    what: T,
    text: str,
    sentence: Span,
    at: int,
) -> None:
    if what not in into:
        quote = quotable(text, sentence, at)
        into[what] = Evidence(quote.of(text), quote.start, quote.end)
