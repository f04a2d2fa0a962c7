"""`python -m benchmarks.reading ID HOW`: read one database's rows; print what it cost.

A process of its own, for the most memory that a process had is never given back.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time

import django


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "fabric_site.settings")
    django.setup()
    from django.db import connections

    for alias in connections:
        connections[alias].settings_dict["NAME"] = os.environ["BENCH_DATABASE"]
    identity, how = sys.argv[1:]
    sys.stdout.write(json.dumps(_cost(identity, how)) + "\n")


def _cost(identity: str, how: str) -> dict[str, float]:
    # After django.setup(): they hold models.
    from benchmarks.databases import COLUMNS, ROWS
    from connections.databases.base import Guarded
    from connections.databases.connecting import open_connection
    from connections.databases.runner import run
    from connections.models import Database

    database = Database.objects.get(pk=identity)
    # The drivers are loaded, and a first connection is made, before it is measured.
    open_connection(database).close()
    sql = COLUMNS[database.engine]
    before, started = _peak(), time.perf_counter()
    if how == "runner":
        statement = Guarded(sql=sql, original=sql, limit=ROWS)
        rows = run(database, statement, user=None).rows
    else:
        opened = open_connection(database)
        rows = opened.read(sql)
        opened.close()
    seconds = time.perf_counter() - started
    return {"rows": len(rows), "seconds": seconds, "megabytes": _peak() - before}


def _peak() -> float:
    """Return the most memory that this process had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
