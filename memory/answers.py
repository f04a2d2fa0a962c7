"""What a question is answered with: text whose `[n]` are its citations."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from connections.records import JSON
from memory.sql.tables import ShownTable
from retrieval.results import FRESH, Contribution, Staleness, utc


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """A passage of an answer: `n` is its number in the text, `quote` its words."""

    n: int
    key: str
    node_id: int | None
    node_type: str
    title: str
    context: str
    url: str
    quote: str
    timestamp: datetime | None
    is_gone: bool = False
    stale: Staleness = FRESH
    contributions: Mapping[str, Contribution] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return {
            "n": self.n,
            "key": self.key,
            "node_id": self.node_id,
            "type": self.node_type,
            "title": self.title,
            "context": self.context,
            "url": self.url,
            "quote": self.quote,
            "timestamp": utc(self.timestamp),
            "gone": self.is_gone,
            "stale": asdict(self.stale),
            "age": self.stale.told,
            "contributions": {a: asdict(c) for a, c in self.contributions.items()},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call the answer took: what was asked of which layer, and what it gave."""

    name: str
    arguments: dict[str, JSON]
    took_ms: float
    result_count: int
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatAnswer:
    """An answer, what it rests on, and what it took."""

    conversation: uuid.UUID | None
    turn: int | None
    question: str
    answer: str
    grounded: bool
    citations: tuple[Cited, ...]
    calls: tuple[Call, ...]
    effort: int
    model: str
    state: str = "done"
    support: tuple[Mapping[str, Any], ...] = ()
    unknown_numbers: int = 0
    tables: tuple[ShownTable, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "conversation": str(self.conversation) if self.conversation else None,
            "turn": self.turn,
            "answer": self.answer,
            "grounded": self.grounded,
            "citations": [cited.as_json() for cited in self.citations],
            "sql": [table.as_json() for table in self.tables],
            "calls": [asdict(call) for call in self.calls],
            "lambda": self.effort,
            "model": self.model,
            "state": self.state,
            "support": [dict(one) for one in self.support],
        }
