"""What the text arms find by themselves: where the walk arm starts from."""

from __future__ import annotations

from dataclasses import replace

from connections.models import Project, User
from graph.embed import with_vector
from retrieval.arms.base import NO_FILTERS
from retrieval.fusion import RRF_K, fuse
from retrieval.profiles import profiles
from retrieval.running import run_arms
from retrieval.search import QUESTION_CHARACTERS, understood

TEXT_ARMS = ("keyword", "vector")


def text_hits(
    project: Project, query: str, *, user: User | None, limit: int
) -> list[int]:
    """Return the nodes that the words and the meaning of `query` find, best first.

    Of what `user` may see; None is an operator's read.
    """
    recipe = profiles["default"]
    plans = {name: recipe.arms[name] for name in TEXT_ARMS if name in recipe.arms}
    asked = understood(project, query, user, NO_FILTERS, replace(recipe, arms=plans))
    if not asked.parsed.asked:
        return []
    words = asked.words()

    def by(vector: str | None, model_id: int) -> list[int]:
        found = run_arms(asked.ask(words, vector, model_id), plans)
        even = dict.fromkeys(found.hits, 1.0)
        return [hit.node_id for hit in fuse(found.hits, even, RRF_K, limit)]

    return with_vector(query[:QUESTION_CHARACTERS], by)
