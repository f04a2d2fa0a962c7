"""Work in the background: the audit's chain, databases' schemas and lost runs."""

from __future__ import annotations

import logging

from celery import shared_task
from django.utils import timezone

from connections.audit import seal_all
from connections.audit_checking import verify
from connections.audit_retention import erase_due
from connections.databases.base import DatabaseError
from connections.databases.discovery import follow, refresh
from connections.databases.runs import end_lost
from connections.models import Database

# What time did not suffice for is sampled by runs that follow, so many at most.
RUNS_MOST = 20
HOUR = 3600
log = logging.getLogger(__name__)


@shared_task(ignore_result=True, expires=60)
def seal_audit() -> None:
    """Seal what was audited since the last time."""
    seal_all()


@shared_task(ignore_result=True, expires=HOUR, time_limit=HOUR)
def verify_audit() -> None:
    """Compute every chain anew; what does not fit is logged, and shown in the admin."""
    for fault in verify().faults:
        log.error("The audit does not fit: %s", fault)


@shared_task(ignore_result=True, expires=HOUR, time_limit=HOUR)
def erase_audit_details() -> None:
    """Erase what was said of acts longer ago than FABRIC_AUDIT_DAYS."""
    erase_due(timezone.now())


@shared_task(ignore_result=True, expires=60)
def end_lost_runs() -> None:
    """End the rows of runs whose process died."""
    end_lost()


@shared_task(ignore_result=True, expires=HOUR, time_limit=HOUR)
def discover_database(database_id: str, run: int = 1) -> None:
    """Read a database's schema anew; its row says what went wrong, if anything did.

    While tables wait for their values to be sampled, another run goes on.
    """
    database = (
        Database.objects.select_related("project__tenant")
        .filter(pk=database_id, enabled=True)
        .first()
    )
    if database is None:
        return
    try:
        found = refresh(database)
    except DatabaseError:
        # Trying again at once would change nothing; the next day's run does.
        return
    if found.waiting and run < RUNS_MOST:
        discover_database.delay(database_id, run + 1)


@shared_task(ignore_result=True, expires=HOUR, time_limit=HOUR)
def follow_database(database_id: str) -> None:
    """Bring search up to date with a schema that was discovered elsewhere."""
    database = Database.objects.select_related("project__tenant").filter(pk=database_id)
    for found in database:
        follow(found)


@shared_task(ignore_result=True, expires=HOUR)
def discover_databases() -> None:
    """Read the schema of every enabled database anew, a task each."""
    enabled = Database.objects.filter(enabled=True).order_by("pk")
    for database_id in enabled.values_list("pk", flat=True):
        discover_database.delay(str(database_id))
