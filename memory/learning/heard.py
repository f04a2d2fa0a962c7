"""What a turn says that may be learned: its question, and the quotes it rests on."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from graph.models import Node
from memory.models import Citation, Turn

# Only what a source said. What memory recalls, what was read out of texts and what
# was written about communities are our own words: learned again, they breed.
SOURCE = "source"
_WRITTEN_BY_US = ("community", "episode")
_NUMBER = re.compile(r"\[(\d{1,3})\]")
_ADDRESS = re.compile(r"\s*<[^<>\s]*@[^<>]*>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A cited quote: whose words, and when they were said, as far as is known."""

    n: int
    node_id: int
    key: str
    quote: str
    author: str = ""
    said_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A turn as memory may read it; without sources there is nothing to learn."""

    question: str
    answer: str
    sources: tuple[Source, ...]


def heard_in(turn: Turn) -> Heard:
    """Return what may be learned from `turn`, as its user may see it now.

    Left out: citations that no sentence of the answer rests on, and those of
    observations, of what was derived, and of what the user may not see any more.
    """
    supported = _supported(turn)
    numbers = {n for _, behind in supported for n in behind}
    cited = [c for c in turn.citations.all() if c.n in numbers and c.quote.strip()]
    nodes = _open_nodes(turn, cited)
    sources = tuple(
        _source(citation, nodes[citation.node_id])
        for citation in cited
        if citation.node_id in nodes
    )
    known = {source.n for source in sources}
    answer = " ".join(text for text, behind in supported if behind and behind <= known)
    return Heard(question=turn.question, answer=answer, sources=sources)


def _supported(turn: Turn) -> list[tuple[str, set[int]]]:
    """Return the sentences of the answer that rest on a citation, with its numbers."""
    if turn.support:
        said = [_sentence(row) for row in turn.support if isinstance(row, dict)]
        return [(text, numbers) for text, numbers in said if numbers]
    paragraphs = turn.answer.split("\n")
    found = ((text, {int(n) for n in _NUMBER.findall(text)}) for text in paragraphs)
    return [(_NUMBER.sub("", text).strip(), numbers) for text, numbers in found]


def _sentence(row: dict[str, Any]) -> tuple[str, set[int]]:
    numbers = row.get("numbers")
    listed = numbers if isinstance(numbers, list) else []
    return str(row.get("text", "")), {n for n in listed if isinstance(n, int)}


def _open_nodes(turn: Turn, cited: Iterable[Citation]) -> dict[int | None, Node]:
    conversation = turn.conversation
    rows = Node.objects.visible_to(conversation.user).of(conversation.project).current()
    asked = [c.node_id for c in cited if c.node_id]
    found = rows.filter(pk__in=asked, origin=SOURCE, gone_at=None)
    return {node.pk: node for node in found.exclude(node_type__in=_WRITTEN_BY_US)}


def _source(citation: Citation, node: Node) -> Source:
    return Source(
        n=citation.n,
        node_id=node.pk,
        key=node.key,
        quote=citation.quote,
        author=author_of(node),
        said_at=citation.timestamp or node.occurred_at,
    )


def author_of(node: Node) -> str:
    """Return who said it, as its connector noted: "" where none did, or a program."""
    known = node.metadata
    if known.get("bot"):
        return ""
    writers = known.get("from")
    first = writers[0] if isinstance(writers, list) and writers else ""
    said = known.get("speaker") or known.get("author") or first
    name = _ADDRESS.sub("", said).strip(" \"'") if isinstance(said, str) else ""
    return "" if "@" in name else name
