"""Rows of a database of somebody else's: time and memory of the runner, in a process of
its own, beside the same statement fetched at once by the bare driver."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from django.db import connection

from benchmarks.report import Table
from connections.models import Database, Project
from tests.factories import make_project
from tests.targets import environment, make_database, mariadb_server, postgres_server

ROWS = 50_000
COLUMNS = {
    "postgres": (
        "SELECT g AS id, 'customer number ' || g AS name, g * 1.25 AS total,"  # noqa: S608 # our own
        " timestamp '2026-01-01' + g * interval '1 minute' AS at, md5(g::text) AS digest,"
        " CASE WHEN g % 7 = 0 THEN NULL ELSE 'a remark about this order, one of many' END"
        " AS remark, g % 2 = 0 AS is_open, date '2026-01-01' + g % 365 AS due"
        f" FROM generate_series(1, {ROWS}) g"
    ),
    "mysql": (
        "SELECT seq AS id, CONCAT('customer number ', seq) AS name, seq * 1.25 AS total,"  # noqa: S608 # our own
        " TIMESTAMP '2026-01-01 00:00:00' + INTERVAL seq MINUTE AS at, MD5(seq) AS digest,"
        " CASE WHEN seq % 7 = 0 THEN NULL ELSE 'a remark about this order, one of many'"
        " END AS remark, seq % 2 = 0 AS is_open, DATE '2026-01-01' + INTERVAL seq % 365"
        f" DAY AS due FROM seq_1_to_{ROWS}"
    ),
}


@dataclass(frozen=True, slots=True)
class Cost:
    """What one process needed: rows, seconds, and the most memory above its start."""

    rows: int
    seconds: float
    megabytes: float


def run() -> Sequence[Table]:
    table = Table(
        "engine",
        "how",
        "rows",
        "seconds",
        "memory at most (MB)",
        caption=f"{ROWS:,} rows of 8 columns, each in a process of its own",
    )
    for engine, database in _databases():
        for how in ("runner", "driver, all at once"):
            cost = measure(database, how)
            seconds, memory = f"{cost.seconds:.2f}", f"{cost.megabytes:.0f}"
            table.add(engine, how, f"{cost.rows:,}", seconds, memory)
    return [table]


def measure(database: Database, how: str) -> Cost:
    """Return what reading the rows costs in a new process."""
    done = subprocess.run(  # noqa: S603 # our own program
        [sys.executable, "-m", "benchmarks.reading", str(database.pk), how],
        env={
            **os.environ,
            **environment(),
            "BENCH_DATABASE": str(connection.settings_dict["NAME"]),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return Cost(**json.loads(done.stdout.splitlines()[-1]))


def _databases() -> Iterator[tuple[str, Database]]:
    with ExitStack() as stack:
        for name, start in (
            ("PostgreSQL", postgres_server),
            ("MariaDB", mariadb_server),
        ):
            target = stack.enter_context(start())
            if target.engine == "mysql":
                target.run("GRANT SELECT ON shop.* TO reader@'127.0.0.1'")
            project = Project.objects.filter(slug="databases").first()
            project = project or make_project("bench/databases")
            fields = {"rows_most": 100_000, "seconds_most": 60}
            yield name, make_database(project, target, name=name.lower(), **fields)
