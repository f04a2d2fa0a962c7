"""The clock of Fabric's own database: one for all its processes."""

from __future__ import annotations

from datetime import datetime

from django.db import connection
from django.db.models import DateTimeField, Func


class Clock(Func):
    """The time in a query, which goes on within a transaction."""

    function = "clock_timestamp"
    template = "%(function)s()"
    output_field = DateTimeField()


def now() -> datetime:
    """Return the time by the clock of Fabric's own database."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        moment: datetime = cursor.fetchone()[0]
    return moment
