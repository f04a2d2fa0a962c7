"""The keyword arm: full-text search by the inverted index.

`match: any` takes any of the question's words, weighs each by how rare it is in the
project (PostgreSQL's own ranking knows no rarity), and bounds the candidates.
`match: all` is the published form: `websearch_to_tsquery` and `ts_rank_cd`.
"""

from __future__ import annotations

from django.db.models.expressions import RawSQL

from graph.querysets import NodeQuerySet
from retrieval import sql
from retrieval.arms.base import IS_PART, Arm, Ask, Hit, Plan, arms
from retrieval.expressions import condition, number
from retrieval.words import Words


def find(ask: Ask, plan: Plan) -> list[Hit]:
    """Return the nodes with the question's words, best first.

    A score of 1.0 would be every word, as often as can be, in the title.
    """
    if plan.options.get("match", "any") == "all":
        return _hits(*_all_words(ask, plan), plan, 1.0)
    if not ask.words.words:
        return []
    return _hits(_any_word(ask), by_rarity(ask.words), plan, ask.words.idf)


def _hits(nodes: NodeQuerySet, score: RawSQL, plan: Plan, most: float) -> list[Hit]:
    rows = (
        nodes.annotate(words_score=score, is_part=IS_PART)
        .order_by("-words_score", "key")
        .values_list("pk", "key", "words_score", "is_part")[: plan.pool]
    )
    return [
        Hit(node, key, score / most, is_part)
        for node, key, score, is_part in rows
        if score > 0
    ]


def _any_word(ask: Ask) -> NodeQuerySet:
    if ask.parsed.websearch:
        matching = condition(
            sql.MATCHES_WEBSEARCH, (ask.project.language, ask.parsed.asked)
        )
    else:
        texts = ask.words.candidates()
        # Side by side, so that each is a look into the index of its own.
        matching = condition(f"({' OR '.join([sql.MATCHES] * len(texts))})", texts)
    return ask.nodes.filter(matching)


def by_rarity(words: Words) -> RawSQL:
    """Return the sum over words of idf times `ts_rank`, to be read of a node."""
    # Written out, it is twice as fast as a sub-select over an array of words.
    each = " + ".join([sql.WORD_RANK] * len(words.words))
    values = [value for word in words.words for value in (word.idf, word.tsquery)]
    return number(f"({each})", values)


def _all_words(ask: Ask, plan: Plan) -> tuple[NodeQuerySet, RawSQL]:
    question = (ask.project.language, ask.parsed.asked)
    with_metadata = plan.options.get("metadata", False)
    matches = sql.MATCHES_WITH_METADATA if with_metadata else sql.MATCHES_WEBSEARCH
    rank = sql.COVER_RANK_WITH_METADATA if with_metadata else sql.COVER_RANK
    asked = question * 2 if with_metadata else question
    return ask.nodes.filter(condition(matches, asked)), number(rank, question)


arms.add("keyword", Arm(find))
