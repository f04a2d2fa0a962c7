"""A made-up chat workspace of any size, the same at every run.

The words are those of the embedder's own vocabulary, which lists English words by how
common they are; they are drawn by Zipf's law with Mandelbrot's shift, most of them from
the words of the message's topic. Without topics every message would be as far from every
other, and no neighbour would be nearer than the rest: nobody writes so, and no index of
neighbours finds its way there (docs/benchmarks.md has the figures).
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from itertools import accumulate
from typing import ClassVar

from connections.providers.static import FOLDER
from connections.records import (
    EdgeDraft,
    Failure,
    Identity,
    NodeDraft,
    Record,
)
from connections.sources.base import Pull, connectors
from connections.sources.text import day_in_words

SEED = 20261121
ACCOUNTS, CHANNELS = 200, 40
SHORTEST, LONGEST = 20, 60
REPLIES, MENTIONS = 0.35, 0.1
SHIFT = 2.7
START, SPACING = 1_735_689_600, 613  # seconds: 2025-01-01, and between two messages
QUESTION_WORDS = 8
TOPICS, TOPIC_WORDS, TOPICAL = 500, 60, 0.6


@connectors.register("made-up")
class MadeUp:
    """Drafts what a Slack export of `Pull.source` ("name-SIZE") messages would."""

    kind: ClassVar[str] = "made-up"
    label: ClassVar[str] = "Made-up chat"
    source_kind: ClassVar[str] = "slack"
    complete: ClassVar[bool] = False
    personal: ClassVar[bool] = False

    def pull(self, request: Pull) -> Iterator[Record | Failure]:
        name, _, count = request.source.rpartition("-")
        yield from map(_account, range(ACCOUNTS))
        yield from map(_channel, range(CHANNELS))
        yield from _messages(name, int(count))


def questions(name: str, count: int, size: int) -> list[str]:
    """Return `count` questions of eight words, each as they stand in some message."""
    rng = random.Random(f"{SEED}{name}?")  # noqa: S311 - repeatable on purpose
    wanted = set(rng.sample(range(size), min(count, size)))
    asked = []
    for number, text in enumerate(texts(name, size)):
        if number in wanted:
            words = text.rstrip(".").split()
            start = rng.randrange(len(words) - QUESTION_WORDS)
            asked.append(" ".join(words[start : start + QUESTION_WORDS]))
    return asked


@cache
def _vocabulary() -> tuple[list[str], list[float]]:
    tokenizer = json.loads((FOLDER / "tokenizer.json").read_text(encoding="utf-8"))
    by_rank = sorted(tokenizer["model"]["vocab"].items(), key=lambda item: item[1])
    words = [
        word
        for word, _ in by_rank
        if len(word) > 2 and word.isascii() and word.isalpha() and word.islower()
    ]
    return words, list(accumulate(1 / (rank + SHIFT) for rank in range(len(words))))


@cache
def _topic(number: int) -> list[str]:
    words, _ = _vocabulary()
    rng = random.Random(f"{SEED}topic{number}")  # noqa: S311 - repeatable on purpose
    return rng.sample(words, TOPIC_WORDS)


def texts(name: str, size: int) -> Iterator[str]:
    """Yield `size` made-up texts, the same for a name at every run."""
    words, weights = _vocabulary()
    shares = list(accumulate(1 / (rank + SHIFT) for rank in range(TOPIC_WORDS)))
    rng = random.Random(f"{SEED}{name}")  # noqa: S311 - repeatable on purpose
    for _ in range(size):
        length = rng.randint(SHORTEST, LONGEST)
        said = rng.choices(words, cum_weights=weights, k=length)
        topic = _topic(rng.randrange(TOPICS))
        told = rng.choices(topic, cum_weights=shares, k=length)
        chosen = [
            t if rng.random() < TOPICAL else w for w, t in zip(said, told, strict=True)
        ]
        yield " ".join(chosen) + "."


@cache
def account_name(number: int) -> str:
    """Return what the `number`-th of `ACCOUNTS` people is called."""
    words, _ = _vocabulary()
    return f"{words[600 + number].title()} {words[1600 + 7 * number].title()}"


def channel_title(number: int) -> str:
    """Return the name of the `number`-th of `CHANNELS` channels."""
    words, _ = _vocabulary()
    return f"#{words[900 + number]}"


@cache
def _account(number: int) -> Record:
    name = account_name(number)
    key = f"slack-user:U{number}"
    node = NodeDraft(
        key=key,
        node_type="account",
        title=name,
        identity=Identity("chat", address=f"u{number}@acme.test", names=(name,)),
    )
    return Record(key=key, kind="account", body=name, nodes=(node,), counted=False)


def _channel(number: int) -> Record:
    node = NodeDraft(
        key=f"slack:C{number}", node_type="channel", title=channel_title(number)
    )
    return Record(
        key=node.key, kind="channel", body=node.title, nodes=(node,), counted=False
    )


def _messages(name: str, size: int) -> Iterator[Record]:
    rng = random.Random(f"{SEED}{name}!")  # noqa: S311 - repeatable on purpose
    open_threads: list[list[str]] = [[] for _ in range(CHANNELS)]
    for number, text in enumerate(texts(name, size)):
        channel = min(int(rng.expovariate(0.12)), CHANNELS - 1)
        ts = f"{START + number * SPACING}.{number % 1_000_000:06d}"
        recent = open_threads[channel]
        thread = rng.choice(recent) if recent and rng.random() < REPLIES else ""
        if not thread:
            recent.append(ts)
            del recent[:-5]
        mentioned = rng.randrange(ACCOUNTS) if rng.random() < MENTIONS else None
        yield _message(text, channel, ts, thread, rng.randrange(ACCOUNTS), mentioned)


def _message(
    text: str, channel: int, ts: str, thread: str, author: int, mentioned: int | None
) -> Record:
    key = f"slack:C{channel}:{ts}"
    at = datetime.fromtimestamp(int(ts.partition(".")[0]), UTC)
    who = f"slack-user:U{author}"
    place = None if thread else Decimal(ts)

    def edge(
        source: str, relation: str, target: str, position: Decimal | None = None
    ) -> EdgeDraft:
        return EdgeDraft(
            source=source,
            relation=relation,
            target=target,
            occurred_at=at,
            position=position,
        )

    context = f"{_account(author).body} · {day_in_words(at)} · #{channel}"
    nodes = [
        NodeDraft(
            key=key,
            node_type="message",
            content=text,
            context=context,
            metadata={"ts": ts, "channel": f"C{channel}"},
            occurred_at=at,
        )
    ]
    edges = [
        edge(key, "sent_by", who),
        edge(key, "posted_in", f"slack:C{channel}", place),
    ]
    if thread:
        shown = f"slack-thread:C{channel}:{thread}"
        nodes.append(
            NodeDraft(
                key=shown, node_type="thread", title=text[:80], precedence=-float(ts)
            )
        )
        edges += [
            edge(key, "in_thread", shown, Decimal(ts)),
            edge(shown, "participant", who),
            edge(key, "replied_to", f"slack:C{channel}:{thread}"),
        ]
    if mentioned is not None:
        edges.append(edge(key, "mentions", f"slack-user:U{mentioned}"))
    return Record(
        key=key,
        kind="message",
        body=text,
        nodes=tuple(nodes),
        edges=tuple(edges),
        occurred_at=at,
    )
