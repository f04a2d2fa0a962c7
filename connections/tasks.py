"""Work in the background: the audit's chain."""

from __future__ import annotations

from celery import shared_task

from connections.audit import seal_all


@shared_task(ignore_result=True, expires=60)
def seal_audit() -> None:
    """Seal what was audited since the last time."""
    seal_all()
