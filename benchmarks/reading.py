"""`python -m benchmarks.reading ID HOW`: read one database's rows; print what it cost.

A process of its own, for the most memory that a process had is never given back.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import django

from benchmarks.report import Unavailable


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
    forget_peak()
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


def peak_bytes() -> int:
    """Return the high-water mark of resident memory; Linux tells it."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise Unavailable("memory is measured on Linux only.")


def forget_peak() -> None:
    """Begin the high-water mark anew, with what there is now."""
    Path("/proc/self/clear_refs").write_text("5")


def _peak() -> float:
    """Return the most memory that this program had, in MB.

    Not `ru_maxrss`: that begins with what the process had that started this one.
    """
    return peak_bytes() / 2**20


if __name__ == "__main__":
    main()
