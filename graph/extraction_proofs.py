"""What a text proves: the evidence that stands of it, and that which should."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from graph.extract import Entity, Evidence, Extraction

# What a piece of evidence is a proof of: a node, or an edge by its ends.
Proven: TypeAlias = tuple[int] | tuple[int, str, int]


@dataclass(frozen=True, slots=True)
class Text:
    """A text to read, and, if it was read before, of which record, seen by whom."""

    node_id: int
    key: str
    title: str
    content: str
    language: str
    record_id: int
    audience_id: int
    occurred_at: datetime | None
    words: str
    was_record: int | None
    was_audience: int | None

    @property
    def part(self) -> str:
        """The mark of evidence that was read out of this text."""
        return part_of(self.key)


def part_of(key: str) -> str:
    """Return the mark of evidence that was read out of the text `key`."""
    return f"text:{key}"


@dataclass(frozen=True, slots=True)
class Proof:
    """A piece of evidence as it stands, or as it should."""

    quote: str
    span: tuple[int | None, int | None]
    id: int = 0
    edge_id: int | None = None


def wanted_of(
    text: Text, what: Extraction, nodes: dict[Entity, int], offset: int | None
) -> dict[Proven, Proof]:
    """Return what the evidence of `text` should be."""
    wanted: dict[Proven, Proof] = {}
    for entity, evidence in what.entities.items():
        if (node := nodes.get(entity)) is not None:
            proof = _proof(text, evidence, offset)
            wanted[(node,)] = proof
            wanted[text.node_id, "mentions", node] = proof
    for relation, evidence in what.relations.items():
        source, target = nodes.get(relation.source), nodes.get(relation.target)
        if source is not None and target is not None and source != target:
            wanted[source, relation.relation, target] = _proof(text, evidence, offset)
    return wanted


def _proof(text: Text, evidence: Evidence | None, offset: int | None) -> Proof:
    """Return the words that say so, placed in the record's body; else the title."""
    if evidence is None:
        return Proof(text.title, (None, None))
    if offset is None:
        return Proof(evidence.quote, (None, None))
    return Proof(evidence.quote, (offset + evidence.start, offset + evidence.end))
