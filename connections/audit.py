"""The audit's hash chain: rows are sealed in batches, in order, a chain a tenant."""

from __future__ import annotations

import logging
from typing import Any

from django.db import connection, transaction
from django.db.models import Q
from django.utils import timezone

from connections import audit_sql
from connections.audit_heads import sign, wrong_with
from connections.audit_rows import GENESIS, seal_of, sealable
from connections.models import Audit, AuditHead

__all__ = ["GENESIS", "seal_all", "seal_of"]

LOCK = 0x6175_6474  # "audt"
BATCH = 5000
log = logging.getLogger(__name__)


def seal_all() -> int:
    """Seal every waiting row; return how many.

    A chain whose end is not what we signed gets no further rows, which then wait:
    `verify` says what is wrong with it.
    """
    with connection.cursor() as cursor:
        cursor.execute(audit_sql.WAITING_CHAINS)
        tenants = [row[0] for row in cursor.fetchall()]
    sealed = 0
    for tenant in tenants:
        while done := _seal(tenant):
            sealed += done
            if done < BATCH:
                break
    return sealed


def _seal(tenant_id: int | None) -> int:
    """Seal the next rows of a chain; what dies in between leaves none of them."""
    chain = tenant_id or 0
    with transaction.atomic(), connection.cursor() as cursor:
        # The chain is written by one process at a time; no request waits for it.
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [LOCK, chain])
        head = _head(chain, tenant_id)
        if head is None:
            return 0
        cursor.execute(audit_sql.WAITING, {"tenant": tenant_id, "limit": BATCH})
        rows = cursor.fetchall()
        if not rows:
            return 0
        ids, positions, seals = [], [], []
        position, seal = head.position, head.seal
        for values in rows:
            row = sealable(values)
            position, seal = position + 1, seal_of(seal, row)
            ids.append(row.id)
            positions.append(position)
            seals.append(seal)
        given: dict[str, Any] = {"ids": ids, "positions": positions, "seals": seals}
        cursor.execute(audit_sql.SEAL, given)
        _move(chain, position, seal)
    return len(rows)


def _head(chain: int, tenant_id: int | None) -> AuditHead | None:
    """Return where a chain ends, its beginning for a new one; None: it is not ours."""
    head = AuditHead.objects.filter(chain=chain).first()
    if head is not None:
        wrong = wrong_with(head)
    elif Audit.objects.filter(chained_to(tenant_id), position__isnull=False).exists():
        wrong = "its end is missing"
    else:
        return AuditHead(chain=chain, position=0, seal=GENESIS)
    if wrong:
        log.error("The audit's chain %s is not gone on with: %s.", chain, wrong)
        return None
    return head


def _move(chain: int, position: int, seal: str) -> None:
    AuditHead.objects.update_or_create(
        chain=chain,
        defaults={
            "position": position,
            "seal": seal,
            "signature": sign(chain, position, seal),
            "sealed_at": timezone.now(),
        },
    )


def chained_to(tenant_id: int | None) -> Q:
    """Return the condition for rows of one chain: a tenant's, or those of none."""
    return Q(tenant_id__isnull=True) if tenant_id is None else Q(tenant_id=tenant_id)
