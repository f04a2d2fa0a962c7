"""After how many days a project looks at a type again: set and reset by its admins."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from connections.models import Project, User, record_audit
from connections.records import node_types
from connections.refusals import Refused
from connections.roles import Act, must
from graph.models import StaleThreshold
from graph.staleness import DEFAULT, published, threshold_for

MOST_DAYS = 36_500


class ThresholdRefused(Refused):
    """A threshold that cannot be set; the message says what would be right."""

    code = "unusable_threshold"


@dataclass(frozen=True, slots=True)
class Threshold:
    """The days a project allows a type, beside the published ones; None: never."""

    node_type: str
    days: int | None
    published: int | None
    is_own: bool
    changed_by: str = ""
    changed_at: datetime | None = None

    @property
    def type_name(self) -> str:
        return self.node_type.replace("_", " ")


def thresholds_listed(project: Project) -> list[Threshold]:
    """Return the thresholds of every type, `default` first, in one statement."""
    rows = StaleThreshold.objects.filter(
        tenant_id=project.tenant_id, project_id=project.pk
    ).select_related("changed_by")
    own = {row.node_type: row for row in rows}
    known = published()
    days = known | {name: row.days for name, row in own.items()}
    return [
        _listed(name, own.get(name), threshold_for(days, name), known)
        for name in (DEFAULT, *sorted((set(node_types) | set(own)) - {DEFAULT}))
    ]


def _listed(
    name: str,
    row: StaleThreshold | None,
    days: int | None,
    known: dict[str, int | None],
) -> Threshold:
    by = row.changed_by if row else None
    return Threshold(
        node_type=name,
        days=days,
        published=threshold_for(known, name),
        is_own=row is not None,
        changed_by=str(by) if by else "",
        changed_at=row.changed_at if row else None,
    )


def set_threshold(
    project: Project, node_type: str, days: int | None, *, by: User
) -> bool:
    """Let a type be stale after `days` in a project, never with None; return whether
    that is new. Audited; `by` must be an admin of the project."""
    must(by, Act.MANAGE_PROJECT, project.pk)
    _check(node_type, days)
    with transaction.atomic():
        row, is_new = StaleThreshold.objects.select_for_update().get_or_create(
            tenant_id=project.tenant_id,
            project=project,
            node_type=node_type,
            defaults={"days": days, "changed_by": by},
        )
        before = None if is_new else row.days
        if not is_new and before == days:
            return False
        if not is_new:
            row.days, row.changed_by = days, by
            row.save(update_fields=("days", "changed_by", "changed_at"))
        record_audit(
            "threshold.set",
            target=node_type,
            project=project,
            actor=by,
            days=days,
            before=threshold_for(published(), node_type) if is_new else before,
        )
    return True


def reset_threshold(project: Project, node_type: str, *, by: User) -> bool:
    """Go back to the published threshold of a type; return whether there was another.
    Audited; `by` must be an admin of the project."""
    must(by, Act.MANAGE_PROJECT, project.pk)
    with transaction.atomic():
        row = (
            StaleThreshold.objects.select_for_update()
            .filter(
                tenant_id=project.tenant_id, project_id=project.pk, node_type=node_type
            )
            .first()
        )
        if row is None:
            _check(node_type, None)
            return False
        record_audit(
            "threshold.reset",
            target=node_type,
            project=project,
            actor=by,
            days=threshold_for(published(), node_type),
            before=row.days,
        )
        row.delete()
    return True


def _check(node_type: str, days: int | None) -> None:
    if node_type != DEFAULT and node_type not in node_types:
        known = ", ".join([DEFAULT, *sorted(node_types)])
        raise ThresholdRefused(
            f"There is no node type {node_type!r}; there are: {known}."
        )
    if days is not None and not 1 <= days <= MOST_DAYS:
        raise ThresholdRefused(
            f"{days} is no number of days from 1 to {MOST_DAYS:,}; leave it empty for "
            "never."
        )
