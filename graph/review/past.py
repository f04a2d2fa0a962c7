"""What was decided of what is gone for good: who decided what, when, of which kind.

The item stays without what it was about: a keyed digest stands for its subject, so
that one who knows the key can find it, and nobody can read it there.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings

from connections import keyed
from connections.models import Project
from graph.copying import execute, fetch
from graph.models import ReviewItem
from graph.review import purging_sql

GONE, PURPOSE = "gone:", "fabric review history"


def gone_subjects(project: Project, subject: str) -> list[str]:
    """Return how subjects begin that stand for `subject` once it is gone: by the
    newest key, then older ones."""
    return [
        f"{GONE}{digest}"
        for digest in keyed.digests(PURPOSE, f"{project.pk}|{subject}")
    ]


def keep_history(project: Project, nodes: Sequence[int], now: datetime) -> int:
    """Let the decided items about `nodes` outlive them; return how many.

    Call it in the transaction that deletes the nodes, before it does.
    """
    scope = {"tenant": project.tenant_id, "project": project.pk}
    rows = fetch(purging_sql.DECIDED_ITEMS, scope | {"nodes": list(nodes)})
    if not rows:
        return 0
    items = [item for item, _ in rows]
    # Of a key that came back and went again there are several.
    subjects = [f"{gone_subjects(project, said)[0]}:{item}" for item, said in rows]
    values = scope | {"items": items, "subjects": subjects, "now": now}
    execute(purging_sql.FORGET_REASONS, values)
    execute(purging_sql.CLOSE_ITEMS, values)
    return len(items)


def forget_history(now: datetime) -> int:
    """Delete what was decided of things that are gone for longer than the audit keeps
    its details (FABRIC_AUDIT_DAYS; 0 keeps all); return how many items."""
    days = settings.FABRIC["AUDIT_DAYS"]
    if not days:
        return 0
    past = ReviewItem.objects.filter(
        node=None, subject__startswith=GONE, changed_at__lt=now - timedelta(days=days)
    )
    return past.delete()[0]
