"""Proposals written to memory: screened, set against what is held, dated."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from connections.models import record_audit
from graph.models import Node
from memory.learned import Learned, Quoted, Unsupported
from memory.learning.frames import Frame
from memory.learning.proposals import Proposal
from memory.learning.screening import screen
from memory.learning.superseding import (
    Older,
    Standing,
    nearest,
    standing_of,
    was_replaced,
)
from memory.models import Observation, Turn
from memory.observation_writer import close_superseded
from memory.observations import remember

log = logging.getLogger(__name__)

SCREENED, OUTDATED, UNSUPPORTED = "screened", "outdated", "unsupported"


@dataclass(frozen=True, slots=True)
class Kept:
    """What came of the proposals of a turn: how many were added, reinforced and so on."""

    counts: Mapping[str, int]

    def __getitem__(self, outcome: str) -> int:
        return self.counts.get(outcome, 0)


def screened(proposals: Sequence[Proposal]) -> tuple[list[Proposal], int]:
    """Return the proposals without secrets, and how many had some.

    The quotes count too: they are kept as evidence.
    """
    clean = [
        proposal
        for proposal in proposals
        if not any(
            screen(text)
            for text in (
                proposal.text,
                proposal.rationale,
                *(source.quote for source in proposal.sources),
            )
        )
    ]
    return clean, len(proposals) - len(clean)


def keep(
    turn: Turn,
    proposals: Sequence[Proposal],
    replaced: Mapping[int, Older],
    screened_out: int,
) -> Kept:
    """Write `proposals` into the memory of the turn's user, and note it in the audit.

    `replaced` are, by place, what a model says they replace; rules say the rest. To be
    called in the transaction that marks the turn as remembered.
    """
    counts: Counter[str] = Counter()
    for place, proposal in enumerate(proposals):
        counts[_keep(turn, proposal, replaced.get(place))] += 1
    counts[SCREENED] += screened_out
    kept = Kept({name: count for name, count in counts.items() if count})
    if screened_out:
        log.info("Turn %s: %d sentences were screened out.", turn.pk, screened_out)
    conversation = turn.conversation
    record_audit(
        "memory.turn_remembered",
        target=str(turn.pk),
        project=conversation.project,
        actor=conversation.user,
        counts=dict(kept.counts),
    )
    return kept


def _keep(turn: Turn, proposal: Proposal, replaced: Older | None) -> str:
    project, user = turn.conversation.project, turn.conversation.user
    if was_replaced(project, user, proposal):
        return OUTDATED
    standing = standing_of(proposal, nearest(project, user, proposal))
    if replaced is not None:
        standing = Standing(replaces=replaced)
    try:
        found = remember(
            project,
            user,
            _learned(proposal, standing),
            conversation=turn.conversation,
            turn=turn,
        )
    except Unsupported:
        # Its source changed or was closed since it was cited.
        return UNSUPPORTED
    if found.outcome == "reinforced" and found.observation.turn_id != turn.pk:
        return found.outcome
    _date(found.observation, proposal.said_at)
    if standing.newer is not None:
        newer = Observation.objects.get(pk=standing.newer.node_id)
        ended = standing.newer.said_at or timezone.now()
        close_superseded(found.observation, newer, ended)
        return OUTDATED
    return found.outcome


def _learned(proposal: Proposal, standing: Standing) -> Learned:
    return Learned(
        observation_type=proposal.type,
        text=proposal.text,
        evidence=tuple(
            Quoted(node_id=source.node_id, key=source.key, quote=source.quote)
            for source in proposal.sources
        ),
        # What is outdated closes nothing.
        subject="" if standing.newer else Frame(proposal.text).topic,
        rationale=proposal.rationale,
        who=proposal.who,
        due_at=proposal.due_at,
        status=proposal.status,
        origin=proposal.origin,
        supersedes=standing.replaces.node_id if standing.replaces else None,
    )


def _date(observation: Observation, said_at: datetime | None) -> None:
    """Let it hold from when its source said it, and what it replaced until then."""
    if said_at is None:
        return
    nodes = Node.objects.filter(tenant_id=observation.tenant_id)
    nodes.filter(pk=observation.pk).update(valid_from=said_at)
    older = Observation.objects.filter(superseded_by=observation)
    nodes.filter(pk__in=older.values("node_id"), valid_from__lte=said_at).update(
        valid_to=said_at
    )
