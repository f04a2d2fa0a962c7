"""Which older observation a new one replaces: the same thing, said otherwise later."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.contrib.postgres.search import SearchQuery
from django.db.models import Q

from connections.models import Project, User
from memory.learned import hash_of, says_the_same
from memory.learning.frames import Frame, contradicts
from memory.learning.proposals import Proposal
from memory.models import Observation
from memory.observations import current
from retrieval.words import words_in

Type = Observation.Type
# A fact and a decision can contradict one another, the others only their own type.
_STATED = (Type.FACT, Type.DECISION)
MOST_CANDIDATES, RAREST_WORDS, NEAREST = 60, 8, 5


@dataclass(frozen=True, slots=True)
class Older:
    """An observation that is held already, and when its source said it."""

    node_id: int
    type: str
    text: str
    said_at: datetime | None


@dataclass(frozen=True, slots=True)
class Standing:
    """How a proposal stands to what is held: it replaces `replaces`, or `newer` said
    otherwise since and it is outdated itself."""

    replaces: Older | None = None
    newer: Older | None = None


def nearest(
    project: Project, user: User, proposal: Proposal, *, most: int = MOST_CANDIDATES
) -> list[Older]:
    """Return what the user's own memory holds of the same kind in some of the same
    words, the most alike first; what says the same is not among them."""
    frame = Frame(proposal.text)
    rare = words_in(project, frame.said).words[:RAREST_WORDS]
    if not rare:
        return []
    kinds = _STATED if proposal.type in _STATED else (proposal.type,)
    # The words are lexemes already.
    any_word = SearchQuery(
        " | ".join(word.tsquery for word in rare), config="simple", search_type="raw"
    )
    held = current(project, user).filter(
        Q(node__search_vector=any_word), scope__user=user, observation_type__in=kinds
    )
    rows = held.order_by("-node_id").values_list(
        "node_id", "observation_type", "node__content", "node__valid_from"
    )
    others = [
        Older(*row)
        for row in rows[:MOST_CANDIDATES]
        if not says_the_same(row[2], proposal.text)
    ]
    others.sort(key=lambda old: -len(Frame(old.text).words & frame.words))
    return others[:most]


def standing_of(proposal: Proposal, held: Iterable[Older]) -> Standing:
    """Return which of `held` contradicts `proposal`, by rules; the later said wins."""
    new = Frame(proposal.text)
    for old in held:
        if is_older(old, proposal):
            if contradicts(new, Frame(old.text)):
                return Standing(replaces=old)
        elif contradicts(Frame(old.text), new):
            return Standing(newer=old)
    return Standing()


def is_older(old: Older, proposal: Proposal) -> bool:
    """Return whether it was said before; what has no date gives way."""
    if proposal.said_at is None:
        return old.said_at is None
    return old.said_at is None or old.said_at <= proposal.said_at


def was_replaced(project: Project, user: User, proposal: Proposal) -> bool:
    """Return whether just this was superseded, and is not said anew since then.

    An old message that is cited again must not bring back what it said.
    """
    ended = (
        Observation.objects.filter(
            tenant_id=project.tenant_id,
            project_id=project.pk,
            scope__user=user,
            observation_type=proposal.type,
            words_hash=hash_of(proposal.text),
        )
        .exclude(superseded_by=None)
        .values_list("superseded_by__node__valid_from", flat=True)
    )
    said = proposal.said_at
    return any(since is None or said is None or said <= since for since in ended)
