"""The audit as JSON lines: each row as it was sealed, with its detail while it is kept."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from connections import audit_sql
from connections.audit_rows import FIELDS, sealable
from connections.models import Project, Tenant, User, record_audit
from connections.roles import Act, projects_where, tenants_where

BATCH = 2000
FIRST, LAST = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Rows to export: of tenants whole, of projects, and where said the installation's
    own; from `since` to before `until`."""

    tenants: Sequence[int] = ()
    projects: Sequence[int] = ()
    with_own: bool = False
    since: datetime = FIRST
    until: datetime = LAST


def readable_by(user: User, *, since: datetime, until: datetime) -> Wanted:
    """Return all rows of a time that `user` may read."""
    projects = projects_where(user, Act.READ_AUDIT)
    tenants = tenants_where(user, Act.READ_AUDIT)
    return Wanted(
        tenants=list(tenants.values_list("pk", flat=True)),
        projects=list(projects.values_list("pk", flat=True)),
        with_own=user.is_superuser,
        since=since,
        until=until,
    )


def exported(
    wanted: Wanted, *, by: User | None, token_id: UUID | None = None
) -> Iterator[str]:
    """Yield a JSON object a line, the oldest row first; that it is done is audited.

    The export itself is the last row of its time, and may be in it.
    """
    _audit(wanted, by, token_id)
    after = 0
    while rows := _read(wanted, after):
        for values in rows:
            yield _line(values)
        after = rows[-1][0]
        if len(rows) < BATCH:
            return


def _audit(wanted: Wanted, by: User | None, token_id: UUID | None) -> None:
    """Note the export in the chain of every tenant whose rows it holds."""
    of_projects = Project.objects.filter(pk__in=wanted.projects).values("tenant")
    tenants = {
        *Tenant.objects.filter(pk__in=wanted.tenants),
        *Tenant.objects.filter(pk__in=of_projects),
    }
    listed: list[Tenant | None] = [*sorted(tenants, key=lambda tenant: tenant.pk)]
    with transaction.atomic():
        for tenant in [*listed, *([None] if wanted.with_own else [])]:
            record_audit(
                "audit.exported",
                target="JSON lines",
                tenant=tenant,
                actor=by,
                token_id=token_id,
                since=wanted.since.isoformat(),
                until=wanted.until.isoformat(),
            )


def _read(wanted: Wanted, after: int) -> list[tuple[Any, ...]]:
    which = "(a.tenant_id = ANY(%(tenants)s) OR a.project_id = ANY(%(projects)s)"
    which += " OR a.tenant_id IS NULL)" if wanted.with_own else ")"
    given: dict[str, Any] = {
        "tenants": list(wanted.tenants),
        "projects": list(wanted.projects),
        "after": after,
        "since": wanted.since,
        "until": wanted.until,
        "limit": BATCH,
    }
    with connection.cursor() as cursor:
        cursor.execute(audit_sql.EXPORTED.format(which=which), given)
        return cursor.fetchall()


def _line(values: tuple[Any, ...]) -> str:
    row = sealable(values)
    position, seal, salt, detail = values[FIELDS:]
    said = {
        **row._asdict(),
        "at": row.at.astimezone(UTC).isoformat(),
        "token_id": str(row.token_id) if row.token_id else None,
        "position": position,
        "seal": seal,
        "salt": salt,
        "detail": json.loads(detail) if detail is not None else None,
    }
    return json.dumps(said, ensure_ascii=False, sort_keys=True) + "\n"
