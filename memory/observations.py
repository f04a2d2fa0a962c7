"""Remembering: the one way in which an observation comes to be."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from connections.models import Project, User, record_audit
from graph.audiences import Audiences
from graph.copying import execute
from graph.models import Node
from memory import observation_sql
from memory.changes import (
    bring_back,
    correct,
    forget,
    pin,
    restore,
    set_status,
    share,
)
from memory.learned import (
    Learned,
    MemoryRefused,
    NotYours,
    Quoted,
    Remembered,
    Unsupported,
    check_text,
    plain,
)
from memory.models import Conversation, MemoryScope, Observation, Turn
from memory.observation_writer import (
    Cited,
    Place,
    close_superseded,
    evidence_there,
    nearly_said,
    write_observation,
    write_support,
)
from memory.scopes import IS_CURRENT, current, locked_scope, scope_of

__all__ = [
    "Learned",
    "MemoryRefused",
    "NotYours",
    "Quoted",
    "Remembered",
    "Unsupported",
    "correct",
    "current",
    "forget",
    "importance_of",
    "pin",
    "refer",
    "remember",
    "restore",
    "scope_of",
    "set_status",
    "share",
]


def remember(
    project: Project,
    user: User | None,
    learned: Learned,
    *,
    conversation: Conversation | None = None,
    turn: Turn | None = None,
    now: datetime | None = None,
) -> Remembered:
    """Keep `learned` in the memory of `user`, or with None in the project's own.

    What that memory holds already, or nearly so, is reinforced: it is referenced in
    `conversation`. What it supersedes is closed, and kept. Doing it again changes
    nothing. Raises `Unsupported` where nothing that was cited says it.
    """
    _check(learned)
    cited = evidence_there(project, user, learned)
    with transaction.atomic():
        if conversation is not None:
            # First, as the end of a conversation does it: nobody waits in a circle.
            execute(observation_sql.HOLD_CONVERSATION, [conversation.pk])
        place = Place(
            project=project,
            user=user,
            scope=locked_scope(project, user),
            audiences=Audiences(project),
            now=now or timezone.now(),
            conversation=conversation,
            turn=turn,
        )
        known = _held(place, learned) or nearly_said(place, learned)
        if known is None:
            observation = write_observation(place, learned, cited)
        else:
            observation = known
            _reinforce(place, known, cited)
        older = _close_older(place, learned, observation)
        outcome = "superseded" if older else "added" if known is None else "reinforced"
        record_audit(
            f"memory.{outcome}",
            target=f"memory:{observation.node_id}",
            project=project,
            actor=user,
            superseded=[*older],
            origin=learned.origin,
        )
    return Remembered(observation, outcome)  # type: ignore[arg-type] # one of three


def _check(learned: Learned) -> None:
    if learned.observation_type not in Observation.Type:
        known = ", ".join(Observation.Type.values)
        raise MemoryRefused(
            f"{learned.observation_type!r} is no type of observation; it takes {known}."
        )
    if learned.status not in Observation.Status:
        raise MemoryRefused(
            f"{learned.status!r} is no status; it takes open, done or dropped."
        )
    check_text(learned.text)


def _held(place: Place, learned: Learned) -> Observation | None:
    """Return what says exactly this: what faded comes back as new."""
    same = Observation.objects.filter(
        scope=place.scope,
        observation_type=learned.observation_type,
        words_hash=learned.words_hash,
        superseded_by=None,
    )
    held = same.filter(left_at=None).first()
    if held is not None and not held.counted.has_left(place.scope.ticks):
        return held
    if held is None:
        faded = same.filter(left_because=Observation.Left.FADED)
        held = faded.order_by("-left_at").first()
    if held is not None:
        bring_back(held, place.scope)
    return held


def _reinforce(place: Place, known: Observation, cited: tuple[Cited, ...]) -> None:
    """Note that it was said again, and what else supports it."""
    conversation = place.conversation
    if conversation is not None and known.conversation_id != conversation.pk:
        refer(conversation, [known.node_id], now=place.now)
    Node.objects.filter(pk=known.node_id).update(
        confirmed_at=place.now, last_evidence_at=place.now
    )
    # What fewer people may see would take it from the others.
    rests_on = known.evidence_audience_id or place.audiences.public
    more = [
        each
        for each in cited
        if place.audiences.all_of([rests_on, each.support.audience_id]) == rests_on
    ]
    audience = Node.objects.values_list("audience_id", flat=True).get(pk=known.node_id)
    write_support(place, known, more, audience)


def _close_older(place: Place, learned: Learned, newer: Observation) -> list[int]:
    """Close what the newer one replaces in its scope; return their ids."""
    inside = Observation.objects.filter(IS_CURRENT, scope=place.scope)
    inside = inside.exclude(pk=newer.pk)
    older: dict[int, Observation] = {}
    if learned.supersedes is not None and learned.supersedes != newer.pk:
        named = inside.filter(pk=learned.supersedes).first()
        if named is not None:
            older[named.pk] = named
        elif not _was_closed(place, learned.supersedes):
            raise MemoryRefused(
                f"memory:{learned.supersedes} is not in this memory: nothing is "
                "superseded by it."
            )
    if subject := plain(learned.subject):
        same = inside.filter(subject=subject, observation_type=learned.observation_type)
        older |= {each.pk: each for each in same}
    for each in older.values():
        close_superseded(each, newer, place.now)
    return sorted(older)


def _was_closed(place: Place, node_id: int) -> bool:
    """Return whether it was in this memory once: done again, nothing is to be done."""
    return Observation.objects.filter(scope=place.scope, pk=node_id).exists()


def refer(
    conversation: Conversation,
    node_ids: Collection[int],
    *,
    now: datetime | None = None,
) -> int:
    """Note which observations were pulled into a conversation; return how many were
    not noted before.

    Other nodes, and what its user does not remember, are passed over. They count when
    the conversation ends.
    """
    if not node_ids:
        return 0
    return execute(
        observation_sql.REFER,
        {
            "conversation": conversation.pk,
            "nodes": list(node_ids),
            "now": now or timezone.now(),
        },
    )


def importance_of(observation: Observation, scope: MemoryScope | None = None) -> float:
    """Return how strong it is now, above 0 and at most 1."""
    return observation.counted.at((scope or observation.scope).ticks)
