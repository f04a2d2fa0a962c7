"""The scan: what should be looked at, put into the queue. It never removes anything."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from connections.models import Project
from graph.copying import execute
from graph.review import flagging_sql
from graph.review.flagging import Flags, flag
from graph.review.kinds import finders


def scan(
    project: Project, *, now: datetime, kinds: Iterable[str] | None = None
) -> dict[str, Flags]:
    """Run the finders of `kinds`, all by default, and return what became of each kind.

    Snoozed items whose day has come are open before. Raises `UnknownName` for a kind
    that nothing finds.
    """
    wanted = sorted(finders) if kinds is None else list(dict.fromkeys(kinds))
    chosen = {kind: finders[kind] for kind in wanted}
    wake(project, now)
    return {
        kind: flag(project, kind, find(project, now), now=now)
        for kind, find in chosen.items()
    }


def wake(project: Project, now: datetime) -> int:
    """Open the snoozed items of a project that are due; return how many."""
    return execute(flagging_sql.WAKE, [project.tenant_id, project.pk, now])
