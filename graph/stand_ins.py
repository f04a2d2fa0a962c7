"""Edges to what is there, where what was meant is not: a reply whose parent is missing
is drawn to the nearest mail it names that did arrive."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from connections.models import Project
from graph import ingest_sql
from graph.audiences import Audiences
from graph.copying import execute, fetch
from graph.edges import EdgeClaim, GraphScope, Places, settle_edges, write_edges
from graph.locks import lock_project


def draw_stand_ins(project: Project) -> None:
    """Draw each waiting edge that names other ends to the first of them that is there.

    A function of what waits and what is there, so that order does not matter: once
    the end that was meant arrives, its stand-in goes.
    """
    scope = GraphScope(project, Audiences(project), timezone.now())
    with transaction.atomic():
        lock_project(project)
        wanted = {
            (record, source, relation, target, meant): (audience, occurred_at)
            for record, source, relation, target, meant, audience, occurred_at in fetch(
                ingest_sql.STAND_INS_WANTED, scope.key
            )
        }
        drawn = {row[2:]: row[:2] for row in fetch(ingest_sql.STAND_INS, scope.key)}
        wrong = [drawn[aim] for aim in drawn.keys() - wanted.keys()]
        execute(
            "DELETE FROM graph_evidence WHERE id = ANY(%s)", [[row[0] for row in wrong]]
        )
        settle_edges(scope, [row[1] for row in wrong], Places(), forget=True)
        claims = [
            EdgeClaim(
                record_id=record,
                source_id=source,
                relation=relation,
                target_id=target,
                audience_id=wanted[aim][0],
                occurred_at=wanted[aim][1],
                via_target=meant,
                kind="derived",
            )
            for aim in sorted(wanted.keys() - drawn.keys())
            for record, source, relation, target, meant in [aim]
        ]
        write_edges(scope, claims, Places())
