"""The published fusion in SQL: the raw-SQL manager of searchable nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from connections.models import Project, Tenant
from graph.embed import nearness, vector_type
from graph.models import EmbeddingModel
from graph.querysets import NodeQuerySet
from retrieval import sql
from retrieval.allowed import rows_among
from retrieval.fusion import RRF_K, Fused
from retrieval.results import Contribution

POOL, SIMILARITY, MEASURED = 100, 0.2, 2


class RankedQuerySet(NodeQuerySet):
    def search_nodes(
        self,
        tenant: Tenant,
        project: Project,
        query: str,
        embedding: Sequence[float] | None = None,
        limit: int = 20,
    ) -> list[Fused]:
        """Rank this queryset's nodes by words and vectors, fused by reciprocal rank.

        All words are required, as `websearch_to_tsquery` reads them; `embedding` is of
        the active model, and without one only words count. One statement.
        """
        model = EmbeddingModel.objects.using(self.db).filter(is_active=True)
        values = {
            "question": query.replace("\x00", " "),
            "language": project.language,
            "vector": None if embedding is None else str(list(embedding)),
            "model": model.values_list("pk", flat=True).first(),
            "similarity": SIMILARITY,
            "pool": POOL,
            "measured": POOL * MEASURED,
            "k": RRF_K,
            "limit": limit,
        }
        nodes = self.filter(tenant=tenant, project=project)
        rows = rows_among(
            nodes,
            project,
            sql.FUSED,
            values,
            cast=vector_type(),
            nearness=nearness("%(vector)s", column="n.embedding"),
        )
        return [_fused(row) for row in rows]


def _fused(row: Sequence[Any]) -> Fused:
    node, key, is_part, score, *given = row
    ranks = zip(("keyword", "vector"), given[::2], given[1::2], strict=True)
    contributions: Mapping[str, Contribution] = {
        arm: Contribution(rank, float(said))
        for arm, rank, said in ranks
        if rank is not None
    }
    return Fused(node, key, is_part, float(score), contributions)
