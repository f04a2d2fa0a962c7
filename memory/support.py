"""Whether what was remembered is still said: a step after each run, and by the hour.

A record that is erased takes its proofs with it; one that was read again and no longer
says what was quoted loses them here. An observation with no proof left is closed: its
node ends, it is in no search, and it cannot be restored before something supports it.
What a person wrote by hand stands on their word.
"""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from connections.models import Project
from graph.copying import execute, fetch
from graph.written import close_nodes, one_line
from memory import observation_sql
from memory.observation_writer import settle_audiences


def check_support(project: Project) -> None:
    """Take the proofs away that `project` no longer says, close what has none left,
    and show the rest to those who may see all it rests on."""
    with transaction.atomic():
        unsaid = [
            proof
            for proof, quote, *texts in fetch(
                observation_sql.UNSAID, [project.tenant_id, project.pk]
            )
            if not any(one_line(quote) in one_line(text) for text in texts)
        ]
        if unsaid:
            execute(observation_sql.FORGET_PROOFS, [unsaid])
        close_unsupported(project)
        settle_audiences(project)


def close_unsupported(
    project: Project | None = None, *, now: datetime | None = None
) -> int:
    """Close what nothing supports any more, of one project or of all; return how
    many."""
    moment = now or timezone.now()
    scope = {"project": project.pk if project else None}
    with transaction.atomic():
        execute(observation_sql.END_UNPROVEN_SUPPORT, {**scope, "now": moment})
        nodes = [row[0] for row in fetch(observation_sql.UNSUPPORTED, scope)]
        if nodes:
            execute(observation_sql.DROP_UNSUPPORTED, [moment, nodes])
            close_nodes(nodes, moment)
    return len(nodes)
