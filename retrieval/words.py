"""The words of a question as the index has them, and how rare each is."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, combinations

from django.db import DEFAULT_DB_ALIAS

from connections.models import Project
from connections.prepared import fetch_prepared
from retrieval import sql

# Matches that all words together may have before candidates are chosen by rarity,
# and what the rarest words and the rarest pairs may then bring; beyond so many nodes
# more, for the best ten of more matches lie further apart.
ANY_WORD_BELOW, RARE_BUDGET, PAIR_BUDGET = 3000, 300, 600
BUDGETED_NODES, MOST_SHARES = 180_000, 10.0
PAIRS_LEAST, PAIRS_MOST = 3, 20


@dataclass(frozen=True, slots=True)
class Word:
    """A lexeme, and in how many nodes of the project it occurs."""

    lexeme: str
    nodes: int
    idf: float

    @property
    def tsquery(self) -> str:
        """Return the lexeme as a `tsquery` reads it."""
        escaped = self.lexeme.replace("\\", "\\\\").replace("'", "''")
        return f"'{escaped}'"


@dataclass(frozen=True, slots=True)
class Words:
    """A question's words, rarest first, and the number of nodes they were counted in."""

    words: tuple[Word, ...] = ()
    nodes: int = 1

    @property
    def idf(self) -> float:
        """Return the sum over the words: what a text with all of them could have."""
        return sum(word.idf for word in self.words)

    def candidates(self) -> tuple[str, ...]:
        """Return the `tsquery` texts that find what is worth scoring, between them.

        Any word while they are rare enough together, else the rarest words and the
        rarest pairs, each within a budget of expected matches. The pairs of one word
        are one text: the index then reads all of that word's list, and of the commoner
        ones only what lies beside it, which it does not where all are one text. A word
        all by itself is taken however common it is.
        """
        rare = self.rare
        whole = " | ".join(word.tsquery for word in self.words[:rare])
        beside: dict[str, list[str]] = defaultdict(list)
        for rarer, commoner in self._pairs(self.words[rare:]):
            beside[rarer.tsquery].append(commoner.tsquery)
        pairs = [f"{rarer} & ({' | '.join(any_)})" for rarer, any_ in beside.items()]
        return (*([whole] if whole else []), *pairs) or self.rarest

    @property
    def rare(self) -> int:
        """Return how many of the words are so rare that all they find is scored."""
        upto = list(accumulate(word.nodes for word in self.words))
        if not upto or upto[-1] <= ANY_WORD_BELOW:
            return len(upto)
        return bisect_right(upto, RARE_BUDGET * self._share)

    @property
    def rarest(self) -> tuple[str, ...]:
        """Return the `tsquery` text of the rarest word; none where there is none."""
        return tuple(word.tsquery for word in self.words[:1])

    @property
    def _share(self) -> float:
        """Return how many times the budgets a project of this size has."""
        return min(max(1.0, self.nodes / BUDGETED_NODES), MOST_SHARES)

    def _pairs(self, words: Sequence[Word]) -> list[tuple[Word, Word]]:
        # A pair with a word that is taken whole would find nothing more.
        pairs = sorted(
            combinations(words, 2),
            key=lambda p: (p[0].nodes * p[1].nodes, p[0].lexeme, p[1].lexeme),
        )[:PAIRS_MOST]
        expected = accumulate(a.nodes * b.nodes / self.nodes for a, b in pairs)
        return [
            pair
            for place, (pair, matches) in enumerate(zip(pairs, expected, strict=True))
            if matches <= PAIR_BUDGET * self._share or place < PAIRS_LEAST
        ]


def idf(nodes: int, total: int) -> float:
    """Return the weight of a word in `nodes` of `total` texts (BM25's, never below 0)."""
    return math.log(1 + max(0.0, total - nodes + 0.5) / (nodes + 0.5))


def words_in(project: Project, text: str, *, using: str = DEFAULT_DB_ALIAS) -> Words:
    """Return the lexemes of `text` in each language of the project."""
    values = {"project": project.pk, "language": project.language, "text": text}
    rows = fetch_prepared(sql.WORDS, values, using=using)
    total = rows[0][2] if rows else 1
    words = (Word(lexeme, nodes, idf(nodes, total)) for lexeme, nodes, _ in rows)
    return Words(tuple(words), total)
