"""What the messages of the speed benchmark are made of: real sentences, or made-up.

With FABRIC_DATA, the sentences of its mails and retrieval sets, drawn with replacement
and joined anew, and the questions of those sets: the frequencies of words, which of them
go together, and how often a thing is said twice are then those of people. Without it,
the made-up workspace of `benchmarks.corpus`.
"""

from __future__ import annotations

import random
import re
from bisect import bisect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path

from benchmarks import corpus
from benchmarks.report import Unavailable, progress, real_data
from connections.records import Record
from connections.sources.base import Pull, connectors
from retrieval.evaluation import read_questions

SEED = 20261121
KINDS = {".zip": "slack", ".json": "transcripts", ".mbox": "mail"}
SHORTEST, LONGEST, RUN = 4, 80, 3  # words of a sentence; sentences of a run
ENOUGH, MIXED = 25, 0.7  # words of a message; share that takes up a second thing
_ENDS = re.compile(r"(?<=[.!?])\s+|\n\s*\n|\n(?=[>\-*])")


@dataclass(frozen=True, slots=True)
class Material:
    """Where texts and questions come from; `name` is what the table says of it."""

    name: str
    texts: Callable[[str, int], Iterator[str]]
    questions: Callable[[int], list[str]]


def material(size: int) -> Material:
    """Return real sentences where FABRIC_DATA names some, else made-up ones."""
    try:
        folder = real_data()
    except Unavailable:
        return Material(
            "made-up words by topic",
            corpus.texts,
            lambda count: corpus.questions("main", count, size),
        )
    return Material(
        "real sentences, joined anew; real questions",
        lambda name, count: _recombined(_documents(folder), name, count),
        lambda count: _real_questions(folder, count),
    )


@cache
def _documents(folder: Path) -> tuple[tuple[str, ...], ...]:
    """Return the sentences of each message, mail, meeting or section."""
    found: dict[str, list[str]] = {}
    for kind, path in _inputs(folder):
        progress(f"reading {path.name}")
        for record in connectors[kind]().pull(Pull(location=path, source="bench")):
            if isinstance(record, Record):
                for node in record.nodes:
                    place = f"{path}:{record.key}"
                    found.setdefault(place, []).extend(_sentences(node.content))
    kept = tuple(tuple(said) for said in found.values() if said)
    if not kept:
        raise Unavailable(f"{folder} holds no mails and no retrieval sets to read.")
    return kept


def _inputs(folder: Path) -> Iterator[tuple[str, Path]]:
    for place in (folder / "email", *_sets(folder)):
        if (documents := place / "documents").is_dir():
            yield "folder", documents
        for path in sorted(place.rglob("*")):
            if path.suffix in KINDS and documents not in path.parents:
                yield KINDS[path.suffix], path


def _sets(folder: Path) -> list[Path]:
    return [path.parent for path in sorted(folder.glob("retrieval/*/questions.jsonl"))]


def _sentences(text: str) -> list[str]:
    said = (" ".join(part.split()) for part in _ENDS.split(text))
    return [one for one in said if SHORTEST <= len(one.split()) <= LONGEST]


def _recombined(
    documents: Sequence[Sequence[str]], name: str, count: int
) -> Iterator[str]:
    """Yield messages: a run of sentences as they stood, most with a run from elsewhere.

    Documents are drawn by their length, so that each sentence is as likely.
    """
    rng = random.Random(f"{SEED}{name}")  # noqa: S311 - repeatable on purpose
    upto = list(accumulate(map(len, documents)))

    def run() -> list[str]:
        place = rng.randrange(upto[-1])
        document = bisect(upto, place)
        said = documents[document]
        start = place - (upto[document] - len(said))
        return list(said[start : start + rng.randint(1, RUN)])

    for _ in range(count):
        message = run()
        if rng.random() < MIXED or len(" ".join(message).split()) < ENOUGH:
            message += run()
        yield " ".join(message)


def _real_questions(folder: Path, count: int) -> list[str]:
    """Return as many questions of each set, those asked drawn by chance."""
    sets = _sets(folder)
    rng = random.Random(f"{SEED}?")  # noqa: S311 - repeatable on purpose
    asked: list[str] = []
    for number, place in enumerate(sets):
        share = count * (number + 1) // len(sets) - len(asked)
        queries = [question.query for question in read_questions(place)]
        asked += rng.sample(queries, min(share, len(queries)))
    return asked
