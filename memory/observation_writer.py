"""An observation as it is written: its node, its row, its proofs, who may see it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from connections.models import Project, User
from graph.audiences import Audiences
from graph.copying import execute, fetch
from graph.models import Node
from graph.models.node import MEMORY
from graph.written import (
    OWN_ID,
    Supporting,
    WrittenEdge,
    WrittenNode,
    close_nodes,
    show_edges,
    supporting_nodes,
    write_edge,
    write_node,
    write_proof,
)
from memory import observation_sql
from memory.importance import Strength
from memory.learned import HAND, Learned, Quoted, Unsupported, plain, says_the_same
from memory.models import Conversation, MemoryScope, Observation, Turn
from retrieval.merge import normalised_tokens
from retrieval.words import words_in

PART = "memory:"
SUPPORTED_BY = "supported_by"
# These do not leave memory by fading.
PROTECTED = frozenset({Observation.Type.DECISION, Observation.Type.COMMITMENT})
CANDIDATES = 200
NEAR_SHARE = 0.85


@dataclass(frozen=True, slots=True)
class Cited:
    """A piece of evidence that is there, and says so."""

    support: Supporting
    quote: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where, whose and when something is remembered."""

    project: Project
    user: User | None
    scope: MemoryScope
    audiences: Audiences
    now: datetime
    conversation: Conversation | None = None
    turn: Turn | None = None


def evidence_there(
    project: Project, user: User | None, learned: Learned
) -> tuple[Cited, ...]:
    """Return what of the evidence `user` may see and says so; raise `Unsupported`
    where nothing does and it was not written by hand."""
    nodes = Node.objects.all() if user is None else Node.objects.visible_to(user)
    wanted = [quoted.node_id for quoted in learned.evidence]
    seen = nodes.of(project).current().filter(pk__in=wanted)
    there = supporting_nodes(project, list(seen.values_list("pk", flat=True)))
    cited = tuple(
        Cited(there[quoted.node_id], quoted.quote)
        for quoted in _once(learned.evidence)
        if quoted.node_id in there and there[quoted.node_id].says(quoted.quote)
    )
    if not cited and learned.origin != HAND:
        raise Unsupported(
            f"Nothing supports {learned.text[:80]!r}: none of the "
            f"{len(learned.evidence)} nodes cited is there and says what is quoted. "
            "Cite what the answer cited, or remember it by hand."
        )
    return cited


def _once(evidence: Iterable[Quoted]) -> list[Quoted]:
    return list({quoted.node_id: quoted for quoted in evidence}.values())


def write_observation(
    place: Place, learned: Learned, cited: Sequence[Cited]
) -> Observation:
    """Write a new observation with all that belongs to it."""
    ids = [each.support.audience_id for each in cited]
    evidence = place.audiences.all_of(ids) if ids else None
    audience = audience_of(place.audiences, place.user, evidence)
    node_id = write_node(place.project, _node(place, learned, audience), now=place.now)
    observation = Observation(
        node_id=node_id,
        tenant_id=place.project.tenant_id,
        project=place.project,
        scope=place.scope,
        observation_type=learned.observation_type,
        conversation=place.conversation,
        turn=place.turn,
        words_hash=learned.words_hash,
        subject=plain(learned.subject),
        rationale=learned.rationale,
        who=learned.who,
        due_at=learned.due_at,
        status=learned.status or _first_status(learned),
        is_shared=place.user is None,
        owner=place.user,
        evidence_audience_id=evidence,
        origin=learned.origin,
    )
    observation.counted = Strength(
        counted_at=place.scope.ticks,
        is_protected=learned.observation_type in PROTECTED,
    )
    observation.save(force_insert=True)
    write_support(place, observation, cited, audience)
    return observation


def _first_status(learned: Learned) -> str:
    if learned.observation_type == Observation.Type.COMMITMENT:
        return str(Observation.Status.OPEN.value)
    return ""


def _node(place: Place, learned: Learned, audience: int) -> WrittenNode:
    return WrittenNode(
        key=f"memory:{OWN_ID}",
        node_type=learned.observation_type,
        origin=MEMORY,
        source_kind="memory",
        audience_id=audience,
        content=learned.text.strip(),
        context=context_of(learned.observation_type, learned.who, place.now),
        metadata={
            "kind": HAND if learned.origin == HAND else "conversation",
            **({"topic": learned.subject} if learned.subject else {}),
        },
        occurred_at=place.now,
    )


def context_of(observation_type: str, who: str, moment: datetime) -> str:
    """Return what helps to find an observation besides its words."""
    said = [observation_type.capitalize(), f"remembered {moment:%-d %B %Y}"]
    return " \N{MIDDLE DOT} ".join([*said, *([who] if who else [])])


def write_support(
    place: Place, observation: Observation, cited: Sequence[Cited], audience: int
) -> None:
    """Tie an observation to what it rests on, by proofs and by edges."""
    for each in cited:
        support = each.support
        edge = write_edge(
            place.project,
            WrittenEdge(
                source_id=observation.node_id,
                relation=SUPPORTED_BY,
                target_id=support.node_id,
                origin=MEMORY,
                audience_id=audience,
                occurred_at=place.now,
            ),
            now=place.now,
        )
        for target in ({"node_id": observation.node_id}, {"edge_id": edge}):
            write_proof(
                place.project, support, each.quote, part=PART + support.key, **target
            )


def audience_of(audiences: Audiences, owner: User | None, evidence: int | None) -> int:
    """Return who may see what rests on `evidence`: all of them, or with an owner only
    the owner among them."""
    if owner is None:
        return evidence or audiences.public
    alone = audiences.private_to(owner)
    return audiences.all_of([alone, evidence]) if evidence else alone


def nearly_said(place: Place, learned: Learned) -> Observation | None:
    """Return what the scope holds already in other words that say the same.

    A near-duplicate has one of any `n - ceil(0.85 n) + 1` of the words: the rarest
    of them find it in the index.
    """
    tokens = normalised_tokens(learned.text)
    words = words_in(place.project, learned.text).words
    if not tokens or not words:
        return None
    enough = len(tokens) - math.ceil(NEAR_SHARE * len(tokens)) + 1
    rows = fetch(
        observation_sql.NEARLY_SAID,
        {
            "scope": place.scope.pk,
            "type": learned.observation_type,
            "ticks": place.scope.ticks,
            "words": " | ".join(word.tsquery for word in words[:enough]),
            "most": CANDIDATES,
        },
    )
    same = (node for node, text in rows if says_the_same(learned.text, text))
    found = next(same, None)
    return None if found is None else Observation.objects.get(pk=found)


def close_superseded(
    older: Observation, newer: Observation | None, moment: datetime
) -> None:
    """End what is true no more; it stays, dated, and in no search of today."""
    Observation.objects.filter(pk=older.pk).update(
        superseded_by=newer, leaves_at=None, updated_at=moment
    )
    close_nodes([older.node_id], moment)


def settle_audiences(project: Project, nodes: Sequence[int] | None = None) -> int:
    """Show observations to those who may see all they rest on, as it is now; return
    how many were shown to others before.

    What they rest on never becomes wider: a part of it may be gone.
    """
    audiences = Audiences(project)
    settled: list[int] = []
    values = {
        "tenant": project.tenant_id,
        "project": project.pk,
        "nodes": None if nodes is None else list(nodes),
    }
    owners: dict[int, User] = {}
    for owner_id, shared, evidence, now, cited, ids in fetch(
        observation_sql.AUDIENCES, values
    ):
        narrowest = {each for each in (evidence, *cited) if each}
        wanted = audiences.all_of(narrowest) if narrowest else None
        if owner_id is not None and owner_id not in owners:
            owners[owner_id] = User.objects.get(pk=owner_id)
        if not shared and owner_id is None:
            continue
        audience = audience_of(audiences, None if shared else owners[owner_id], wanted)
        if (wanted, audience) != (evidence, now):
            execute(
                observation_sql.SHOW_OBSERVATIONS,
                {"evidence": wanted, "audience": audience, "nodes": ids},
            )
            settled += ids
    if settled:
        show_edges(project, settled, origin=MEMORY, audiences=audiences)
    return len(settled)
