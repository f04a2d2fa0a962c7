"""Killed in the middle of filling, it goes on and asks for nothing twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from graph.embed import embed_backlog
from graph.embedded_text import embedded_text
from graph.models import Node
from graph.reembed import filling
from tests.connections.embedding_server import FakeOpenAI
from tests.factories import draft_account, draft_channel, draft_message, take_in
from tests.graph.reembedding.other_embedder import sizes
from tests.graph.test_ingest_killed import CHECKOUT, address_of

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])


class TestKilled:
    NODES = 2200

    @pytest.fixture
    def environment(self) -> dict[str, str]:
        return os.environ | {
            "DATABASE_URL": address_of("default"),
            "FABRIC_OWNER_DATABASE_URL": address_of("owner"),
            "CELERY_BROKER_URL": "memory://",
            "OPENAI_API_KEY": "sk-test",
        }

    def start(self, environment: dict[str, str]) -> subprocess.Popen[bytes]:
        command = [sys.executable, "manage.py", "reembed", "--provider", "openai"]
        return subprocess.Popen(
            [*command, "--dimensions", "64", "--no-progress"],
            cwd=Path(CHECKOUT),
            stderr=subprocess.PIPE,
            env=environment,
        )

    @pytest.mark.timeout(150)
    def test_killed_in_the_middle_it_ends_right_and_asks_for_nothing_twice(
        self, project, environment
    ):
        messages = [
            draft_message(f"{n}.000001", f"Message {n}") for n in range(self.NODES)
        ]
        take_in(project, draft_account(), draft_channel(), *messages)
        embed_backlog()
        with FakeOpenAI() as fake:
            environment |= {"OPENAI_BASE_URL": fake.url}
            fake.before = lambda: time.sleep(0.1)
            process = self.start(environment)
            try:
                deadline = time.monotonic() + 60
                while len(fake.asked) < 4:
                    assert process.poll() is None, process.stderr.read().decode()
                    assert time.monotonic() < deadline
                    time.sleep(0.01)
            finally:
                process.send_signal(signal.SIGKILL)
                process.wait()
            model = filling()
            assert 0 < model.filled < self.NODES
            done = {
                embedded_text(node)
                for node in Node.objects.filter(pk__lte=model.filled_to)
            } - {""}
            assert done
            assert sizes() == {256}
            fake.asked.clear()
            fake.before = lambda: None
            final = self.start(environment)
            assert final.wait(60) == 0, final.stderr.read().decode()
            again = fake.texts
        assert sizes() == {64}
        assert done.isdisjoint(again)
        assert len(done) + len(again) == self.NODES
        found = Node.objects.filter(node_type="message", embedding__isnull=False)
        assert found.count() == self.NODES
