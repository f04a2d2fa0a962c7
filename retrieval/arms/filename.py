"""The filename arm: files, attachments and meetings whose title or path is named."""

from __future__ import annotations

import re
from collections.abc import Sequence

from retrieval.arms import sql
from retrieval.arms.base import Arm, Ask, Hit, Plan, arms, hits_by
from retrieval.frequencies import languages_of

# Fewer letters have too few trigrams to be told apart; of a long question the first
# words count.
LETTERS, WORDS = 3, 24
# A question names a few things; what fits less than these many is chance.
NAMED = 30
_TOKEN = re.compile(r"[^\s\"'`,;:!?()\[\]{}<>]+")


def find(ask: Ask, plan: Plan) -> Sequence[Hit]:
    """Return what the question calls by name, misspelt too; a file by the section of
    it that is nearest the question."""
    words = names(ask.parsed.asked)
    if not words:
        return []
    values = {
        "words": words,
        "question": ask.parsed.asked,
        "languages": languages_of(ask.project),
    }
    return hits_by(sql.FILENAME, ask, min(plan.pool, NAMED), values)


def names(question: str) -> list[str]:
    """Return the words of a question that may be of a name or path, as typed."""
    tokens = (token.strip(".-_/").lower() for token in _TOKEN.findall(question))
    return list(dict.fromkeys(t for t in tokens if len(t) >= LETTERS))[:WORDS]


arms.add("filename", Arm(find))
