"""The community arm: first what the question is about, then who belongs to it."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import connections

from graph.embed import vector_type
from retrieval.arms import sql
from retrieval.arms.base import Arm, Ask, Hit, Plan, allowed_sql, arms
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
    allowed, values = allowed_sql(ask.nodes)
    with connections[ask.nodes.db].cursor() as cursor:
        cursor.execute(
            sql.COMMUNITY.format(allowed=allowed, cast=vector_type()),
            {
                **values,
                "tenant": ask.project.tenant_id,
                "project": ask.project.pk,
                "audiences": ask.nodes.audiences,
                "languages": languages_of(ask.project),
                "question": ask.parsed.query,
                "vector": ask.vector,
                "model": ask.model_id,
                "communities": _number(plan, "communities", COMMUNITIES),
                "members": _number(plan, "members", MEMBERS),
                "in_summary": IN_SUMMARY,
                "least_similarity": LEAST_SIMILARITY,
                "by_centrality": BY_CENTRALITY,
                "pool": plan.pool,
            },
        )
        return [Hit(node, key, float(s), part) for node, key, s, part in cursor]


def _number(plan: Plan, name: str, otherwise: int) -> int:
    value = plan.options.get(name, otherwise)
    if not isinstance(value, int):
        raise ValueError(f"The option {name} of the community arm is no whole number.")
    return value


arms.add("community", Arm(find))
