"""A new installation: the demo company is there, and its questions have answers."""

from __future__ import annotations

import time

import pytest
import yaml
from django.core.management import call_command

from connections.demo import QUESTIONS
from connections.models import Project, SyncRun, User
from graph.integrity import find_gaps
from graph.models import Node
from memory.ask import ask
from retrieval.samples import sample_questions
from retrieval.search import search
from tests.graph.snapshots import writes

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])


def check_questions(demo: Project, admin: User) -> None:
    """Each answer cites at least one of the items that answer its question."""
    asked = yaml.safe_load(QUESTIONS.read_text())
    assert len(asked) == 8
    wrong = {}
    for row in asked:
        answer = ask(demo, row["question"], user=admin, save=False)
        cited = {citation.key for citation in answer.citations}
        if not cited & set(row["answers"]):
            wrong[row["question"]] = cited
    assert wrong == {}


@pytest.mark.timeout(120)
def test_setup_loads_the_demo_company_once_and_its_questions_are_answered(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("FABRIC_VAR", str(tmp_path))
    call_command("setup_site")
    admin = User.objects.get(is_superuser=True)
    said = capsys.readouterr().out
    assert f"Sign in as {admin.email}" in said
    demo = Project.objects.named("demo/main")
    assert Project.objects.named("default/main").memberships.filter(user=admin).exists()
    runs = SyncRun.objects.filter(source__project=demo)
    assert {r.source.kind: (r.state, r.failed) for r in runs} == dict.fromkeys(
        ("slack", "mail", "transcripts", "folder", "database"), ("finished", 0)
    )
    nodes = Node.objects.visible_to(admin).of(demo).current()
    assert nodes.count() > 1000
    gaps = find_gaps(demo)
    assert (gaps.nodes, gaps.edges) == ((), ())
    assert sample_questions(demo, admin)
    assert search(demo, "Redis Streams", user=admin).arms["vector"] > 0

    before, started = writes(), time.monotonic()
    call_command("setup_site")
    assert time.monotonic() - started < 5
    assert writes() == before
    assert "password" not in capsys.readouterr().out
    assert User.objects.count() == 1
    assert SyncRun.objects.count() == 5

    check_questions(demo, admin)
