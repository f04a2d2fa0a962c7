"""Mending what a check found, by what keeps the graph right everywhere else.

Nothing that a person wrote is deleted; what cannot be mended safely is only shown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import partial

from django.db import transaction
from django.utils import timezone

from connections.models import Project
from graph import checks_sql as sql
from graph.audiences import Audiences
from graph.copying import execute, fetch
from graph.edges import GraphScope, Places, refresh_follows, settle_edges
from graph.embed import embed_backlog
from graph.identity import refresh_persons
from graph.merging import merge_nodes
from graph.models import Merge, Node
from graph.review.find_orphans import queue_orphans
from graph.same_names import merge_same_names


def delete_edges(project: Project, ids: Sequence[int]) -> None:
    execute(sql.DELETE_EDGES, [list(ids)])


def delete_evidence(project: Project, ids: Sequence[int]) -> None:
    edges = {row[0] for row in fetch(sql.DELETE_EVIDENCE, [list(ids)]) if row[0]}
    settle_edges(_scope(project), edges, Places(), forget=False)


def end_nodes(project: Project, ids: Sequence[int]) -> None:
    execute(sql.END_NODES, [list(ids)])


def end_edges(project: Project, ids: Sequence[int]) -> None:
    execute(sql.END_EDGES, [list(ids)])


def weigh(project: Project, ids: Sequence[int]) -> None:
    settle_edges(_scope(project), ids, Places(), forget=False)


def narrow(project: Project, ids: Sequence[int]) -> None:
    """Show edges to those who see the edge's evidence and both of its ends."""
    audiences = Audiences(project)
    groups: dict[frozenset[int], list[int]] = defaultdict(list)
    for edge, *around in fetch(sql.AUDIENCES_AROUND, [list(ids)]):
        groups[frozenset(around)].append(edge)
    for seen_by, edges in groups.items():
        execute(
            "UPDATE graph_edges SET audience_id = %s WHERE id = ANY(%s)",
            [audiences.all_of(seen_by), edges],
        )


def persons(project: Project, ids: Sequence[int]) -> None:
    refresh_persons(project)


def merge_names(project: Project, ids: Sequence[int]) -> None:
    merge_same_names(project)


def merge_again(project: Project, ids: Sequence[int]) -> None:
    """Merge what came back under a key that was merged, as it was."""
    for node in Node.objects.of(project).defer("embedding").filter(pk__in=ids):
        was = Merge.objects.get(project=project, key=node.key, undone_at=None)
        kept = Node.objects.of(project).filter(key=was.target).first()
        if kept is None or not kept.is_current:
            continue
        was.delete()
        merge_nodes(project, kept.pk, [node.pk], by=was.merged_by, reason=was.reason)


def draw_sequences(project: Project, ids: Sequence[int]) -> None:
    places, stray = Places(), []
    for item, scope, position, is_follows, edge in fetch(sql.PLACES, [list(ids)]):
        if position is not None:
            places.add(item, scope, position)
        elif is_follows:
            stray.append(edge)  # Its item stands in this sequence no more.
    end_edges(project, stray)
    refresh_follows(_scope(project), places)


def read_again(project: Project, ids: Sequence[int]) -> None:
    execute(sql.READ_AGAIN, [list(ids)])


def index_words(project: Project, ids: Sequence[int]) -> None:
    execute(sql.MAKE_SEARCH_VECTORS, [list(ids)])


def embed_again(project: Project, ids: Sequence[int]) -> None:
    """Send nodes to the embedder; what does not answer at once follows by itself."""
    execute(sql.EMBED_AGAIN, [list(ids)])
    transaction.on_commit(partial(embed_backlog, project.pk))


def queue(project: Project, ids: Sequence[int]) -> None:
    queue_orphans(project)


def _scope(project: Project) -> GraphScope:
    return GraphScope(project, Audiences(project), timezone.now())
