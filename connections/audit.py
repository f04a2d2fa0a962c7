"""The audit's hash chain: rows are sealed in batches, in order, a chain a tenant."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from django.db import connection, transaction
from django.db.models import Q

from connections.models import Audit

LOCK = 0x6175_6474  # "audt"
BATCH = 5000
GENESIS = "0" * 64


def seal_of(previous: str, row: Audit) -> str:
    """Return the seal of `row` after the seal `previous`, as 64 hex digits.

    The detail enters by its hash only, so that erasing it leaves the chain whole.
    """
    said = [
        previous,
        row.tenant_id,
        row.project_id,
        row.pk,
        row.at.isoformat(),
        row.actor_id,
        str(row.token_id or ""),
        row.verb,
        row.target,
        row.detail_sha256,
    ]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()


def seal_all() -> int:
    """Seal every waiting row; return how many."""
    tenants = list(
        Audit.objects.filter(position=None)
        .order_by("tenant_id")
        .values_list("tenant_id", flat=True)
        .distinct()
    )
    return sum(_seal(tenant) for tenant in tenants)


def _seal(tenant_id: int | None) -> int:
    with transaction.atomic():
        with connection.cursor() as cursor:
            # The chain is written by one process at a time; no request waits for it.
            cursor.execute(
                "SELECT pg_advisory_xact_lock(%s, %s)", [LOCK, tenant_id or 0]
            )
        of_tenant = Q(tenant_id=tenant_id) if tenant_id else Q(tenant_id__isnull=True)
        chain = Audit.objects.filter(of_tenant)
        last = chain.exclude(position=None).order_by("-position").first()
        waiting = list(chain.filter(position=None).order_by("pk")[:BATCH])
        _chain(last, waiting)
        Audit.objects.bulk_update(waiting, ("position", "seal"), batch_size=500)
    return len(waiting)


def _chain(last: Audit | None, waiting: Sequence[Audit]) -> None:
    position = last.position if last and last.position is not None else 0
    seal = last.seal if last else GENESIS
    for row in waiting:
        position += 1
        seal = seal_of(seal, row)
        row.position, row.seal = position, seal
