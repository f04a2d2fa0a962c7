"""What people tell memory themselves; it is screened as everything is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from connections.models import Project, User
from memory.learned import HAND, Learned, MemoryRefused, Quoted, Remembered
from memory.learning.screening import screen
from memory.models import Observation
from memory.observations import correct, current, remember, share


class HoldsSecret(MemoryRefused):
    """A text that must not be remembered."""

    code = "holds_secret"


def remember_by_hand(
    project: Project,
    user: User,
    *,
    type: str,
    text: str,
    subject: str = "",
    why: str = "",
    who: str = "",
    due_at: datetime | None = None,
    shared: bool = False,
    evidence: Iterable[Mapping[str, Any]] = (),
) -> Remembered:
    """Remember what `user` vouches for, and share it with the project if they wish.

    Raises `HoldsSecret`, or `MemoryRefused` where memory cannot keep it.
    """
    refuse_secrets(text, subject, why, who)
    is_commitment = type == Observation.Type.COMMITMENT
    learned = Learned(
        observation_type=type,
        text=text,
        evidence=tuple(
            Quoted(node_id=given["node"], key="", quote=given["quote"])
            for given in evidence
        ),
        subject=subject,
        rationale=why,
        who=who,
        due_at=due_at,
        status=Observation.Status.OPEN if is_commitment else Observation.Status.NONE,
        origin=HAND,
    )
    with transaction.atomic():
        if shared and _is_shared(project, user, learned):
            return remember(project, None, learned)
        found = remember(project, user, learned)
        if shared and not found.observation.is_shared:
            share(found.observation, by=user)
    return found


def _is_shared(project: Project, user: User, learned: Learned) -> bool:
    """Return whether the project's memory says it already, for `user` to see."""
    said = current(project, user).filter(
        scope__user=None,
        observation_type=learned.observation_type,
        words_hash=learned.words_hash,
    )
    return said.exists()


def correct_by_hand(observation: Observation, text: str, *, by: User) -> Observation:
    """Give it the words of `by`; raises as `remember_by_hand` does."""
    refuse_secrets(text)
    return correct(observation, text, by=by)


def refuse_secrets(*texts: str) -> None:
    """Raise `HoldsSecret` where one of `texts` has a secret in it."""
    for text in texts:
        if found := screen(text):
            raise HoldsSecret(
                f"This holds {found.value}, which memory does not keep: take it out."
            )
