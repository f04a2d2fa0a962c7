"""How long the audit keeps the text of what was done; the chain stays for good."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection, transaction

from connections import audit_sql
from connections.models import Tenant, record_audit

BATCH = 5000


def erase_due(now: datetime, days: int | None = None) -> int:
    """Erase details older than `days` (FABRIC_AUDIT_DAYS; 0 keeps all); return how many.

    Only of rows that are sealed. Each tenant's chain says how many went, and of when.
    """
    days = settings.FABRIC["AUDIT_DAYS"] if days is None else days
    if not days:
        return 0
    before, erased = now - timedelta(days=days), 0
    while done := _erase(before):
        erased += done
        if done < BATCH:
            break
    return erased


def _erase(before: datetime) -> int:
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(audit_sql.ERASE, {"before": before, "limit": BATCH})
            gone: list[tuple[int | None, int]] = cursor.fetchall()
        tenants = Tenant.objects.in_bulk([tenant for tenant, _ in gone if tenant])
        for tenant, number in gone:
            record_audit(
                "audit.erased",
                target=f"details before {before:%Y-%m-%d}",
                tenant=tenants.get(tenant) if tenant else None,
                rows=number,
            )
    return sum(number for _, number in gone)
