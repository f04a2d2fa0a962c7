"""The queue as a reviewer reads it: its items, their number, and one of them whole."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from django.contrib.auth.models import AnonymousUser
from django.db.models import F, Q
from django.utils import timezone

from connections.models import Audience, Project, User
from connections.registry import Registry
from connections.roles import Act, projects_where
from graph.copying import fetch
from graph.models import Evidence, Node, Record, ReviewDecision, ReviewItem, Trashed
from graph.pruned import out_of_trash
from graph.querysets import ScopedQuerySet
from graph.review import reading_sql
from graph.review.kinds import Reliance, ReviewKind, dependants, review_kinds
from graph.staleness import Age, age_of, thresholds_of

# The orders of a queue, each total.
ORDERS = {
    "priority": ("-priority", "pk"),
    "newest": ("-flagged_at", "-pk"),
    "oldest": ("flagged_at", "pk"),
    "use": ("-uses", "pk"),
}
# More than so many of a kind are not counted.
COUNTED_MOST = 1000
EVIDENCE_MOST, HISTORY_MOST = 20, 50
SAID_CHARACTERS = 300
CHUNK = 500

# What no list of items shows of their nodes, and is long.
HEAVY = ("node__embedding", "node__search_vector", "node__metadata_vector")

# What a kind tells beside an item: (name, text) as the reader may see it.
explainers: Registry[Callable[[ReviewItem, User], Sequence[tuple[str, str]]]] = (
    Registry("explanation of review items")
)


@dataclass(frozen=True, slots=True)
class QueueSize:
    """How many items of a kind wait; `COUNTED_MOST` where there are more."""

    kind: str
    title: str
    icon: str
    open: int
    snoozed: int


@dataclass(frozen=True, slots=True)
class LastSaid:
    """The newest evidence of a node, or memory on it."""

    text: str
    at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """All that one decision needs, as its reader may see it."""

    item: ReviewItem
    kind: ReviewKind
    claim: Node | None
    other: Node | None
    evidence: Sequence[Evidence]
    age: Age | None
    last_observation: LastSaid | None
    reliances: Sequence[Reliance]
    history: Sequence[ReviewDecision]
    facts: Sequence[tuple[str, str]] = ()


def queue_of(
    user: User | AnonymousUser,
    *,
    project: Project | None = None,
    kind: str = "",
    state: str = "open",
    mine: bool = False,
    order: str = "priority",
) -> ScopedQuerySet[ReviewItem]:
    """Return the items that `user` may see and has the role to decide, in order.

    `state` "" is any; `mine`: assigned to the user. Raises `UnknownName` for a kind
    that nobody registered, and `KeyError` for an order that is not one of `ORDERS`.
    """
    rows = _decidable_by(user, project, kind)
    if state:
        rows = rows.filter(state=state)
    if mine:
        rows = rows.filter(assigned_to_id=user.pk)
    return rows.order_by(*ORDERS[order])


def _decidable_by(
    user: User | AnonymousUser, project: Project | None, kind: str
) -> ScopedQuerySet[ReviewItem]:
    places = _places_of(user, project)
    rows = ReviewItem.objects.visible_to(user)
    if not places:
        return rows.none()
    inside = rows.filter(_inside(places))
    return inside.filter(kind=review_kinds[kind].name) if kind else inside


def _places_of(
    user: User | AnonymousUser, project: Project | None
) -> tuple[tuple[int, int], ...]:
    """Return the projects where `user` decides, each with its tenant: by value, so that
    rows are read in the order of an index."""
    where = projects_where(user, Act.REVIEW)
    if project is not None:
        where = where.filter(pk=project.pk)
    return tuple(where.order_by("pk").values_list("pk", "tenant_id"))


def _inside(places: Collection[tuple[int, int]]) -> Q:
    """Return the condition for projects, given with their tenants: one is compared, as
    the order of an index asks for."""
    projects, tenants = ({place[n] for place in places} for n in (0, 1))
    return _one_of("project_id", projects) & _one_of("tenant_id", tenants)


def _one_of(name: str, ids: Collection[int]) -> Q:
    return Q(**{name: min(ids)} if len(ids) == 1 else {f"{name}__in": sorted(ids)})


def sizes_of(
    user: User | AnonymousUser, *, project: Project | None = None
) -> list[QueueSize]:
    """Return how many items of each kind wait for a decision that `user` may make, of
    all projects or of one."""
    states = (ReviewItem.State.OPEN, ReviewItem.State.SNOOZED)
    places = _places_of(user, project)
    values = {
        "audiences": Audience.objects.ids_of(user),
        "projects": [place for place, _ in places],
        "tenants": list({tenant for _, tenant in places}),
        "kinds": list(review_kinds),
        "states": list(states),
        "most": COUNTED_MOST,
    }
    rows = fetch(reading_sql.SIZES, values) if places else []
    counted = {(kind, state): count for kind, state, count in rows}
    return [
        QueueSize(
            kind.name,
            kind.title,
            kind.icon,
            *(counted.get((kind.name, state.value), 0) for state in states),
        )
        for kind in review_kinds.values()
    ]


def detail_of(item: ReviewItem, reader: User) -> Detail:
    """Return an item with all that its decision needs, as `reader` may see it."""
    project = item.project
    claim, other = _node(item.node_id, reader), _node(item.other_id, reader)
    nodes = [node.pk for node in (claim, other) if node]
    relying = [claim.pk] if claim and claim.trashed_at is None else []
    last = last_said(project, nodes[:1], reader)
    explain = explainers.get(item.kind)
    return Detail(
        item=item,
        kind=review_kinds[item.kind],
        claim=claim,
        other=other,
        evidence=_evidence(item, nodes, reader),
        age=_age(item, claim),
        last_observation=last.get(nodes[0]) if nodes else None,
        reliances=[
            each
            for find in dependants.values()
            for each in (find(project, relying, reader) if relying else ())
            if each.count or each.hidden
        ],
        history=history_of(item),
        facts=explain(item, reader) if explain else (),
    )


def history_of(item: ReviewItem) -> list[ReviewDecision]:
    """Return what was decided of an item, latest first."""
    rows = ReviewDecision.objects.filter(
        item=item, tenant_id=item.tenant_id, project_id=item.project_id
    )
    related = rows.select_related("decided_by", "undone_by")
    return list(related.order_by("-pk")[:HISTORY_MOST])


def last_said(
    project: Project, nodes: Sequence[int], reader: User | AnonymousUser
) -> dict[int, LastSaid]:
    """Return by node the newest evidence or memory on it that `reader` may see."""
    if not nodes:
        return {}
    rows = fetch(
        reading_sql.LAST_SAID,
        {
            "tenant": project.tenant_id,
            "project": project.pk,
            "nodes": list(nodes),
            "audiences": Audience.objects.ids_of(reader),
            "characters": SAID_CHARACTERS,
        },
    )
    return {node: LastSaid(text, at) for node, text, at in rows}


def trash_of(
    user: User | AnonymousUser, *, project: Project | None = None
) -> ScopedQuerySet[Trashed]:
    """Return what was chosen and put in the trash, as far as `user` may put it back,
    latest first; what went along is not listed by itself."""
    where = projects_where(user, Act.REVIEW)
    if project is not None:
        where = where.filter(pk=project.pk)
    inside = list(where.values_list("pk", flat=True))
    rows = Trashed.objects.visible_to(user).filter(project_id__in=inside)
    return rows.filter(node_id=F("chosen")).order_by("-trashed_at", "-pk")


def report_of(project: Project, reader: User) -> Iterator[dict[str, str]]:
    """Yield the stale claims of a project for those who decide outside of Fabric."""
    rows = queue_of(reader, project=project, kind="stale").select_related("node")
    found = rows.exclude(node=None).filter(node__trashed_at=None)
    now, thresholds = timezone.now(), thresholds_of(project)
    for some in _chunks(found.iterator(chunk_size=CHUNK)):
        last = last_said(
            project, [item.node_id for item in some if item.node_id], reader
        )
        for item in some:
            said = last.get(item.node_id or 0)
            age = age_of(item.node, now, thresholds) if item.node else None
            yield {
                "name": str(item.node),
                "type": item.node.node_type if item.node else "",
                "age": f"{(age and age.days) or 0} days",
                "lastObservation": said.text if said else "none",
            }


def _chunks(items: Iterator[ReviewItem]) -> Iterator[list[ReviewItem]]:
    while some := list(islice(items, CHUNK)):
        yield some


def _node(pk: int | None, reader: User) -> Node | None:
    if pk is None:
        return None
    rows = Node.objects.visible_to(reader).select_related("record", "project__tenant")
    return (
        rows.defer("embedding", "search_vector", "record__body").filter(pk=pk).first()
    )


def _age(item: ReviewItem, claim: Node | None) -> Age | None:
    """Return how old the claim is now, which may be less than when it was flagged."""
    if item.age_days is None:
        return None
    if claim is None:
        return Age(item.age_days, item.threshold)
    return age_of(claim, timezone.now(), thresholds_of(item.project))


def _evidence(item: ReviewItem, nodes: Sequence[int], reader: User) -> list[Evidence]:
    """Return the newest of what the reader may see of why the claim is there."""
    about = Q(node_id__in=nodes)
    if edge := item.detail.get("edge"):
        about = Q(edge_id=edge)
    rows = Evidence.objects.filter(
        about,
        tenant_id=item.tenant_id,
        project_id=item.project_id,
        record__in=Record.objects.visible_to(reader).of(item.project),
    )
    related = out_of_trash(rows).select_related("record__source", "record__run")
    newest = related.order_by("-record__occurred_at", "-pk").defer("assertion")
    return list(newest[:EVIDENCE_MOST])
