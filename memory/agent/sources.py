"""The sources of one answer: numbered as they are read, cited by that number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from graph.models import Node
from graph.models.node import CLAIMS, MEMORY
from graph.staleness import Age, age_of, warning
from memory.answers import Cited
from memory.extract import QUOTE_CHARACTERS
from retrieval.results import FRESH, Contribution, Result, Staleness


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Something that was read: `text` is its own words."""

    number: int
    key: str
    node_id: int | None
    node_type: str
    title: str
    context: str
    url: str
    text: str
    timestamp: datetime | None
    store: str = "graph"
    is_gone: bool = False
    stale: Staleness = FRESH
    contributions: Mapping[str, Contribution] = field(default_factory=dict)
    # Its words as they are cited, where they are not to be looked for in `text`.
    quote: str = ""

    @property
    def name(self) -> str:
        return self.title or " ".join(self.text.split())[:60] or self.key

    @property
    def warning(self) -> str:
        """Return the warning of a stale source; empty where it is fresh."""
        return warning(self.name, Age(self.stale.days, self.stale.threshold))

    @property
    def needs_newer(self) -> bool:
        return self.stale.is_stale and self.node_type in CLAIMS

    def cited(self, n: int, quote: str) -> Cited:
        return Cited(
            n=n,
            key=self.key,
            node_id=self.node_id,
            node_type=self.node_type,
            title=self.title,
            context=self.context,
            url=self.url,
            quote=quote,
            timestamp=self.timestamp,
            is_gone=self.is_gone,
            stale=self.stale,
            contributions=self.contributions,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRow:
    """A row of a result: `identity` tells it from the others of its table."""

    identity: str
    key: str
    node_id: int | None
    title: str
    context: str
    text: str
    quote: str
    timestamp: datetime


@dataclass(slots=True)
class Sources:
    """What was read so far; a thing read twice keeps its number."""

    found: dict[int, Source] = field(default_factory=dict)
    _numbers: dict[str, int] = field(default_factory=dict)
    _addresses: dict[str, int] = field(default_factory=dict)

    def add_results(self, results: Iterable[Result]) -> list[Source]:
        return [self._add(_of_result(result)) for result in results]

    def add_nodes(
        self,
        nodes: Iterable[Node],
        *,
        now: datetime,
        thresholds: Mapping[str, int | None],
    ) -> list[Source]:
        return [
            self._add(_of_node(node, Staleness.of(age_of(node, now, thresholds))))
            for node in nodes
        ]

    def add_rows(self, rows: Iterable[SourceRow]) -> list[Source]:
        """Add rows of databases: each has its own number, and the key of its table."""
        return [self._add(_of_row(row), row.identity) for row in rows]

    def is_known(self, number: int) -> bool:
        return number in self.found

    def number_of(self, address: str) -> int | None:
        """Return the number of the source at exactly that address."""
        return self._addresses.get(address.rstrip("/")) if address else None

    def since(self, number: int) -> list[Cited]:
        """Return the sources after that number, as events tell them."""
        return [
            source.cited(source.number, source.quote or source.text[:QUOTE_CHARACTERS])
            for source in self.found.values()
            if source.number > number
        ]

    def _add(self, fields: dict[str, object], identity: str = "") -> Source:
        key = identity or str(fields["key"])
        number = self._numbers.setdefault(key, len(self._numbers) + 1)
        if number not in self.found:
            self.found[number] = Source(number=number, **fields)  # type: ignore[arg-type] # of the two below
            if address := self.found[number].url.rstrip("/"):
                self._addresses.setdefault(address, number)
        return self.found[number]


def _of_result(result: Result) -> dict[str, object]:
    part = result.metadata.get("part_node_id")
    return {
        "key": str(result.metadata.get("part") or result.key),
        "node_id": part if isinstance(part, int) else result.node_id,
        "node_type": result.node_type,
        "title": result.title,
        "context": result.context,
        "url": result.url,
        "text": result.text,
        "timestamp": result.timestamp,
        "store": result.store,
        "is_gone": result.is_gone,
        "stale": result.stale,
        "contributions": result.contributions,
    }


def _of_node(node: Node, stale: Staleness) -> dict[str, object]:
    return {
        "key": node.key,
        "node_id": node.pk,
        "node_type": node.node_type,
        "title": node.title,
        "context": node.context,
        "url": node.url,
        "text": node.content,
        "timestamp": node.occurred_at,
        "store": MEMORY if node.origin == MEMORY else "graph",
        "is_gone": node.gone_at is not None,
        "stale": stale,
    }


def _of_row(row: SourceRow) -> dict[str, object]:
    return {
        "key": row.key,
        "node_id": row.node_id,
        "node_type": "db_table",
        "title": row.title,
        "context": row.context,
        "url": "",
        "text": row.text,
        "timestamp": row.timestamp,
        "quote": row.quote,
    }
