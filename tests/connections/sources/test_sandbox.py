from __future__ import annotations

import io
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import psutil
import pytest

from connections.sources import sandbox
from connections.sources.documents import read_document
from connections.sources.documents_base import Document, Link, Section, Unreadable
from connections.sources.sandbox import Died, dump, load, receive, send
from tests.connections.sources.samples import outcome

LARGE = b"# Title\n\n*some* words [here](b.md)\n\n" * 200_000


@pytest.fixture(autouse=True)
def _fresh_process() -> Iterator[None]:
    sandbox.stop()
    yield
    sandbox.stop()


def worker_pid() -> int:
    worker = sandbox._state.worker
    assert worker is not None
    return worker.process.pid


def gone(pid: int, seconds: float = 10) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == "zombie":
            return True
        time.sleep(0.05)
    return False


def looping_pdf() -> bytes:
    """A page tree that holds itself, and a form that draws itself."""
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[2 0 R 3 0 R]/Count 2/Parent 2 0 R>>",
        b"<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</XObject<</F 5 0 R>>>>>>",
        b"<</Length 4>>stream\n/F Do\nendstream",
        b"<</Type/XObject/Subtype/Form/BBox[0 0 1 1]/Length 5"
        b"/Resources<</XObject<</F 5 0 R>>>>>>stream\n/F Do \nendstream",
    ]
    data = b"%PDF-1.4\n"
    for number, body in enumerate(objects, start=1):
        data += b"%d 0 obj%sendobj\n" % (number, body)
    return data + b"trailer<</Root 1 0 R/Size 6>>\n%%EOF"


def test_one_process_reads_one_file_after_another() -> None:
    assert read_document("a.md", b"# One").title == "One"
    first = worker_pid()
    assert read_document("a.md", b"# Two").title == "Two"
    assert worker_pid() == first


def test_a_file_that_takes_too_much_computing_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sandbox, "CPU_SECONDS", 0)
    with pytest.raises(Unreadable, match="0 seconds of computing"):
        sandbox.read("a.md", LARGE)
    assert sandbox.read("a.md", b"# Next").title == "Next"


def test_a_file_that_takes_too_much_memory_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sandbox, "MEMORY_BYTES", 512 * 2**20)
    with pytest.raises(Unreadable, match="over 512 MB"):
        sandbox.read("a.md", LARGE)
    assert sandbox.read("a.md", b"# Next").title == "Next"


def test_a_process_that_does_not_answer_is_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sandbox.read("a.md", b"x")
    stuck = worker_pid()
    os.kill(stuck, signal.SIGSTOP)
    monkeypatch.setattr(sandbox, "WALL_SECONDS", 0.3)
    with pytest.raises(Unreadable, match=r"not read within 0\.3 seconds"):
        sandbox.read("a.md", b"x")
    assert gone(stuck)
    monkeypatch.undo()
    assert sandbox.read("a.md", b"# Next").title == "Next"


def test_a_process_that_died_between_files_costs_no_file() -> None:
    sandbox.read("a.md", b"x")
    os.kill(worker_pid(), signal.SIGKILL)
    assert gone(worker_pid())
    assert sandbox.read("a.md", b"# Next").title == "Next"


def test_markdown_too_large_to_parse_is_read_as_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sandbox, "CPU_SECONDS", 0)
    document = read_document("a.md", LARGE)
    assert document.text.count("*some* words") == 200_000
    assert document.warnings[0].startswith("read as text: too slow")


def test_a_pdf_that_refers_to_itself_ends() -> None:
    start = time.monotonic()
    found = outcome("a.pdf", looping_pdf())
    assert found if isinstance(found, str) else found.sections
    assert time.monotonic() - start < 30


def test_a_process_is_replaced_after_its_share_of_files(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sandbox, "DOCUMENTS_PER_PROCESS", 2)
    sandbox.read("a.md", b"x")
    first = worker_pid()
    sandbox.read("a.md", b"x")
    assert gone(first)
    sandbox.read("a.md", b"x")
    assert worker_pid() != first


def test_the_process_knows_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "do-not-tell")
    sandbox.read("a.md", b"x")
    assert "do-not-tell" not in psutil.Process(worker_pid()).environ().values()


def _read_in_fork(answers: multiprocessing.Queue[tuple[str, int]]) -> None:
    title = sandbox.read("a.md", b"# Forked").title
    answers.put((title, worker_pid()))


def test_a_forked_daemon_reads_with_a_process_of_its_own() -> None:
    sandbox.read("a.md", b"x")
    own = worker_pid()
    context = multiprocessing.get_context("fork")
    answers: multiprocessing.Queue[tuple[str, int]] = context.Queue()
    fork = context.Process(target=_read_in_fork, args=(answers,), daemon=True)
    fork.start()
    title, other = answers.get(timeout=30)
    fork.join(timeout=10)
    assert title == "Forked"
    assert other != own
    assert gone(other)
    assert sandbox.read("a.md", b"# Mine").title == "Mine"
    assert worker_pid() == own


def test_the_process_ends_with_a_parent_that_was_killed() -> None:
    script = (
        "from connections.sources import sandbox; import os, signal;"
        "sandbox.read('a.md', b'x');"
        "print(sandbox._state.worker.process.pid, flush=True);"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=root, capture_output=True, check=False
    )
    assert gone(int(done.stdout))


def test_the_caller_loads_no_parser() -> None:
    script = (
        "import sys; from connections.sources import documents;"
        "heavy = {'pypdf', 'docx', 'pptx', 'openpyxl', 'markdown_it'};"
        "sys.exit(', '.join(heavy & sys.modules.keys()) or 0)"
    )
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=root, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_document_crosses_the_pipe_unchanged() -> None:
    section = Section("T", "words", ("A", "B"), (Link("b.md", "b"),))
    document = Document(
        title="Größe",
        sections=(section,),
        tags=("x",),
        metadata={"frontmatter": {"n": [1, 2.5, None]}},
        language="german",
        occurred_at=datetime(2024, 1, 2, tzinfo=UTC),
    )
    assert load(dump(document)) == document


def test_a_stream_that_ends_or_promises_too_much_is_a_dead_process() -> None:
    stream = io.BytesIO()
    send(stream, b"abc")
    whole = stream.getvalue()
    assert receive(io.BytesIO(whole)) == b"abc"
    for broken in (b"", whole[:5], whole[:-1], b"\xff" * 8):
        with pytest.raises(Died):
            receive(io.BytesIO(broken))
