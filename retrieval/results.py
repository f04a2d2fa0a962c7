"""What a search answers: results, each with why it is there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from connections.records import JSON
from graph.staleness import Age, in_words


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What a search keeps to; empty keeps everything.

    `types` are node types, `sources` source kinds ("slack"), `people` keys or names of
    persons, `channels` keys, names or paths of places (channels, folders, threads,
    meetings), `since` and `until` bound when it was said (until: not included), `as_of`
    asks what was valid then.
    """

    types: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    as_of: datetime | None = None

    def as_json(self) -> dict[str, JSON]:
        return {
            name: value.isoformat() if isinstance(value, datetime) else list(value)
            for name, value in asdict(self).items()
            if value
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """A thing of the graph that a question seems to name.

    `said` are the question's words, `name` the graph's; `similarity` is 1.0 for the
    same name. `node_id` is None for a name that only the extraction lists know.
    """

    said: str
    name: str
    node_type: str
    key: str = ""
    node_id: int | None = None
    similarity: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Slip:
    """A word that no text has, and the one a letter away that it was read as."""

    said: str
    meant: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """A question as it was understood.

    `query` are its words worth searching for, `asked` the words as typed without the
    filter operators; both without `slips`. `typed` filters were written as operators and
    bind; `preferred` are inferred ("last week", a person named), and only prefer what
    meets them. `websearch` says that quotes, `-` or `or` were typed.
    """

    query: str
    asked: str
    hints: tuple[Hint, ...] = ()
    intent: str = ""
    typed: Filters = Filters()
    preferred: Filters = Filters()
    websearch: bool = False
    slips: tuple[Slip, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "query": self.query,
            "entity_hints": list(dict.fromkeys(hint.name for hint in self.hints)),
            "intent": self.intent,
            "filters": {**self.preferred.as_json(), **self.typed.as_json()},
            "slips": {slip.said: slip.meant for slip in self.slips},
        }


@dataclass(frozen=True, slots=True)
class Contribution:
    """An arm's word on a result: its rank there, from 1, and its own score."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class GraphRelation:
    """An edge of a thing that a result's text names, by the names of both ends."""

    source: str
    relation: str
    target: str

    def as_json(self) -> dict[str, str]:
        return {"from": self.source, "relation": self.relation, "to": self.target}


@dataclass(frozen=True, slots=True)
class Staleness:
    """Whole days since it was said or confirmed, and the days allowed for its type."""

    is_stale: bool
    days: int | None
    threshold: int | None

    @classmethod
    def of(cls, age: Age) -> Staleness:
        return cls(age.is_stale, age.days, age.threshold)

    @property
    def told(self) -> str:
        """Return how old it is, as a person says it; empty where it is not stale."""
        return in_words(self.days) if self.is_stale and self.days is not None else ""


# Of what has no age, such as rows that were read just now.
FRESH = Staleness(is_stale=False, days=None, threshold=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A node that was found; `text` is the source's own words."""

    key: str
    node_id: int
    node_type: str
    title: str
    text: str
    context: str
    url: str
    score: float
    relevance: float
    recency: float
    authority: float
    timestamp: datetime | None
    source_kind: str
    tags: tuple[str, ...]
    is_gone: bool
    stale: Staleness
    contributions: Mapping[str, Contribution]
    metadata: Mapping[str, JSON] = field(default_factory=dict)
    store: str = "graph"
    entities: tuple[str, ...] = ()
    graph_relations: tuple[GraphRelation, ...] = ()
    cross_validated: bool = False
    cross_referenced: bool = False

    @property
    def id(self) -> str:
        """Return `graph:KEY`, or `memory:ID` of what memory keeps."""
        return self.key if self.store == "memory" else f"graph:{self.key}"

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "key": self.key,
            "node_id": self.node_id,
            "type": self.node_type,
            "title": self.title,
            "text": self.text,
            "context": self.context,
            "url": self.url,
            "score": round(self.score, 6),
            "relevance": round(self.relevance, 6),
            "recency": round(self.recency, 6),
            "authority": self.authority,
            "source": self.store,
            "source_kind": self.source_kind,
            "timestamp": utc(self.timestamp),
            "entities": list(self.entities),
            "tags": list(self.tags),
            "cross_validated": self.cross_validated,
            "cross_referenced": self.cross_referenced,
            "stale": asdict(self.stale),
            "graph_relations": [named.as_json() for named in self.graph_relations],
            "contributions": {
                arm: asdict(given) for arm, given in self.contributions.items()
            },
            "metadata": {**self.metadata, "gone": self.is_gone},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchAnswer:
    """Results by score, then key, and how they were found."""

    query: str
    parsed: Parsed
    profile: str
    results: tuple[Result, ...]
    arms: Mapping[str, int]
    took_ms: float
    effort: int
    timings: Mapping[str, float] = field(default_factory=dict)
    dropped: Mapping[str, str] = field(default_factory=dict)
    reranked_by: str = ""

    def as_json(self) -> dict[str, Any]:
        stores = {"graph": 0, "memory": 0}
        for result in self.results:
            stores[result.store] += 1
        return {
            "query": self.query,
            "parsed": self.parsed.as_json(),
            "profile": self.profile,
            "total_results": len(self.results),
            "sources": stores,
            "arms": dict(self.arms),
            "timings": {arm: round(ms, 2) for arm, ms in self.timings.items()},
            "dropped": [f"{arm}: {why}" for arm, why in self.dropped.items()],
            "reranked_by": self.reranked_by,
            "took_ms": round(self.took_ms, 2),
            "lambda": self.effort,
            "results": [result.as_json() for result in self.results],
        }


def utc(moment: datetime | None) -> str | None:
    """Return `moment` as ISO 8601 in UTC with `Z`."""
    if moment is None:
        return None
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
