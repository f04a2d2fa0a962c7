"""The filename arm: files, attachments and meetings whose title or path is named."""

from __future__ import annotations

import re
from collections.abc import Sequence

from django.db import connections

from graph.embed import vector_type
from retrieval.arms import sql
from retrieval.arms.base import Arm, Ask, Hit, Plan, allowed_sql, arms
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
    allowed, values = allowed_sql(ask.nodes)
    with connections[ask.nodes.db].cursor() as cursor:
        cursor.execute(
            sql.FILENAME.format(
                allowed=allowed, shown=sql.SHOWN.format(cast=vector_type())
            ),
            {
                **values,
                "tenant": ask.project.tenant_id,
                "project": ask.project.pk,
                "audiences": ask.nodes.audiences,
                "words": words,
                "question": ask.parsed.asked,
                "languages": languages_of(ask.project),
                "now": ask.now,
                "vector": ask.vector,
                "model": ask.model_id,
                "pool": min(plan.pool, NAMED),
            },
        )
        return [Hit(node, key, float(s), part) for node, key, s, part in cursor]


def names(question: str) -> list[str]:
    """Return the words of a question that may be of a name or path, as typed."""
    tokens = (token.strip(".-_/").lower() for token in _TOKEN.findall(question))
    return list(dict.fromkeys(t for t in tokens if len(t) >= LETTERS))[:WORDS]


arms.add("filename", Arm(find))
