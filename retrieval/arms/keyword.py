"""The keyword arm: full-text search by the inverted index.

`match: any` takes any of the question's words, weighs each by how rare it is in the
project (PostgreSQL's own ranking knows no rarity), and bounds the candidates.
`match: all` is the published form: `websearch_to_tsquery` and `ts_rank_cd`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from retrieval import sql
from retrieval.allowed import rows_among
from retrieval.arms.base import IS_PART, Arm, Ask, Hit, Plan, arms
from retrieval.expressions import condition, number


def find(ask: Ask, plan: Plan) -> list[Hit]:
    """Return the nodes with the question's words, best first.

    A score of 1.0 would be every word, as often as can be, in the title.
    """
    if plan.options.get("match", "any") == "all":
        return _hits(_all_words(ask, plan), 1.0)
    if not ask.words.words:
        return []
    words = ask.words
    rows = _any_word(ask, plan, words.candidates())
    if not (rows or words.rare or ask.parsed.websearch):
        # Common words, no two of which stand anywhere together.
        rows = _any_word(ask, plan, words.rarest)
    return _hits(rows, words.idf)


def _hits(rows: Iterable[tuple[int, str, float, bool]], most: float) -> list[Hit]:
    return [
        Hit(node, key, score / most, is_part)
        for node, key, score, is_part in rows
        if score > 0
    ]


def _any_word(
    ask: Ask, plan: Plan, candidates: Sequence[str]
) -> list[tuple[int, str, float, bool]]:
    """Return what the texts of `candidates` find, by the sum over all words of idf
    times `ts_rank`."""
    values: dict[str, object] = {"pool": plan.pool}
    for place, word in enumerate(ask.words.words):
        values |= {f"idf_{place}": word.idf, f"word_{place}": word.tsquery}
    score = [sql.WORD_SCORE.format(place=n) for n in range(len(ask.words.words))]
    if ask.parsed.websearch:
        values |= {"language": ask.project.language, "asked": ask.parsed.asked}
        found = [sql.WEBSEARCH_FOUND]
    else:
        values |= {f"match_{place}": text for place, text in enumerate(candidates)}
        found = [sql.WORD_FOUND.format(place=n) for n in range(len(candidates))]
    return rows_among(
        ask.nodes,
        ask.project,
        sql.ANY_WORD,
        values,
        score=" + ".join(score),
        matches=" OR ".join(found),
    )


def _all_words(ask: Ask, plan: Plan) -> Iterable[tuple[int, str, float, bool]]:
    question = (ask.project.language, ask.parsed.asked)
    with_metadata = plan.options.get("metadata", False)
    matches = sql.MATCHES_WITH_METADATA if with_metadata else sql.MATCHES_WEBSEARCH
    rank = sql.COVER_RANK_WITH_METADATA if with_metadata else sql.COVER_RANK
    asked = question * 2 if with_metadata else question
    return (
        ask.nodes.filter(condition(matches, asked))
        .annotate(words_score=number(rank, question), is_part=IS_PART)
        .order_by("-words_score", "key")
        .values_list("pk", "key", "words_score", "is_part")[: plan.pool]
    )


arms.add("keyword", Arm(find))
