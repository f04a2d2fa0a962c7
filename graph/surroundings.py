"""What of a node's surroundings a picture shows: the best of each relation, the rest
counted. Nothing is looked at or counted that the reader may not see."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from django.db.models import Q
from django.utils import timezone

from connections.models import Project, User
from graph.models import Edge, Node
from graph.paths import hops
from graph.querysets import EdgeQuerySet, NodeQuerySet
from graph.steps import Direction, Hop

# Shapes tell apart what there is; an icon or a label says of which type it is.
FAMILIES = {
    "person": frozenset({"person", "account", "address", "name", "agent"}),
    "place": frozenset(
        {"channel", "thread", "meeting", "file", "folder", "domain", "community"}
    ),
    "said": frozenset({"message", "email", "sentence", "section", "episode"}),
}
THING = "thing"

# Of each relation in each direction so many of the heaviest edges, at the node itself
# and at what is tied to it; a larger picture has as many more.
NEAR, FURTHER, USUAL = 12, 3, 150
# Of a node's edges in a direction so many of the heaviest are looked at, and counted.
LOOKED_AT, LOOKED_AT_FURTHER = 5_000, 60

Group = tuple[int, str, bool]


class Tie(Protocol):
    """An edge, by its ends."""

    @property
    def source_id(self) -> int: ...

    @property
    def target_id(self) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """Who looks at a project, as of when, and at which types and relations only."""

    user: User
    project: Project
    as_of: datetime | None = None
    types: Sequence[str] = ()
    relations: Sequence[str] = ()

    @property
    def moment(self) -> datetime:
        return self.as_of or timezone.now()

    def nodes(self, *always: int) -> NodeQuerySet:
        """Return the nodes of the view; those of `always` whatever their type is."""
        rows = Node.objects.visible_to(self.user).of(self.project).current()
        rows = rows.as_of(self.moment)
        if self.as_of:
            rows = rows.filter(said_by(self.as_of) | Q(pk__in=always))
        if self.types:
            rows = rows.filter(Q(node_type__in=self.types) | Q(pk__in=always))
        return rows

    def edges(self) -> EdgeQuerySet:
        rows = Edge.objects.visible_to(self.user).of(self.project).live(self.moment)
        if self.as_of:
            rows = rows.filter(said_by(self.as_of))
        return rows.filter(relation__in=self.relations) if self.relations else rows

    def hops(self, nodes: NodeQuerySet, near: Sequence[int], fan_out: int) -> list[Hop]:
        """Return the edges out of `near`, of each its heaviest `fan_out` both ways."""
        found = hops(
            nodes,
            near,
            project=self.project,
            relations=self.relations or None,
            as_of=self.moment,
            fan_out=fan_out,
        )
        if self.as_of is None:
            return found
        walked = Edge.objects.of(self.project).filter(pk__in=[h.edge for h in found])
        said = set(walked.filter(said_by(self.as_of)).values_list("pk", flat=True))
        return [hop for hop in found if hop.edge in said]


@dataclass(frozen=True, slots=True)
class More:
    """So many nodes are tied to `node` over a relation and are not drawn; or at least
    so many, where that `is_exact` not."""

    node: int
    relation: str
    direction: Direction
    count: int
    is_exact: bool


@dataclass(frozen=True, slots=True)
class Chosen:
    """Nodes by id, the nearest and heaviest first, and what was left out."""

    nodes: tuple[int, ...]
    more: tuple[More, ...]


def said_by(moment: datetime) -> Q:
    """Return the condition that a node or an edge has no date, or not a later one."""
    return Q(occurred_at=None) | Q(occurred_at__lte=moment)


def family_of(node_type: str) -> str:
    """Return which shape a node of `node_type` has."""
    return next((name for name, types in FAMILIES.items() if node_type in types), THING)


def tied_to(centre: int, edges: Iterable[Tie]) -> set[int]:
    """Return what `edges` lead to from the centre, over any number of them."""
    beside: dict[int, set[int]] = defaultdict(set)
    for edge in edges:
        beside[edge.source_id].add(edge.target_id)
        beside[edge.target_id].add(edge.source_id)
    found, waiting = {centre}, [centre]
    while waiting:
        new = beside[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def around(view: View, centre: int, *, depth: int, limit: int) -> Chosen:
    """Return the centre and what lies up to `depth` edges from it, `limit` at most.

    Of each relation the heaviest are chosen; what else is tied to the centre is counted.
    """
    nodes = view.nodes(centre)
    scale = max(1, round(limit / USUAL))
    walked = view.hops(nodes, [centre], LOOKED_AT)
    groups = _groups(walked)
    found = {centre: None, **_best(groups, NEAR * scale, limit - 1)}
    level = list(found)[1:]
    for _ in range(1, depth):
        if len(found) >= limit or not level:
            break
        further = _groups(view.hops(nodes, level, LOOKED_AT_FURTHER))
        new = _best(further, FURTHER * scale, limit, besides=found)
        level = list(new)[: limit - len(found)]
        found |= dict.fromkeys(level)
    return Chosen(tuple(found), _left_out(groups, walked, found, LOOKED_AT))


def beyond(
    view: View,
    node: int,
    *,
    drawn: Iterable[int],
    number: int,
    relation: str = "",
    direction: Direction | None = None,
) -> Chosen:
    """Return up to `number` of what is tied to `node` and not `drawn`, the heaviest
    first, over one relation or the best of each; what is left then is counted."""
    walked = view.hops(view.nodes(node), [node], LOOKED_AT)
    wanted = [
        hop
        for hop in walked
        if relation in ("", hop.relation)
        and (direction is None or hop.forward == (direction == "out"))
    ]
    groups = _groups(wanted)
    seen = {node: None, **dict.fromkeys(drawn)}
    each = number if relation else NEAR
    new = _best(groups, each, number + len(seen), besides=seen)
    chosen = tuple(new)[:number]
    return Chosen(
        chosen, _left_out(groups, walked, {**seen, **dict.fromkeys(chosen)}, LOOKED_AT)
    )


def _groups(walked: Iterable[Hop]) -> dict[Group, list[int]]:
    """Return the far ends by where they are tied and how, the heaviest edges first."""
    groups: dict[Group, list[int]] = defaultdict(list)
    for hop in walked:
        if hop.far != hop.near:
            groups[hop.near, hop.relation, hop.forward].append(hop.far)
    return {group: list(dict.fromkeys(far)) for group, far in groups.items()}


def _best(
    groups: Mapping[Group, Sequence[int]],
    each: int,
    limit: int,
    besides: Mapping[int, None] | None = None,
) -> dict[int, None]:
    """Return the first `each` of every group, in turn: the first of all, the second."""
    known = besides or {}
    queues = [
        [far for far in group if far not in known][:each] for group in groups.values()
    ]
    found: dict[int, None] = {}
    for place in range(max(map(len, queues), default=0)):
        for queue in queues:
            if place < len(queue) and len(found) < limit:
                found.setdefault(queue[place])
    return found


def _left_out(
    groups: Mapping[Group, Sequence[int]],
    walked: Sequence[Hop],
    drawn: Mapping[int, None],
    most: int,
) -> tuple[More, ...]:
    """Return of each group how many are not drawn, the largest number first."""
    full = {
        forward
        for forward in (True, False)
        if sum(hop.forward == forward for hop in walked) >= most
    }
    found = [
        More(node, relation, "out" if forward else "in", count, forward not in full)
        for (node, relation, forward), far in groups.items()
        if (count := sum(each not in drawn for each in far))
    ]
    return tuple(sorted(found, key=lambda more: (-more.count, more.relation)))
