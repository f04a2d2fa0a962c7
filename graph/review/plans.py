"""What a prune would put away: what was chosen, and what stands on nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from django.utils import timezone

from connections.models import Project
from connections.registry import Registry
from graph.copying import fetch
from graph.review import pruning_sql

# What goes with nodes: (project, nodes) -> pairs of one of them and what goes with it.
Takes = Callable[[Project, Sequence[int]], Iterable[tuple[int, int]]]

taken_along: Registry[Takes] = Registry("sort of what a prune takes along")


@dataclass(frozen=True, slots=True)
class Plan:
    """Nodes and edges that would go; `along` gives of each the chosen node it goes
    with."""

    chosen: tuple[int, ...]
    along: dict[int, int]
    cut: tuple[int, ...] = ()
    edges: int = 0

    @property
    def nodes(self) -> list[int]:
        return [*self.chosen, *self.along]


def plan_of(project: Project, nodes: Iterable[int], edges: Iterable[int] = ()) -> Plan:
    """Return what goes where `nodes` and `edges` are pruned, as things are now."""
    chosen = tuple(sorted(set(nodes)))
    led_by = {node: node for node in chosen}
    fresh = list(chosen)
    while fresh:
        known = list(led_by)
        fresh = []
        for takes in taken_along.values():
            for taker, taken in takes(project, known):
                if taken not in led_by:
                    led_by[taken] = led_by[taker]
                    fresh.append(taken)
    along = {node: root for node, root in led_by.items() if node not in chosen}
    cut = tuple(sorted(set(edges)))
    return Plan(chosen, along, cut, _count_edges(project, [*led_by], cut))


@taken_along.register("parts")
def parts(project: Project, nodes: Sequence[int]) -> Iterable[tuple[int, int]]:
    """Return the parts, sections, sentences and attachments of `nodes`."""
    return _pairs(pruning_sql.PARTS, project, nodes)


@taken_along.register("claims")
def claims(project: Project, nodes: Sequence[int]) -> Iterable[tuple[int, int]]:
    """Return what was read out of `nodes` and of nothing that stays."""
    return _pairs(pruning_sql.CLAIMS, project, nodes)


@taken_along.register("merged")
def merged(project: Project, nodes: Sequence[int]) -> Iterable[tuple[int, int]]:
    """Return what was merged into `nodes`: else it would come back under its name."""
    return _pairs(pruning_sql.MERGED, project, nodes)


def _pairs(
    statement: str, project: Project, nodes: Sequence[int]
) -> list[tuple[int, int]]:
    values = {
        "tenant": project.tenant_id,
        "project": project.pk,
        "nodes": list(nodes),
    }
    return [(row[0], row[1]) for row in fetch(statement, values)]


def _count_edges(project: Project, nodes: Sequence[int], cut: Sequence[int]) -> int:
    values = {
        "tenant": project.tenant_id,
        "project": project.pk,
        "nodes": list(nodes),
        "now": timezone.now(),
    }
    rows = fetch(pruning_sql.EDGES_OF_NODES, values) if nodes else []
    return len({row[0] for row in rows} | set(cut))
