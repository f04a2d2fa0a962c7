"""The trash emptied: what lay in it for 30 days is deleted with all that it led to.

Tombstones stay, so that no source brings it back. What others say too stays, less what
was said here; what people asked and were answered is theirs, and keeps its text. What
was decided of it stays known, by whom and when.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from connections.models import Project, record_audit
from connections.registry import Registry
from graph import ingest_sql
from graph.audiences import Audiences
from graph.copying import execute, fetch
from graph.edges import GraphScope, Places, refresh_follows, settle_edges
from graph.extraction_proofs import part_of
from graph.extraction_writer import ExtractionWriter
from graph.identity import refresh_persons
from graph.ingest import after_runs
from graph.locks import lock_project
from graph.models import Node, Trashed
from graph.review import purging_sql
from graph.review.past import forget_history, keep_history
from graph.stand_ins import draw_stand_ins

BATCH = 200

# What a higher layer has to do before nodes of a project are deleted.
before_purge: Registry[Callable[[Project, Sequence[int]], None]] = Registry(
    "step before the trash is emptied"
)


def purge_due(now: datetime | None = None) -> int:
    """Delete for good what is due in the trash of every project; return how many nodes.

    Each batch is whole or not at all; killed anywhere, the next call goes on.
    """
    moment = now or timezone.now()
    due = Trashed.objects.filter(purge_at__lte=moment)
    projects = due.order_by("project_id").values_list("project_id", flat=True)
    gone = 0
    for pk in projects.distinct():
        project = Project.objects.select_related("tenant").get(pk=pk)
        emptied = 0
        while purged := _purge_some(project, moment):
            emptied += purged
        _settle_project(project)
        gone += emptied
    forget_history(moment)
    return gone


def _purge_some(project: Project, moment: datetime) -> int:
    with transaction.atomic():
        lock_project(project)
        rows = Trashed.objects.of(project).filter(purge_at__lte=moment)
        chosen = rows.order_by("chosen").values_list("chosen", flat=True)
        some = list(chosen.distinct()[:BATCH])
        nodes = list(rows.filter(chosen__in=some).values_list("node_id", flat=True))
        if nodes:
            _purge(project, nodes)
            record_audit("trash.emptied", project=project, nodes=len(nodes))
    return len(nodes)


def _purge(project: Project, nodes: Sequence[int]) -> None:
    scope = GraphScope(project, Audiences(project), timezone.now())
    values: dict[str, Any] = {
        "tenant": project.tenant_id,
        "project": project.pk,
        "nodes": list(nodes),
    }
    for step in before_purge.values():
        step(project, nodes)
    keep_history(project, nodes, scope.now)
    texts = fetch(purging_sql.READ_TEXTS, values)
    values["records"] = [row[0] for row in fetch(purging_sql.OWN_RECORDS, values)]
    values["read"] = [row[1] for row in texts]
    values["parts"] = [part_of(row[0]) for row in texts]
    touched = fetch(purging_sql.SAID_BY, values)
    ExtractionWriter(scope, {}).take_back([(row[0], row[1]) for row in texts])
    places = _places(values)
    execute(purging_sql.FORGET_TEXTS, values)
    execute(purging_sql.FORGET_RECORDS, values)
    Node.objects.filter(pk__in=nodes).delete()
    settle_edges(scope, [row[1] for row in touched if row[1]], places, forget=True)
    _settle_nodes(scope, [row[0] for row in touched if row[0]])
    refresh_follows(scope, places)


def _places(values: dict[str, Any]) -> Places:
    """Return where the nodes stood in threads, channels and meetings that stay."""
    places = Places()
    for item, within, position in fetch(purging_sql.POSITIONS, values):
        places.add(item, within, position)
    return places


def _settle_nodes(scope: GraphScope, touched: Sequence[int]) -> None:
    """Delete what nothing says any more of what the records said; describe and show
    the rest as what is left says."""
    nodes = list(set(touched))
    values = {"tenant": scope.key[0], "project": scope.key[1], "nodes": nodes}
    bare = [row[0] for row in fetch(purging_sql.BARE_NODES, values)]
    Node.objects.filter(pk__in=bare).delete()
    left = list(set(nodes) - set(bare))
    execute(ingest_sql.DESCRIBE, [*scope.key, left])
    execute(ingest_sql.RENAME_IDENTITIES, [left])
    for node, audience, found in fetch(ingest_sql.AUDIENCES_OF_NODES, [left]):
        if (shared := scope.audiences.any_of(found)) != audience:
            Node.objects.filter(pk=node).update(audience_id=shared)
    execute(ingest_sql.OPEN_FOLLOWS, [*scope.key, left])


def _settle_project(project: Project) -> None:
    """Bring up to date what is derived from the whole project, as a run does."""
    refresh_persons(project)
    draw_stand_ins(project)
    for step in after_runs.values():
        step(project)
