"""What of memory relies on nodes, and what of it goes with them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.urls import reverse
from django.utils import timezone

from connections.models import Audience, Project, User
from graph.copying import execute, fetch
from graph.explanations import named
from graph.models import Node
from graph.review.kinds import Reliance, dependants
from graph.review.plans import taken_along
from graph.review.purging import before_purge
from memory import observation_sql, review_sql
from memory.models import Turn

EXAMPLES = 3


@taken_along.register("observations")
def observations(project: Project, nodes: Sequence[int]) -> Iterable[tuple[int, int]]:
    """Return what was remembered because of `nodes` and of nothing that stays."""
    rows = fetch(review_sql.RESTING, _values(project, nodes))
    return [(row[0], row[1]) for row in rows]


@dependants.register("citations")
def citations(
    project: Project, nodes: Sequence[int], reader: User
) -> Sequence[Reliance]:
    """Return the answers that cite `nodes`."""
    rows = fetch(review_sql.ANSWERS_CITING, _values(project, nodes))
    seen = _seen(rows, reader)
    turns = Turn.objects.select_related("conversation").in_bulk(seen[:EXAMPLES])
    examples = [
        (
            str(turns[pk]),
            reverse("conversation", args=[turns[pk].conversation_id]),
        )
        for pk in seen[:EXAMPLES]
        if pk in turns
    ]
    return [
        Reliance(
            name="answers that cite it",
            one="answer that cites it",
            count=len(seen),
            examples=examples,
            hidden=len(rows) - len(seen),
        )
    ]


@dependants.register("memories")
def memories(
    project: Project, nodes: Sequence[int], reader: User
) -> Sequence[Reliance]:
    """Return what rests on `nodes` and on something else besides."""
    rows = fetch(review_sql.RESTING_TOO, _values(project, nodes))
    seen = _seen(rows, reader)
    found = Node.objects.in_bulk(seen[:EXAMPLES])
    examples = [
        (named(found[pk]), reverse("node", args=[pk]))
        for pk in seen[:EXAMPLES]
        if pk in found
    ]
    return [
        Reliance(
            name="memories that rest on it too",
            one="memory that rests on it too",
            count=len(seen),
            examples=examples,
            hidden=len(rows) - len(seen),
        )
    ]


@before_purge.register("observations")
def let_go(_project: Project, nodes: Sequence[int]) -> None:
    """Let what `nodes` superseded go its own way, before these are deleted."""
    values = {"nodes": list(nodes), "now": timezone.now()}
    execute(observation_sql.ORPHANED_BY, values)


def _values(project: Project, nodes: Sequence[int]) -> dict[str, object]:
    return {
        "tenant": project.tenant_id,
        "project": project.pk,
        "nodes": list(nodes),
    }


def _seen(rows: Sequence[tuple[int, int]], reader: User) -> list[int]:
    mine = set(Audience.objects.ids_of(reader))
    return [row[0] for row in rows if row[1] in mine]
