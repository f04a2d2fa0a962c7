"""The circuit breaker: a database that cannot be reached is left alone for a while."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q

from connections.databases.clock import Clock
from connections.databases.failures import Paused
from connections.models import Database

FAILURES = 3
FIRST_PAUSE = timedelta(seconds=30)
LONGEST_PAUSE = timedelta(minutes=15)
# A probe that never comes back, for its process died, blocks the next one so long.
PROBE_MARGIN = timedelta(seconds=5)


def admit(database: Database, now: datetime) -> None:
    """Let a run through, or raise `Paused`; after a pause one run alone, as a probe.

    The row of `database` is locked by the caller's transaction.
    """
    until = database.paused_until
    if until is None:
        return
    if until > now:
        seconds = max(1, round((until - now).total_seconds()))
        raise Paused(
            f"{database} could not be reached {database.failures} times in a row and "
            f"is left alone for another {seconds} s. Check it, or test its connection."
        )
    probe_ends = now + timedelta(seconds=database.seconds_most) + PROBE_MARGIN
    Database.objects.filter(pk=database.pk).update(paused_until=probe_ends)


def reached(database: Database) -> None:
    """Forget failures; no write where there are none."""
    failed = Q(failures__gt=0) | Q(paused_until__isnull=False)
    Database.objects.filter(failed, pk=database.pk).update(
        failures=0, paused_until=None
    )


def missed(database: Database) -> None:
    """Count a failure to reach it; from the third in a row on, pause, ever longer."""
    with transaction.atomic():
        row = Database.objects.select_for_update(no_key=True).filter(pk=database.pk)
        failures = (row.values_list("failures", flat=True).first() or 0) + 1
        pause = pause_after(failures) if failures >= FAILURES else None
        # A probe's own mark goes too: what holds is this pause, or none.
        row.update(failures=failures, paused_until=Clock() + pause if pause else None)


def pause_after(failures: int) -> timedelta:
    """Return the pause after so many failures in a row: it doubles up to a bound."""
    # Beyond that many doublings it is the longest anyway.
    doublings = min(max(0, failures - FAILURES), 16)
    return min(LONGEST_PAUSE, FIRST_PAUSE * 2**doublings)
