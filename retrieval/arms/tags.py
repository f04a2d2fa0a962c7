"""The tags arm: nodes that bear a label which the question types or says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from retrieval.arms import sql
from retrieval.arms.base import Arm, Ask, Hit, Plan, arms, hits_by

# A tag of more nodes than this is common, however many more.
COUNTED = 2000
# A phrase of more words is no label; of a longer question the first words count.
PHRASE, WORDS = 3, 40
JOINED_BY = ("-", "_", " ", "")
_WORD = re.compile(r"[^\W_]+(?:[-_/.][^\W_]+)*")


def find(ask: Ask, plan: Plan) -> Sequence[Hit]:
    """Return the nodes with the question's labels, those of rare labels and of several
    first, then the latest."""
    tags = labels(ask.parsed.asked, ask.parsed.typed.tags)
    if not tags:
        return []
    return hits_by(sql.TAGS, ask, plan.pool, {"tags": tags, "counted": COUNTED})


def labels(question: str, typed: Sequence[str] = ()) -> list[str]:
    """Return the tags that may be meant: those typed, and each word and short phrase
    of the question as a tag may spell it."""
    words = [word.lower() for word in _WORD.findall(question)][:WORDS]
    said = [tag.lstrip("#").lower() for tag in typed]
    return list(dict.fromkeys(filter(None, [*said, *words, *_phrases(words)])))


def _phrases(words: Sequence[str]) -> Iterator[str]:
    for length in range(2, PHRASE + 1):
        for start in range(len(words) - length + 1):
            for between in JOINED_BY:
                yield between.join(words[start : start + length])


arms.add("tags", Arm(find))
