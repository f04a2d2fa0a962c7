"""Drafts made fit for PostgreSQL: keys, characters, and texts cut to a size."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

from connections.records import EdgeDraft, Identity, NodeDraft, Record, clean_key

# A tsvector ends at 1 MB and an embedder at 8,191 tokens; a passage that is quoted
# should be read at a glance.
PART_CHARACTERS = 6000
TITLE_CHARACTERS = 1000
LONE_SURROGATE = re.compile("[\ud800-\udfff]")
EARLIEST, LATEST = 1, 9999


def clean_text(text: str) -> str:
    """Return `text` without what PostgreSQL refuses: NUL and lone surrogates."""
    if "\x00" in text:
        text = text.replace("\x00", "\ufffd")
    return LONE_SURROGATE.sub("\ufffd", text)


def cut(text: str, size: int = PART_CHARACTERS) -> list[str]:
    """Return `text` in pieces of at most `size`, at paragraphs where there are any.

    Joined, the pieces are the text; one piece, possibly empty, is the least.
    """
    pieces = []
    while len(text) > size:
        end = _break(text, size)
        pieces.append(text[:end])
        text = text[end:]
    return [*pieces, text]


def _break(text: str, size: int) -> int:
    for mark in ("\n\n", "\n", ". ", " "):
        at = text.rfind(mark, size // 2, size - len(mark) + 1)
        if at > 0:
            return at + len(mark)
    return size


def prepare(record: Record) -> tuple[list[NodeDraft], list[EdgeDraft]]:
    """Return the record's drafts with clean keys and texts, long ones cut into parts.

    The first part stays in the node itself, the others are `KEY#1`, `KEY#2`, ... of
    the same type; those of numbered parts of a file are numbered on.
    """
    nodes: list[NodeDraft] = []
    edges: list[EdgeDraft] = [_clean_edge(edge) for edge in record.edges]
    following = 1 + max(
        (_number(node.key) for node in record.nodes if node.part), default=-1
    )
    for draft in record.nodes:
        first, *rest = _cut_node(_clean_node(draft))
        nodes.append(first)
        whole = record.nodes[0].key if draft.part else draft.key
        stem = whole if draft.part else draft.key
        for n, piece in enumerate(rest, start=following if draft.part else 1):
            key = clean_key(f"{stem}#{n}")
            nodes.append(replace(piece, key=key, part=draft.part))
            edges.append(
                EdgeDraft(source=key, relation="part_of", target=clean_key(whole))
            )
        if draft.part:
            following += len(rest)
    return nodes, edges


def _number(key: str) -> int:
    tail = key.rpartition("#")[2]
    return int(tail) if tail.isdecimal() else -1


def _cut_node(draft: NodeDraft) -> Iterator[NodeDraft]:
    pieces = cut(draft.content)
    for n, piece in enumerate(pieces):
        if n == 0:
            yield replace(draft, content=piece)
        else:
            metadata = {**draft.metadata, "piece": n}
            yield replace(
                draft, content=piece, metadata=metadata, identity=None, precedence=0.0
            )


def _clean_node(draft: NodeDraft) -> NodeDraft:
    return replace(
        draft,
        key=clean_key(draft.key),
        title=clean_text(draft.title)[:TITLE_CHARACTERS],
        content=clean_text(draft.content),
        context=clean_text(draft.context)[:PART_CHARACTERS],
        tags=tuple(sorted({clean_text(tag) for tag in draft.tags if tag})),
        metadata=_clean_json(draft.metadata),
        occurred_at=sane(draft.occurred_at),
        identity=_clean_identity(draft.identity),
    )


def _clean_identity(identity: Identity | None) -> Identity | None:
    if identity is None:
        return None
    names = tuple(" ".join(clean_text(name).split()) for name in identity.names)
    return replace(identity, address=clean_text(identity.address), names=names)


def _clean_edge(edge: EdgeDraft) -> EdgeDraft:
    return replace(
        edge,
        source=clean_key(edge.source),
        target=clean_key(edge.target),
        quote=clean_text(edge.quote)[:PART_CHARACTERS],
        occurred_at=sane(edge.occurred_at),
    )


def _clean_json(value: Any) -> Any:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, dict):
        return {clean_text(str(k)): _clean_json(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_clean_json(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def sane(moment: datetime | None) -> datetime | None:
    """Return `moment` if a timestamp with time zone can hold it, else None."""
    if moment is None or moment.tzinfo is None:
        return None
    return moment if EARLIEST < moment.year < LATEST else None
