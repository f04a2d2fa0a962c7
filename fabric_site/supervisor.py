"""Starts and watches the site's processes: web, worker, beat and the embedded servers.

One thread, one loop: it prefixes what the children print, starts a dead one again after
a growing pause, and stops all of them in order on Ctrl-C or SIGTERM.
"""

from __future__ import annotations

import ctypes
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TextIO

from connections.embedded import EmbeddedError
from fabric_site.start import Address, answers

CHECKOUT = Path(__file__).resolve().parents[1]
TICK = 0.2  # seconds between two looks at the children
LOOK = 1.0  # seconds between two looks at the servers
HEAD_START = 15  # seconds the other programs wait for the web process at most
SLOW_START = 60  # seconds after which a silent web process is mentioned
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PR_SET_PDEATHSIG = 1
_prctl = getattr(ctypes.CDLL(None), "prctl", None)


@dataclass(frozen=True, slots=True)
class Program:
    """A child to keep running: its arguments and the seconds it gets to stop."""

    name: str
    arguments: tuple[str, ...]
    grace: float = 10


@dataclass(frozen=True, slots=True)
class Watch:
    """A server that runs by itself: whether it does, and the program that starts it."""

    runs: Callable[[], bool]
    start: Program


@dataclass(slots=True)
class Backoff:
    """Seconds to wait before a restart: doubled each time, reset by a long life."""

    first: float = 1
    most: float = 30
    settled: float = 60
    pause: float = 0

    def after(self, lived: float) -> float:
        grown = self.first if lived >= self.settled else self.pause * 2
        self.pause = max(self.first, min(self.most, grown))
        return self.pause


@dataclass(slots=True)
class Child:
    """One program and the process that now runs it, if one does."""

    program: Program
    backoff: Backoff = field(default_factory=Backoff)
    process: subprocess.Popen[bytes] | None = None
    started: float = 0
    due: float = 0
    rest: bytes = b""

    def start(self) -> None:
        self.started = time.monotonic()
        self.process = subprocess.Popen(  # noqa: S603 - our own programs
            self.program.arguments,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=CHECKOUT,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
            start_new_session=True,  # Ctrl-C reaches us alone; we stop them in order
            preexec_fn=partial(die_with, os.getpid()),
        )
        if self.process.stdout:
            os.set_blocking(self.process.stdout.fileno(), False)

    def signal_all(self, number: signal.Signals) -> None:
        """Signal the process and all it started."""
        if self.process:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, number)


def die_with(parent: int, number: signal.Signals = signal.SIGTERM) -> None:
    """Have the kernel signal this process when its parent dies, even by kill -9."""
    if _prctl is not None and sys.platform == "linux":
        _prctl(PR_SET_PDEATHSIG, int(number))
        if os.getppid() != parent:
            os.kill(os.getpid(), number)


class Supervisor:
    """Keeps programs and servers running until it is told to stop."""

    def __init__(
        self,
        programs: Sequence[Program],
        watches: Sequence[Watch] = (),
        *,
        web: Address | None = None,
        stop_servers: Callable[[], list[str]] = list,
        output: TextIO = sys.stdout,
    ) -> None:
        self.children = [Child(program) for program in programs]
        self.watched = [(watch, Child(watch.start)) for watch in watches]
        self.web = web
        self.stop_servers = stop_servers
        self.output = output
        names = [*programs, *(watch.start for watch in watches)]
        self.width = max(len("fabric"), *(len(program.name) for program in names))
        self.selector = selectors.DefaultSelector()
        self.asked_to_stop = 0
        self.began = self.looked = 0.0
        self.late = False

    def run(self) -> int:
        """Run until a signal to stop; 0 when all has been stopped."""
        previous = {number: signal.signal(number, self._on_signal) for number in STOPS}
        self.began = time.monotonic()
        try:
            self._start_first()
            while not self.asked_to_stop:
                self._pump(TICK)
                for child in self.children:
                    self._tend(child)
                self._tend_servers()
                self._announce()
        finally:
            self._stop()
            for number, handler in previous.items():
                signal.signal(number, handler)
        return 0

    def say(self, name: str, text: str) -> None:
        """Print one line with its prefix; a closed terminal is a reason to stop."""
        try:
            self.output.write(f"{name:<{self.width}} | {text}\n")
            self.output.flush()
        except (BrokenPipeError, OSError, ValueError):
            self.asked_to_stop = max(1, self.asked_to_stop)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.asked_to_stop += 1

    def _start(self, child: Child) -> None:
        child.start()
        if child.process and child.process.stdout:
            self.selector.register(child.process.stdout, selectors.EVENT_READ, child)

    def _start_first(self) -> None:
        """Start web, and the others when it answers: it has the processors first."""
        for child in self.children[1:] if self.web else ():
            child.due = self.began + HEAD_START
        for child in self.children:
            if not child.due:
                self._start(child)

    def _pump(self, timeout: float) -> None:
        """Print the lines the children have written, waiting at most `timeout`."""
        if not self.selector.get_map():
            time.sleep(timeout)
        for key, _ in self.selector.select(timeout):
            read = os.read(key.fd, 65_536)
            *lines, key.data.rest = (key.data.rest + read).split(b"\n")
            if not read:
                self.selector.unregister(key.fileobj)
                lines, key.data.rest = [key.data.rest], b""
            for line in filter(None, lines):
                text = line.decode(errors="replace").rstrip("\r")
                self.say(key.data.program.name, text)

    def _tend(self, child: Child) -> None:
        """Note a child's death, and start it again when its pause is over."""
        now = time.monotonic()
        if child.process and (code := child.process.poll()) is not None:
            self._forget(child)
            pause = child.backoff.after(now - child.started)
            child.due = now + pause
            self.say(
                child.program.name, f"{_ending(code)}; starts again in {pause:g} s"
            )
        elif not child.process and now >= child.due:
            self._start(child)

    def _forget(self, child: Child) -> None:
        """End what a dead child left running, and print its last words."""
        child.signal_all(signal.SIGKILL)
        self._pump(0)
        if child.process and child.process.stdout:
            with suppress(KeyError, ValueError):
                self.selector.unregister(child.process.stdout)
            child.process.stdout.close()
        child.process = None

    def _tend_servers(self) -> None:
        now = time.monotonic()
        if now - self.looked < LOOK:
            return
        self.looked = now
        for watch, starter in self.watched:
            self._tend_server(watch, starter)

    def _tend_server(self, watch: Watch, starter: Child) -> None:
        """Start a dead server again through a program of its own, one at a time."""
        now, name = time.monotonic(), starter.program.name
        if starter.process:
            if starter.process.poll() is not None:
                self._forget(starter)
        elif now >= starter.due and not watch.runs():
            starter.due = now + starter.backoff.after(now - starter.started)
            self.say(name, "does not run; starting it again")
            self._start(starter)

    def _announce(self) -> None:
        """Print the address once, when the site answers there."""
        if self.web is None:
            return
        if answers(self.web):
            self.say("fabric", f"Fabric runs at {self.web.url} - Ctrl-C stops it")
            self.web = None
            for child in self.children:
                child.due = min(child.due, time.monotonic())
        elif not self.late and time.monotonic() - self.began > SLOW_START:
            self.say("fabric", f"no answer yet at {self.web.url}healthz; still waiting")
            self.late = True

    def _stop(self) -> None:
        """Stop the children in order, then the servers."""
        for child in self.children:
            self._end(child)
        for _, starter in self.watched:
            self._end(starter)
        try:
            notes = self.stop_servers()
        except EmbeddedError as error:
            notes = [str(error)]
        for note in notes:
            self.say("fabric", note)
        self.say("fabric", "stopped")

    def _end(self, child: Child) -> None:
        if not child.process:
            return
        asked = self.asked_to_stop
        deadline = time.monotonic() + child.program.grace
        child.signal_all(signal.SIGTERM)
        while child.process.poll() is None:
            # A second Ctrl-C means: now.
            if time.monotonic() > deadline or self.asked_to_stop > asked:
                child.signal_all(signal.SIGKILL)
                child.process.wait()
            self._pump(TICK / 4)
        self._forget(child)


def _ending(code: int) -> str:
    if code >= 0:
        return f"ended with code {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"
