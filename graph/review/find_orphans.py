"""What nothing leads to and nobody says any more: logged, and put before a person."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator, Sequence
from datetime import datetime

from django.utils import timezone

from connections.models import Project
from graph.copying import execute, fetch
from graph.merged import scope_values
from graph.models.node import EXTRACTION, IMPLIED
from graph.review import orphans_sql as sql
from graph.review.flagging import flag
from graph.review.kinds import Flagged, finders
from graph.touched import touched

logger = logging.getLogger(__name__)

KIND = "orphan"
ORIGINS = (EXTRACTION, IMPLIED, "hand", "api", "agent")
NAME_CHARACTERS, LOGGED = 80, 20
# So many that wait are looked at again after a run, the newest.
WAITING_MOST = 5_000


@finders.register(KIND)
def orphans(project: Project, now: datetime) -> Iterator[Flagged]:
    """Yield each node of `project` without a live edge and without live evidence."""
    yield from _orphans(project, now, None)


def queue_orphans(project: Project, nodes: Sequence[int] | None = None) -> int:
    """Log and queue the orphans of `project`, or those among `nodes` after a delete, a
    removed edge or a merge; return how many there are. Of `nodes` those that are no
    orphans any more leave the queue."""
    now = timezone.now()
    found = list(_orphans(project, now, nodes))
    if found:
        named = ", ".join(each.subject for each in found[:LOGGED])
        logger.info("%s has %d orphans: %s", project, len(found), named)
    flag(project, KIND, found, now=now, complete=nodes is None)
    if nodes is not None:
        values = {**scope_values(project), "nodes": list(nodes)}
        there = {"found": [each.node_id for each in found]}
        execute(sql.WITHDRAW_OTHERS, values | there)
    return len(found)


def queue_new_orphans(project: Project) -> None:
    """Log and queue what a run left without edges and evidence: of what it touched, and
    of what waits as an orphan already; the whole project is for the nightly scan.

    After a run that broke off nobody knows what was touched: all of it is looked at.
    """
    nodes = touched()
    if nodes is not None:
        values = {**scope_values(project), "most": WAITING_MOST}
        nodes |= {row[0] for row in fetch(sql.WAITING, values)}
    if nodes is None or nodes:
        queue_orphans(project, None if nodes is None else sorted(nodes))


def _orphans(
    project: Project, now: datetime, nodes: Sequence[int] | None
) -> Iterator[Flagged]:
    values = {
        **scope_values(project),
        "origins": list(ORIGINS),
        "now": now,
        "nodes": None if nodes is None else list(nodes),
    }
    for node, key, kind, title, content, origin, audience, gone in fetch(
        sql.ORPHANS, values
    ):
        name = (title or content or key)[:NAME_CHARACTERS]
        said = f"its {gone} records are gone" if gone else "no record says it"
        digest = hashlib.sha256(f"{kind}\n{origin}\n{gone}".encode()).hexdigest()
        yield Flagged(
            subject=f"node:{key}",
            fingerprint=digest,
            why=f"Nothing leads to the {kind} “{name}” any more, and {said}.",
            audience_id=audience,
            node_id=node,
        )
