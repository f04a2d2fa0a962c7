"""Equal names of one type are one thing: `PG Vector`, `pg-vector` and `pg_vector`."""

from __future__ import annotations

from collections import defaultdict

from connections.models import Project
from graph import merging_sql as sql
from graph.copying import fetch
from graph.merged import scope_values
from graph.merging import merge_nodes
from graph.models.node import EXTRACTION, OF_ITS_SOURCE
from graph.vocabulary import NAME_TYPES

# Of other types two of one name may be two things; people decide.
MERGED_BY_NAME = (*sorted(NAME_TYPES), "tag", "topic")
BECAUSE = "Their names are equal."


def merge_same_names(project: Project) -> int:
    """Merge the names, tags and topics of `project` that are spelt alike; return how
    many went.

    What people wrote is kept before what was read out of texts, then the first by its
    key, so that the same comes of any order. What people took apart stays apart.
    """
    groups: dict[tuple[str, str], list[tuple[bool, str, int]]] = defaultdict(list)
    values = {
        **scope_values(project),
        "types": list(MERGED_BY_NAME),
        "unmerged": list(OF_ITS_SOURCE),
    }
    for node, key, kind, name, origin in fetch(sql.SAME_NAMES, values):
        groups[kind, name].append((origin == EXTRACTION, key, node))
    return sum(_merge(project, sorted(group)) for group in groups.values())


def _merge(project: Project, group: list[tuple[bool, str, int]]) -> int:
    keys = [key for _, key, _ in group]
    apart = fetch(sql.TAKEN_APART, [project.tenant_id, project.pk, keys])
    kept, merged = group[0], 0
    others = [
        node
        for _, key, node in group[1:]
        if not {(key, kept[1]), (kept[1], key)} & set(apart)
    ]
    if others:
        merge_nodes(project, kept[2], others, by=None, reason=BECAUSE)
        merged = len(others)
    return merged


def named_same(project: Project, node_type: str, name: str) -> int | None:
    """Return the live node of that type whose name says the same as `name`."""
    values = {
        **scope_values(project),
        "type": node_type,
        "name": name,
        "unmerged": list(OF_ITS_SOURCE),
    }
    rows = fetch(sql.NAMED_SAME, values)
    return int(rows[0][0]) if rows else None
