"""The baseline of retrieval quality: BM25 as `bm25s` has it, English stems."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from functools import partial

import bm25s
import Stemmer

logging.getLogger("bm25s").setLevel(logging.WARNING)
K1, B = 0.9, 0.4
# Parts of one file are folded into one result, so more are ranked than asked for.
FOLDING = 4

_tokens = partial(
    bm25s.tokenize,
    stopwords="en",
    stemmer=Stemmer.Stemmer("english"),
    show_progress=False,
)


def stems(texts: Sequence[str]) -> list[set[str]]:
    """Return the stems of the words of each text, without stop words and auxiliaries."""
    found = _tokens(texts, stopwords="en_plus", return_ids=False)
    return [set(words) for words in found]


class Bm25:
    """An index over (key, text) pairs; of parts with one key the best counts."""

    def __init__(self, texts: Iterable[tuple[str, str]]) -> None:
        pairs = list(texts)
        self.keys = [key for key, _ in pairs]
        self.index = bm25s.BM25(k1=K1, b=B)
        self.index.index(_tokens([text for _, text in pairs]), show_progress=False)

    def search(self, question: str, limit: int) -> list[str]:
        """Return the best keys."""
        tokens = _tokens([question])
        if not any(len(ids) for ids in tokens.ids):
            return []
        found, scores = self.index.retrieve(
            tokens, k=min(limit * FOLDING, len(self.keys)), show_progress=False
        )
        keys = dict.fromkeys(
            self.keys[place]
            for place, score in zip(found[0], scores[0], strict=True)
            if score > 0
        )
        return list(keys)[:limit]
