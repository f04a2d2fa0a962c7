"""Killed at any moment and run again, an import ends in the same graph."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import quote

import pytest
from django.db import connections

from connections.models import SyncRun
from graph.integrity import find_gaps
from graph.models import Node
from tests.factories import make_project
from tests.graph.snapshots import differences, snapshot
from tests.graph.test_ingest import make_export, read

CHECKOUT = Path(__file__).resolve().parents[2]
KILLS, DAYS = 3, 30

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])


def address_of(alias: str) -> str:
    s = connections[alias].settings_dict
    login = f"{quote(s['USER'])}:{quote(s['PASSWORD'], safe='')}"
    return f"postgres://{login}@{s['HOST']}:{s['PORT']}/{s['NAME']}"


def start(export: Path, project: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [
            sys.executable,
            "manage.py",
            "ingest",
            "slack",
            str(export),
            "--project",
            project,
            "--source",
            "export",
            "--no-progress",
        ],
        cwd=CHECKOUT,
        stderr=subprocess.PIPE,
        env=os.environ
        | {
            "DATABASE_URL": address_of("default"),
            "FABRIC_OWNER_DATABASE_URL": address_of("owner"),
            "CELERY_BROKER_URL": "memory://",
            "FABRIC_INGEST_BATCH": "10",
        },
    )


def wait_for_run(process: subprocess.Popen[bytes], before: int) -> None:
    """Wait until the process has begun its run; it must not end before."""
    deadline = time.monotonic() + 60
    while SyncRun.objects.count() <= before:
        assert process.poll() is None, process.stderr.read().decode()
        assert time.monotonic() < deadline
        time.sleep(0.005)


@pytest.mark.timeout(150)
def test_killed_at_random_moments_and_run_again_the_graph_is_the_same(tmp_path):
    export = make_export(tmp_path / "export", days=DAYS)
    undisturbed = make_project("acme/undisturbed")
    started = time.monotonic()
    read(undisturbed, "slack", export, name="export")
    took = time.monotonic() - started
    project = make_project("acme/killed")
    moments = random.Random(11)  # noqa: S311
    left: list[int] = []
    for _ in range(KILLS):
        process = start(export, project.path)
        try:
            wait_for_run(process, SyncRun.objects.count())
            time.sleep(moments.uniform(0, 2 * took))
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
        left.append(Node.objects.of(project).count())
    killed = SyncRun.objects.filter(source__project=project)
    assert killed.exclude(state=SyncRun.State.FINISHED).exists(), "none died at work"
    final = start(export, project.path)
    assert final.wait(60) == 0, final.stderr.read().decode()
    assert not killed.filter(state=SyncRun.State.RUNNING).exists()
    assert differences(snapshot(undisturbed), snapshot(project)) == []
    gaps = find_gaps(project)
    assert (gaps.nodes, gaps.edges) == ((), ())
    assert Node.objects.of(project).filter(node_type="message").count() == 4 * DAYS
