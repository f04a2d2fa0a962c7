"""What every batch of a run shares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from connections.models import Source, SyncRun
from graph.edges import GraphScope

Embed: TypeAlias = Callable[[Sequence[str]], list[str | None]]


@dataclass(frozen=True, slots=True)
class RunContext:
    """`embed` gives vectors, as PostgreSQL reads them, where rows get theirs at once."""

    scope: GraphScope
    source: Source
    run: SyncRun
    languages: frozenset[str]
    model_id: int
    embed: Embed | None = None
