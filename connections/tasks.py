"""Work in the background: the audit's chain, runs on databases that lost theirs."""

from __future__ import annotations

from celery import shared_task

from connections.audit import seal_all
from connections.databases.runs import end_lost


@shared_task(ignore_result=True, expires=60)
def seal_audit() -> None:
    """Seal what was audited since the last time."""
    seal_all()


@shared_task(ignore_result=True, expires=60)
def end_lost_runs() -> None:
    """End the rows of runs whose process died."""
    end_lost()
