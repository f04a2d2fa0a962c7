"""The supervisor with real children that do nothing but live, print and die."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from queue import Empty, Queue

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabric_site import start
from fabric_site.start import Address, StartError
from fabric_site.supervisor import Backoff

CHECKOUT = Path(__file__).resolve().parents[2]
LIVE = """
    import os, signal, sys, time
    def leave(*_):
        print("leaves", flush=True)
        sys.exit(0)
    signal.signal(signal.SIGTERM, leave)
    print("lives", os.getpid(), flush=True)
    while True:
        time.sleep(1)
"""
DEAF = """
    import os, signal, time
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print("lives", os.getpid(), flush=True)
    while True:
        time.sleep(1)
"""
PARENT = """
    import os, subprocess, sys, time
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    print("lives", child.pid, flush=True)
    time.sleep(60)
"""
HEALTHY = """
    import sys
    from http.server import BaseHTTPRequestHandler, HTTPServer
    class Page(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200 if self.path == "/healthz" else 404)
            self.end_headers()
        def log_message(self, *arguments):
            pass
    HTTPServer(("127.0.0.1", int(sys.argv[1])), Page).serve_forever()
"""
RUN = """
    import sys
    from pathlib import Path
    from fabric_site.start import Address
    from fabric_site.supervisor import Program, Supervisor, Watch
    def program(name, source, *arguments, grace=5):
        return Program(name, (sys.executable, "-c", source, *arguments), grace)
"""


class Running:
    """A supervisor in a process of its own, and the lines it prints."""

    def __init__(self, source: str, **sources: str) -> None:
        parts = [textwrap.dedent(RUN)]
        parts += [f"{k} = {textwrap.dedent(v)!r}" for k, v in sources.items()]
        self.process = subprocess.Popen(
            [sys.executable, "-c", "\n".join([*parts, textwrap.dedent(source)])],
            cwd=CHECKOUT,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.lines: Queue[str] = Queue()
        self.seen: list[str] = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.put(" ".join(line.split()))

    def line(self, part: str, seconds: float = 15) -> str:
        """Return the next line that holds `part`."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            try:
                self.seen.append(self.lines.get(timeout=left))
            except Empty:
                break
            if part in self.seen[-1]:
                return self.seen[-1]
        raise AssertionError(f"No line with {part!r} in {self.seen}")

    def pid(self, name: str) -> int:
        return int(self.line(f"{name} | lives").split()[-1])

    def stop(self, number: signal.Signals = signal.SIGINT) -> int:
        self.process.send_signal(number)
        return self.process.wait(timeout=20)


@pytest.fixture
def running() -> Iterator[list[Running]]:
    made: list[Running] = []
    yield made
    for one in made:
        family = [one.process.pid]
        if one.process.poll() is None:
            children = psutil.Process(one.process.pid).children(recursive=True)
            family += [child.pid for child in children]
        for pid in family:
            if psutil.pid_exists(pid):
                os.kill(pid, signal.SIGKILL)
        one.process.wait(timeout=10)


def gone(pid: int, seconds: float = 10) -> bool:
    """Whether a process ends in time; one that nobody waits for stays as a zombie."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.02)
    return False


@given(st.lists(st.floats(0, 59), max_size=20))
def test_pauses_double_from_one_second_to_thirty_while_lives_are_short(
    lives: list[float],
) -> None:
    backoff = Backoff()
    pauses = [backoff.after(lived) for lived in lives]
    assert pauses == [min(30, 2**n) for n in range(len(lives))]


@given(st.lists(st.floats(0, 59), max_size=20), st.floats(60, 1e6))
def test_a_minute_of_life_resets_the_pause(lives: list[float], long: float) -> None:
    backoff = Backoff()
    for lived in lives:
        backoff.after(lived)
    assert backoff.after(long) == 1


def test_ctrl_c_stops_everything_in_order_and_leaves_no_process(
    running: list[Running],
) -> None:
    running.append(
        Running(
            """
            def stop():
                return ["servers stopped last"]
            names = ("web", "beat", "worker")
            Supervisor([program(n, LIVE) for n in names], stop_servers=stop).run()
            """,
            LIVE=LIVE,
        )
    )
    lived: dict[str, int] = {}
    while len(lived) < 3:
        line = running[0].line("lives")
        lived[line.split()[0]] = int(line.split()[-1])
    assert running[0].stop() == 0
    assert "stopped" in running[0].line("fabric | stopped")
    ends = [line for line in running[0].seen if "leaves" in line or "last" in line]
    assert [line.split(" |")[0].strip() for line in ends] == [
        "web",
        "beat",
        "worker",
        "fabric",
    ]
    assert all(gone(pid, 0.5) for pid in lived.values())


def test_a_killed_child_is_started_again_and_that_is_said(
    running: list[Running],
) -> None:
    running.append(Running("Supervisor([program('web', LIVE)]).run()", LIVE=LIVE))
    first = running[0].pid("web")
    begun = time.monotonic()
    os.kill(first, signal.SIGKILL)
    running[0].line("web | was ended by SIGKILL; starts again in 1 s")
    second = running[0].pid("web")
    assert second != first
    assert 0.9 < time.monotonic() - begun < 5
    assert running[0].stop(signal.SIGTERM) == 0
    assert gone(second, 0.5)


def test_a_child_that_ignores_the_request_is_killed_after_its_grace(
    running: list[Running],
) -> None:
    source = "Supervisor([program('web', DEAF, grace=0.5)]).run()"
    running.append(Running(source, DEAF=DEAF))
    pid = running[0].pid("web")
    assert running[0].stop() == 0
    assert gone(pid, 0.5)


def test_a_second_ctrl_c_does_not_wait_for_the_grace(running: list[Running]) -> None:
    source = "Supervisor([program('web', DEAF, grace=60)]).run()"
    running.append(Running(source, DEAF=DEAF))
    running[0].pid("web")
    running[0].process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    assert running[0].process.poll() is None
    assert running[0].stop() == 0


def test_what_a_child_started_ends_with_it(running: list[Running]) -> None:
    source = "Supervisor([program('worker', PARENT)]).run()"
    running.append(Running(source, PARENT=PARENT))
    grandchild = running[0].pid("worker")
    running[0].stop()
    assert gone(grandchild)


@pytest.mark.skipif(sys.platform != "linux", reason="a service of the Linux kernel")
def test_children_end_when_the_supervisor_is_killed(running: list[Running]) -> None:
    running.append(Running("Supervisor([program('web', LIVE)]).run()", LIVE=LIVE))
    pid = running[0].pid("web")
    running[0].stop(signal.SIGKILL)
    assert gone(pid)


def test_a_server_that_died_is_started_again(
    running: list[Running], tmp_path: Path
) -> None:
    running.append(
        Running(
            f"""
            mark = Path({str(tmp_path / "runs")!r})
            touch = program("postgres", "import sys; open(sys.argv[1], 'w')", str(mark))
            watch = Watch(mark.exists, touch)
            Supervisor([program("web", LIVE)], [watch]).run()
            """,
            LIVE=LIVE,
        )
    )
    running[0].line("postgres | does not run; starting it again")
    for _ in range(100):
        if (tmp_path / "runs").exists():
            break
        time.sleep(0.05)
    assert (tmp_path / "runs").exists()
    assert running[0].stop() == 0


def test_the_address_is_printed_when_the_site_answers_and_the_others_follow(
    running: list[Running],
) -> None:
    port = free_port()
    running.append(
        Running(
            f"""
            web = Address("0.0.0.0", {port})
            programs = [program("web", HEALTHY, "{port}"), program("beat", LIVE)]
            Supervisor(programs, web=web).run()
            """,
            HEALTHY=HEALTHY,
            LIVE=LIVE,
        )
    )
    assert f"http://127.0.0.1:{port}/" in running[0].line("Fabric runs at")
    assert not [line for line in running[0].seen if "beat" in line]
    running[0].line("beat | lives", seconds=5)
    assert running[0].stop() == 0


def test_a_closed_terminal_stops_the_site() -> None:
    source = textwrap.dedent(RUN) + f"LIVE = {textwrap.dedent(LIVE)!r}\n"
    source += "Supervisor([program('web', LIVE)]).run()"
    process = subprocess.Popen(
        [sys.executable, "-c", source], cwd=CHECKOUT, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    pid = int(process.stdout.readline().split()[-1])
    process.stdout.close()
    os.kill(pid, signal.SIGKILL)
    assert process.wait(timeout=15) is not None
    assert gone(pid)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
    return port


@pytest.fixture
def own_claim(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(start, "_claimed", [])
    monkeypatch.setenv("PORT", str(free_port()))
    monkeypatch.delenv("FABRIC_HOST", raising=False)
    yield
    for descriptor in start._claimed:
        os.close(descriptor)


@pytest.mark.usefixtures("own_claim")
def test_a_taken_port_is_one_sentence_with_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setenv("PORT", str(port))
        with pytest.raises(
            StartError, match=rf"Port {port} .*PORT={port + 1} make run"
        ):
            start.claim(tmp_path)
    assert start.claim(tmp_path) == Address("127.0.0.1", port)


@pytest.mark.usefixtures("own_claim")
def test_a_second_site_of_one_folder_is_refused_and_told_where_the_first_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = start.claim(tmp_path)
    script = "import sys; from fabric_site.start import claim; from pathlib import Path"
    script += "; claim(Path(sys.argv[1]))"
    second = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)],
        check=False,
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        env=os.environ | {"PORT": str(free_port())},
    )
    assert second.returncode == 1
    assert f"already runs from this folder (process {os.getpid()}" in second.stderr
    assert first.url in second.stderr


@pytest.mark.parametrize("port", ["web", "0", "70000", "-1"])
def test_a_port_that_is_none_is_refused_by_name(
    port: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PORT", port)
    with pytest.raises(StartError, match=r"^PORT="):
        start.address()


def test_up_refuses_a_taken_port_before_it_starts_anything(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused = subprocess.run(
            [sys.executable, "manage.py", "up"],
            check=False,
            cwd=CHECKOUT,
            capture_output=True,
            text=True,
            env=os.environ | {"PORT": str(port), "FABRIC_VAR": str(tmp_path)},
        )
    assert refused.returncode == 1
    assert refused.stderr.count("\n") == 1
    assert f"Port {port} " in refused.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["supervisor.lock"]
