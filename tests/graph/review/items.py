"""What tests of the queue begin with."""

from __future__ import annotations

from graph.models import ReviewDecision, ReviewItem
from graph.review.kinds import Flagged

COUNTERS = (
    "SELECT n_tup_ins, n_tup_upd, n_tup_del FROM pg_stat_user_tables WHERE relname = %s"
)


def flagged(node, **fields):
    """Return `node` as a finder would hand it over."""
    return Flagged(
        **{
            "subject": f"node:{node.key}",
            "fingerprint": "a" * 64,
            "why": "It is old.",
            "audience_id": node.audience_id,
            "node_id": node.pk,
            **fields,
        }
    )


def decide(item, verb="keep", **fields):
    """Decide an item, as far as the scan can tell."""
    decision = ReviewDecision.objects.create(
        tenant_id=item.tenant_id,
        project_id=item.project_id,
        item=item,
        verb=verb,
        fingerprint=item.fingerprint,
        **fields,
    )
    item.state = "decided"
    item.version += 1
    item.save()
    return decision


def items(project, kind="stale"):
    return list(ReviewItem.objects.of(project).filter(kind=kind).order_by("subject"))


def subjects(found):
    return [one.subject for one in found]
