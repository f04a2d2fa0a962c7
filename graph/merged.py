"""What a merge of nodes is: what it returns, who may not be merged, who else moves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from connections.models import Project
from connections.records import JSON
from connections.refusals import Refused
from connections.registry import Registry
from graph import ingest_sql, merging_sql
from graph.copying import execute, fetch


class MergeRefused(Refused):
    """Nodes that are not merged, or not taken apart; the message says why."""

    code = "merge_refused"
    status_code = 409


@dataclass(frozen=True, slots=True)
class Merged:
    """The node that was kept, and what `unmerge` needs to take the others out again."""

    keep: int
    before: Mapping[str, JSON]


@dataclass(frozen=True, slots=True)
class Repointer:
    """Moves what a higher layer holds of nodes by id, and puts it back.

    `repoint` takes the node that each id becomes; what it returns is given to
    `put_back`.
    """

    repoint: Callable[[Project, Mapping[int, int]], JSON]
    put_back: Callable[[Project, JSON], None]


repointers: Registry[Repointer] = Registry("repointer of merged nodes")


def resolved(project: Project, keys: Iterable[str]) -> dict[str, str]:
    """Return what each of `keys` stands for, where it was merged into another."""
    wanted = sorted(set(keys))
    if not wanted:
        return {}
    values = {**scope_values(project), "keys": wanted}
    return dict(fetch(merging_sql.RESOLVED, values))


def describe(project: Project, nodes: Iterable[int]) -> None:
    """Describe `nodes` as the best of their records does, and by the tags of all."""
    ids = list(nodes)
    execute(ingest_sql.DESCRIBE, [project.tenant_id, project.pk, ids])
    unite(project, ids)


def unite(project: Project, nodes: Sequence[int]) -> None:
    """Give `nodes` that others were merged into the tags and metadata of all."""
    values = {**scope_values(project), "nodes": list(nodes)}
    execute(merging_sql.UNITE, values)


def scope_values(project: Project) -> dict[str, int]:
    return {"tenant": project.tenant_id, "project": project.pk}
