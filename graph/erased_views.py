"""Saved lists of the admin that look for what was erased: they are of nothing now."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from urllib.parse import parse_qsl

from django.db.models import Q, QuerySet

from connections.models import Project, SavedView
from graph.copying import fetch
from graph.scrubbing import pattern_of

KEYS_AMONG = """
    SELECT n.key FROM graph_nodes n
     WHERE n.id = ANY(%(nodes)s) AND n.key = ANY(%(said)s)
    UNION
    SELECT r.key FROM graph_records r
     WHERE r.id = ANY(%(records)s) AND r.key = ANY(%(said)s)
"""


def forget_views_of(
    project: Project, nodes: Sequence[int], records: Sequence[int]
) -> int:
    """Delete saved lists of `project`'s people that filter by a key of `nodes` or
    `records`; return how many."""
    by_value = {
        value: view.pk for view in _views(project) for value in _values(view.query)
    }
    if not by_value:
        return 0
    said = {"nodes": list(nodes), "records": list(records), "said": [*by_value]}
    gone = {row[0] for row in fetch(KEYS_AMONG, said)}
    found = [v.pk for v in _views(project) if gone & set(_values(v.query))]
    return SavedView.objects.filter(pk__in=found).delete()[0] if gone else 0


def forget_views_naming(project: Project, names: Collection[str]) -> int:
    """Delete saved lists of `project`'s people that say one of `names` in their own
    name, their search or a filter; return how many."""
    if not names:
        return 0
    wanted = re.compile(pattern_of(names), re.IGNORECASE)
    found = [
        view.pk
        for view in _views(project)
        if any(wanted.search(text) for text in (view.name, *_values(view.query)))
    ]
    return SavedView.objects.filter(pk__in=found).delete()[0]


def _views(project: Project) -> QuerySet[SavedView]:
    """Return what is shared with the project, and what its members keep for
    themselves: nobody else knows who is in it."""
    own = Q(shared_with=None, owner__memberships__project=project)
    return SavedView.objects.filter(Q(shared_with=project) | own).distinct()


def _values(query: str) -> list[str]:
    return [value for _, value in parse_qsl(query)]
