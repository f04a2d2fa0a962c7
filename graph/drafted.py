"""A stored record with its drafts, cleaned, cut, and each key once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from connections.records import EdgeDraft, NodeDraft, Record
from graph.language import detect_language
from graph.parts import prepare


@dataclass(frozen=True, slots=True)
class Drafted:
    """A stored record with its drafts, cleaned and cut."""

    record_id: int
    record: Record
    audience_id: int
    new: bool
    nodes: tuple[NodeDraft, ...]
    edges: tuple[EdgeDraft, ...]
    language: str

    @classmethod
    def of(
        cls, record_id: int, record: Record, audience_id: int, *, new: bool
    ) -> Drafted:
        nodes, edges = prepare(record)
        merged: dict[str, NodeDraft] = {}
        for node in nodes:
            merged[node.key] = (
                _united(merged[node.key], node) if node.key in merged else node
            )
        return cls(
            record_id,
            record,
            audience_id,
            new,
            tuple(merged.values()),
            _summed(edges),
            detect_language(record.body),
        )

    def named(self) -> Iterable[str]:
        """Return every key that its nodes and edges name."""
        yield from (node.key for node in self.nodes)
        for edge in self.edges:
            yield edge.source
            yield edge.target

    def renamed(self, names: Mapping[str, str]) -> Drafted:
        """Return it with the keys of nodes as `names` has them."""
        return replace(
            self,
            nodes=tuple(
                replace(n, key=names[n.key]) if n.key in names else n
                for n in self.nodes
            ),
            edges=tuple(
                replace(
                    e,
                    source=names.get(e.source, e.source),
                    target=names.get(e.target, e.target),
                )
                for e in self.edges
            ),
        )


def _united(first: NodeDraft, second: NodeDraft) -> NodeDraft:
    if first.identity is None or second.identity is None:
        return first
    names = (*first.identity.names, *second.identity.names)
    united = replace(first.identity, names=tuple(dict.fromkeys(names)))
    return replace(first, identity=united)


def _summed(edges: Iterable[EdgeDraft]) -> tuple[EdgeDraft, ...]:
    merged: dict[tuple[str, str, str, datetime | None], EdgeDraft] = {}
    for edge in edges:
        key = (edge.source, edge.relation, edge.target, edge.valid_from)
        if key in merged:
            known = merged[key]
            merged[key] = replace(
                known,
                weight=known.weight + edge.weight,
                quote=known.quote or edge.quote,
            )
        else:
            merged[key] = edge
    return tuple(merged.values())
