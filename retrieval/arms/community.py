"""The community arm: first what the question is about, then who belongs to it."""

from __future__ import annotations

from collections.abc import Sequence

from retrieval.arms import sql
from retrieval.arms.base import Arm, Ask, Hit, Plan, arms, hits_by
from retrieval.frequencies import languages_of

# How many communities a question is about at most, and how many of the most central
# members of each are looked at. Options of a plan change both.
COMMUNITIES, MEMBERS = 5, 200
# What a word in the summary says of a community, 1.0 in its title.
IN_SUMMARY = 0.5
# A middle of texts is near to everything: below this it says nothing.
LEAST_SIMILARITY = 0.3
BY_CENTRALITY = 0.25


def find(ask: Ask, plan: Plan) -> Sequence[Hit]:
    """Return members of the communities that the question is about, by how well the
    community fits, how near the member is to the question, and how central."""
    values = {
        "question": ask.parsed.query,
        "languages": languages_of(ask.project),
        "communities": _number(plan, "communities", COMMUNITIES),
        "members": _number(plan, "members", MEMBERS),
        "in_summary": IN_SUMMARY,
        "least_similarity": LEAST_SIMILARITY,
        "by_centrality": BY_CENTRALITY,
    }
    return hits_by(sql.COMMUNITY, ask, plan.pool, values)


def _number(plan: Plan, name: str, otherwise: int) -> int:
    value = plan.options.get(name, otherwise)
    if not isinstance(value, int):
        raise ValueError(f"The option {name} of the community arm is no whole number.")
    return value


arms.add("community", Arm(find))
