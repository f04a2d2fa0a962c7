"""Ranking in SQL: the raw-SQL manager of searchable nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.core.exceptions import EmptyResultSet
from django.db import connections

from connections.models import Project
from graph.embed import search_settings, vector_type
from graph.querysets import NodeQuerySet
from retrieval import sql
from retrieval.profiles import Profile
from retrieval.results import Contribution

# Below this many visible nodes every distance is computed: exact, and faster.
EXACT_BELOW = 2000
# Matches that all words together may have before candidates are chosen by rarity,
# and what the rarest words and pairs may then bring.
ANY_WORD_BELOW, RARE_BUDGET, PAIR_BUDGET = 3000, 500, 1500
OPERATORS = ('"', " -", " or ", " OR ")


@dataclass(frozen=True, slots=True)
class Ranked:
    """A node's id and key, its fused score, and each arm's word on it; a part is one
    of a file, or a piece of a long text."""

    node_id: int
    key: str
    score: float
    contributions: Mapping[str, Contribution]
    is_part: bool = False

    @property
    def whole_key(self) -> str:
        """Return the key of what a part is a part of, else its own."""
        return (
            self.key.rpartition("#")[0]
            if self.is_part and "#" in self.key
            else self.key
        )


@dataclass(frozen=True, slots=True)
class Ranking:
    """The best nodes, and how many each arm found."""

    best: tuple[Ranked, ...]
    arms: Mapping[str, int]


class RankedQuerySet(NodeQuerySet):
    def ranked(
        self,
        project: Project,
        question: str,
        vector: str | None,
        model_id: int,
        profile: Profile,
        *,
        limit: int,
    ) -> Ranking:
        """Rank this queryset's nodes by reciprocal rank fusion, best first.

        Only vectors of the model `model_id`, which made `vector`, are compared.
        """
        try:
            allowed, params = self.order_by().values("pk").query.sql_with_params()
        except EmptyResultSet:
            return Ranking((), {"keyword": 0, "vector": 0})
        named = {f"allowed_{i}": value for i, value in enumerate(params)}
        bound = allowed % tuple(f"%({name})s" for name in named)
        operators = question.startswith("-") or any(o in question for o in OPERATORS)
        values = {
            **named,
            "project": project.pk,
            "question": question,
            "vector": vector,
            "model": model_id,
            "language": project.language,
            "operators": operators,
            "exact_below": EXACT_BELOW,
            "any_word_below": ANY_WORD_BELOW,
            "rare_budget": RARE_BUDGET,
            "pair_budget": PAIR_BUDGET,
            "limit": limit,
            **profile.parameters(),
        }
        with connections[self.db].cursor() as cursor:
            if needed := search_settings():
                cursor.execute(sql.SET_SETTINGS, [list(needed), list(needed.values())])
            statement = sql.FUSED.format(allowed=bound, vector_type=vector_type())
            cursor.execute(statement, values)
            rows = cursor.fetchall()
        found = {"keyword": 0, "vector": 0}
        if rows:
            found = {"keyword": rows[0][7], "vector": rows[0][8]}
        return Ranking(tuple(map(_ranked, rows)), found)


def _ranked(row: tuple) -> Ranked:
    node, key, score, keyword, keyword_score, vector, similarity, _, _, is_part = row
    given = {"keyword": (keyword, keyword_score), "vector": (vector, similarity)}
    return Ranked(
        node,
        key,
        float(score),
        {
            arm: Contribution(rank, float(value))
            for arm, (rank, value) in given.items()
            if rank is not None
        },
        is_part,
    )
