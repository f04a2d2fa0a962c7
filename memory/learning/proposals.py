"""What is proposed to be remembered, by rules or by a model."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memory.learning.heard import Source
from memory.models import Observation

MOST_CHARACTERS = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """One thing to remember: its words, and the quotes that say it."""

    type: str
    text: str
    sources: tuple[Source, ...]
    who: str = ""
    due_at: datetime | None = None
    rationale: str = ""
    origin: str = "rules"

    @property
    def said_at(self) -> datetime | None:
        """Return when the latest of its quotes was said."""
        return max((s.said_at for s in self.sources if s.said_at), default=None)

    @property
    def status(self) -> str:
        is_commitment = self.type == Observation.Type.COMMITMENT
        return Observation.Status.OPEN if is_commitment else Observation.Status.NONE
