"""What of a model's proposals holds: the model proposes, this code decides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from graph.claims import CLAIM_TYPES, squashed
from graph.extract import Entity, Evidence, Extraction, Relation, listed
from graph.related import RELATIONS
from graph.sentences import Sentences, quotable
from graph.vocabulary import NAME_TYPES, plain, same_name

MOST_WORDS, MOST_CHARACTERS = 5, 80


def accept(proposed: Mapping[str, Any], text: str, found: Extraction) -> int:
    """Add to `found` what holds of an answer about `text`; return how much does not.

    A name or a sentence has to stand in the text, types and relations have to be known,
    and both ends of a relation have to be entities of the text.
    """
    reading = _Reading(text, found)
    dropped = 0
    for entity in _objects(proposed, "entities"):
        dropped += not reading.take_entity(entity)
    for relation in _objects(proposed, "relations"):
        dropped += not reading.take_relation(relation)
    return dropped


def _objects(proposed: Mapping[str, Any], key: str) -> Iterable[Mapping[str, Any]]:
    items = proposed.get(key)
    return (
        [i for i in items if isinstance(i, Mapping)] if isinstance(items, list) else []
    )


class _Reading:
    """A text with what is found in it so far."""

    def __init__(self, text: str, found: Extraction) -> None:
        self.text = text
        self.found = found
        self.sentences = Sentences(text)
        self.said = f" {plain(text)} "
        self.named = {
            same_name(e.name): e for e in found.entities if e.type in NAME_TYPES
        }

    def take_entity(self, proposed: Mapping[str, Any]) -> bool:
        name, kind = str(proposed.get("name", "")), str(proposed.get("type", ""))
        if kind in CLAIM_TYPES:
            return self._take_claim(name, kind)
        if kind not in NAME_TYPES or not _is_short(name):
            return False
        same = same_name(name)
        at = self.said.find(f" {same} ") if same else -1
        if at < 0 or self.sentences.is_foreign(at, at + len(same)):
            return False
        if same not in self.named:
            # A listed name keeps its spelling and its type.
            form = listed().forms.get(f" {same} ")
            entity = (
                Entity(form.name, form.type) if form else Entity(name.strip(), kind)
            )
            self.named[same] = entity
            self.found.entities.setdefault(entity, self._evidence(at))
        return True

    def _take_claim(self, name: str, kind: str) -> bool:
        words = name.split()
        at = self.text.find(" ".join(words)) if words else -1
        if at < 0 and words:
            at = self.text.find(words[0])
            while at >= 0 and " ".join(self.text[at:].split()).find(" ".join(words)):
                at = self.text.find(words[0], at + 1)
        if at < 0 or self.sentences.is_foreign(at, at + 1):
            return False
        evidence = self._evidence(at)
        self.found.entities.setdefault(Entity(squashed(evidence.quote), kind), evidence)
        return True

    def take_relation(self, proposed: Mapping[str, Any]) -> bool:
        source = self.named.get(same_name(str(proposed.get("from", ""))))
        target = self.named.get(same_name(str(proposed.get("to", ""))))
        relation = str(proposed.get("relation", ""))
        if source is None or target is None or source == target:
            return False
        if relation not in RELATIONS:
            return False
        at = self.said.find(f" {same_name(str(proposed.get('to', '')))} ")
        self.found.relations.setdefault(
            Relation(source, relation, target), self._evidence(max(at, 0))
        )
        return True

    def _evidence(self, at: int) -> Evidence:
        quote = quotable(self.text, self.sentences.around(at), at)
        return Evidence(quote.of(self.text), quote.start, quote.end)


def _is_short(name: str) -> bool:
    return len(name) <= MOST_CHARACTERS and len(name.split()) <= MOST_WORDS
