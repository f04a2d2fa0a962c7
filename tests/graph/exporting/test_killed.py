"""Killed at any moment: the export before stays whole, an import is all or nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from connections.models import Audience, Project, Source
from graph.exporting.checking import read_manifest, verify
from graph.exporting.export import export_graph
from graph.exporting.folders import recover
from graph.exporting.restore import import_graph
from graph.models import Node
from tests.factories import make_node, make_project
from tests.graph.exporting.test_round_trip import same
from tests.graph.test_ingest_killed import CHECKOUT, address_of

NODES = 100
# Forks for each line of orders a process that runs a command and kills itself once it
# gets there: Django is loaded once.
FORKER = """
import json, os, signal, sys
import django
django.setup()
from django.core.management import call_command
from graph.exporting import export, folders, restore
modules = {"export": export, "folders": folders, "restore": restore}

def run(module, name, after, *command):
    real = getattr(modules[module], name)
    left = [after]

    def dying(*args, **options):
        left[0] -= 1
        if left[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*args, **options)

    setattr(modules[module], name, dying)
    call_command(*command, "--no-progress")

for line in sys.stdin:
    child = os.fork()
    if not child:
        try:
            run(*json.loads(line))
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), flush=True)
"""
Kill = Callable[..., None]

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])


@pytest.fixture
def kill_at() -> Iterator[Kill]:
    """Give what runs a command that dies by SIGKILL at the call after `after` calls."""
    process = subprocess.Popen(
        [sys.executable, "-c", FORKER],
        cwd=CHECKOUT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ
        | {
            "DJANGO_SETTINGS_MODULE": "fabric_site.settings",
            "DATABASE_URL": address_of("default"),
            "FABRIC_OWNER_DATABASE_URL": address_of("owner"),
            "CELERY_BROKER_URL": "memory://",
        },
    )

    def kill(module: str, name: str, after: int, *command: str) -> None:
        process.stdin.write(json.dumps([module, name, after, *command]) + "\n")
        process.stdin.flush()
        assert int(process.stdout.readline()) == -signal.SIGKILL

    with process:
        yield kill
        process.stdin.close()


def filled() -> Project:
    project = make_project()
    audience = Audience.objects.create(
        tenant_id=project.tenant_id, project=project, kind="public"
    )
    Node.objects.bulk_create(
        Node(
            tenant_id=project.tenant_id,
            project=project,
            audience=audience,
            key=f"n{n}",
            node_type="message",
            content=f"word {n}",
        )
        for n in range(NODES)
    )
    return project


def test_a_killed_export_leaves_the_one_before_whole(tmp_path, kill_at):
    project, folder = filled(), tmp_path / "out"
    export_graph(project, folder)
    export_graph(project, tmp_path / "before")
    (folder / ".git").mkdir()
    (folder / ".git/HEAD").write_text("main")
    make_node(project, "new", "later")
    moments = (
        ("export", "part_lines", 12),
        ("export", "write_pages", 0),
        ("folders", "_swap", 0),
    )
    for module, name, after in moments:
        kill_at(
            module, name, after, "export_graph", str(folder), "--project", "acme/main"
        )
        assert (tmp_path / ".out.writing").is_dir()
        verify(read_manifest(folder))
        assert same_but_git(folder, tmp_path / "before") >= NODES
    kill_at(
        "folders", "_settle", 0, "export_graph", str(folder), "--project", "acme/main"
    )
    verify(read_manifest(folder))
    assert "later" in (folder / "data/nodes.jsonl").read_text()
    export_graph(project, folder)
    export_graph(project, tmp_path / "fresh")
    assert (folder / ".git/HEAD").read_text() == "main"
    assert same_but_git(folder, tmp_path / "fresh") > NODES
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["before", "fresh", "out"]


def same_but_git(one: Path, other: Path) -> int:
    git = one / ".git"
    aside = one.parent / ".git-aside"
    is_there = git.is_dir()
    if is_there:
        git.rename(aside)
    try:
        return same(one, other)
    finally:
        if is_there:
            aside.rename(git)


def test_where_folders_cannot_be_exchanged_one_is_put_back(tmp_path, monkeypatch):
    project, folder = filled(), tmp_path / "out"
    export_graph(project, folder)
    monkeypatch.setattr("graph.exporting.folders._exchange", lambda *_: False)
    export_graph(project, folder)
    verify(read_manifest(folder))
    # As a kill between the two renames leaves it.
    folder.rename(tmp_path / ".out.before")
    recover(folder)
    verify(read_manifest(folder))
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_killed_import_leaves_nothing_and_runs_again_to_the_same(tmp_path, kill_at):
    project, folder = filled(), tmp_path / "out"
    export_graph(project, folder)
    copy = make_project("acme/copy")
    command = ("import_graph", str(folder), "--project", "acme/copy")
    for name, after in (("_stage", 10), ("_write", 1), ("record_audit", 0)):
        kill_at("restore", name, after, *command)
        deadline = time.monotonic() + 10
        while Node.objects.filter(project=copy).exists():
            assert time.monotonic() < deadline
        assert not Source.objects.filter(project=copy).exists()
    assert import_graph(copy, folder).lines["nodes"] == NODES
    export_graph(copy, tmp_path / "two")
    assert same(folder, tmp_path / "two") > NODES
