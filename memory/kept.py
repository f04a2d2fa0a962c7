"""What memory holds, as its reader may see it: why, from where, how strong."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django import forms
from django.conf import settings
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from connections.models import Project, User
from connections.records import node_types
from graph.models import Evidence, Node
from memory.changes import is_theirs
from memory.fading import KEPT_DAYS
from memory.models import MemoryScope, Observation, Turn
from memory.observation_writer import PART
from memory.observations import importance_of
from memory.scopes import IS_CURRENT

PAGE, QUOTES = 30, 6
KEPT, PINNED, SHARED, OLDER, LEFT = "kept", "pinned", "shared", "superseded", "left"
STATES = {
    KEPT: "Remembered now",
    PINNED: "Pinned",
    SHARED: "Shared with the project",
    OLDER: "Superseded",
    LEFT: "Left memory",
}
LONGEST_SEARCH = 200


@dataclass(frozen=True, slots=True)
class Proof:
    """What a record says for an observation; without a node it is closed or gone."""

    quote: str
    node: Node | None

    @property
    def icon(self) -> str:
        known = node_types.get(self.node.node_type) if self.node else None
        return known.icon if known else "format_quote"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """An observation with all that its card shows; `strength` is in percent."""

    observation: Observation
    text: str
    icon: str
    proofs: tuple[Proof, ...]
    strength: int
    fades: str
    may_change: bool
    is_mine: bool
    is_asker: bool
    is_out: bool
    newer: Node | None
    older: tuple[Node, ...]

    @property
    def is_overdue(self) -> bool:
        due = self.observation.due_at
        is_open = self.observation.status == Observation.Status.OPEN
        return bool(due and is_open and due < timezone.now())

    @property
    def is_superseded(self) -> bool:
        return self.observation.superseded_by_id is not None


class Wanted(forms.Form):
    """What the memory page is asked for; what it does not know is left out."""

    type = forms.ChoiceField(choices=Observation.Type.choices, required=False)
    state = forms.ChoiceField(choices=list(STATES.items()), required=False)
    q = forms.CharField(max_length=LONGEST_SEARCH, required=False)
    turn = forms.IntegerField(min_value=1, max_value=2**63 - 1, required=False)
    page = forms.IntegerField(min_value=1, max_value=10_000, required=False)


def in_memory(project: Project, user: User) -> QuerySet[Observation]:
    """Return all that was ever remembered for `user` and they may still see."""
    # Also what left: its node is in no search, and stays its reader's to restore.
    nodes = Node.objects.visible_to(user).of(project).current()
    rows = Observation.objects.filter(
        Q(scope__user=user) | Q(scope__user=None),
        tenant_id=project.tenant_id,
        project=project,
        node__in=nodes,
    )
    return rows.select_related(
        "node", "scope", "conversation", "superseded_by__node"
    ).defer("node__embedding", "node__search_vector", "node__metadata_vector")


def wanted_of(
    rows: QuerySet[Observation], wanted: dict[str, Any]
) -> QuerySet[Observation]:
    """Keep those of a type, in a state, of a turn, with every word of a search."""
    rows = in_state(rows, wanted.get("state") or KEPT)
    if wanted.get("type"):
        rows = rows.filter(observation_type=wanted["type"])
    if wanted.get("turn"):
        rows = rows.filter(turn_id=wanted["turn"])
    for word in str(wanted.get("q") or "").replace("\x00", "").split()[:20]:
        rows = rows.filter(
            Q(node__content__icontains=word)
            | Q(node__title__icontains=word)
            | Q(who__icontains=word)
            | Q(subject__icontains=word)
        )
    return rows.order_by("-is_pinned", "-node_id")


def in_state(rows: QuerySet[Observation], state: str) -> QuerySet[Observation]:
    # What has faded out is gone at once, also before the sweep that lets it go.
    has_faded = Q(superseded_by=None, leaves_at__lte=F("scope__ticks"))
    if state == LEFT:
        return rows.filter(Q(left_at__isnull=False) | has_faded)
    if state == OLDER:
        return rows.filter(superseded_by__isnull=False, left_at=None)
    rows = rows.filter(IS_CURRENT)
    if state == PINNED:
        return rows.filter(is_pinned=True)
    return rows.filter(is_shared=True) if state == SHARED else rows


def of_turn(turn: Turn, user: User) -> list[Kept]:
    """Return what was remembered from a turn and is not gone."""
    rows = in_memory(turn.conversation.project, user).filter(turn=turn, left_at=None)
    return shown_kept(rows.order_by("node_id"), user)


def shown_kept(rows: Iterable[Observation], user: User) -> list[Kept]:
    """Return observations with their proofs and their older and newer words."""
    rows = list(rows)
    proofs, older = _proofs(rows, user), _older(rows, user)
    open_newer = _open_nodes({row.superseded_by_id for row in rows}, user)
    return [
        _kept(
            row,
            user,
            tuple(proofs.get(row.pk, ())),
            tuple(older.get(row.pk, ())),
            open_newer.get(row.superseded_by_id or 0),
        )
        for row in rows
    ]


def _kept(
    row: Observation,
    user: User,
    proofs: tuple[Proof, ...],
    older: tuple[Node, ...],
    newer: Node | None,
) -> Kept:
    known = node_types.get(row.observation_type)
    conversation = row.conversation
    return Kept(
        observation=row,
        text=row.node.content or row.node.title,
        icon=known.icon if known else "circle",
        proofs=proofs,
        strength=max(1, round(100 * importance_of(row, row.scope))),
        fades=fades(row),
        may_change=is_theirs(row, user),
        is_mine=row.scope.user_id == user.pk,
        is_asker=conversation is not None and conversation.user_id == user.pk,
        is_out=row.left_at is not None or _has_faded(row),
        newer=newer,
        older=older,
    )


def _has_faded(row: Observation) -> bool:
    return row.superseded_by_id is None and row.counted.has_left(row.scope.ticks)


def fades(row: Observation) -> str:
    """Return, in words, when an observation leaves memory if nobody asks about it."""
    if row.left_at:
        why = row.get_left_because_display()
        days = KEPT_DAYS - (timezone.now() - row.left_at).days
        return f"Out of memory ({why}); it can be brought back for {max(0, days)} days."
    if row.superseded_by_id:
        return "Something newer stands in its place."
    if row.is_pinned:
        return "Pinned: it does not fade."
    if row.leaves_at is None:
        return "It fades, but stays: it is protected."
    left = row.leaves_at - row.scope.ticks
    if left <= 0:
        return f"Faded out; it can be brought back for {KEPT_DAYS} days."
    unit = _unit(row.scope)
    many = "" if left == 1 else "s"
    return f"Leaves after {left} more {unit}{many} without it."


def _unit(scope: MemoryScope) -> str:
    """Return what the memory of `scope` fades by, in words."""
    usual = "day" if scope.user_id is None else "conversation"
    tick: str = settings.FABRIC["DECAY_TICK"] or usual
    return tick


def _proofs(rows: list[Observation], user: User) -> dict[int, list[Proof]]:
    said = (
        Evidence.objects.filter(node_id__in=[row.pk for row in rows])
        .exclude(record=None)
        .select_related("record")
        .order_by("pk")
    )
    evidence = list(said)
    keys = {key for each in evidence for key in _cited_keys(each)}
    visible = Node.objects.visible_to(user).current().filter(key__in=keys)
    nodes = {
        (node.project_id, node.key): node
        for node in visible.defer("embedding", "search_vector", "metadata_vector")
    }
    found: dict[int, list[Proof]] = {}
    for each in evidence:
        places = [(each.project_id, key) for key in _cited_keys(each)]
        node = next((nodes[place] for place in places if place in nodes), None)
        proofs = found.setdefault(each.node_id or 0, [])
        if len(proofs) < QUOTES:
            proofs.append(Proof(each.quote if node else "", node))
    return found


def _cited_keys(evidence: Evidence) -> tuple[str, ...]:
    """Return the key of the node that was cited, then that of its record."""
    record = evidence.record.key if evidence.record else ""
    return evidence.part.removeprefix(PART), record


def _older(rows: list[Observation], user: User) -> dict[int, list[Node]]:
    before = Observation.objects.filter(superseded_by__in=rows).values_list(
        "superseded_by_id", "node_id"
    )
    pairs = list(before)
    nodes = _open_nodes({node for _, node in pairs}, user)
    found: dict[int, list[Node]] = {}
    for newer, node in pairs:
        if newer is not None and node in nodes:
            found.setdefault(newer, []).append(nodes[node])
    return found


def _open_nodes(ids: set[Any], user: User) -> dict[int, Node]:
    visible = Node.objects.visible_to(user).current().filter(pk__in=ids - {None})
    rows = visible.defer("embedding", "search_vector", "metadata_vector")
    return {node.pk: node for node in rows}
