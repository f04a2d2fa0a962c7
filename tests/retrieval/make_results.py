"""Results of a search with every default visible."""

from __future__ import annotations

from retrieval.results import Result, Staleness


def make_result(key: str = "m1", text: str = "", **fields: object) -> Result:
    given = {
        "key": key,
        "node_id": 1,
        "node_type": "message",
        "title": "",
        "text": text,
        "context": "",
        "url": "",
        "score": 0.5,
        "relevance": 0.5,
        "recency": 0.1,
        "authority": 1.1,
        "timestamp": None,
        "source_kind": "slack",
        "tags": (),
        "is_gone": False,
        "stale": Staleness(False, None, 90),
        "contributions": {},
    }
    return Result(**{**given, **fields})
