"""A statement under watch: whatever a server does, who waits has an answer in time.

The work is done by a thread of its own, which drivers and the system may hold for long.
Who waits looks at the clock, at the bytes that come in and at cancellations. To end it,
the server is asked first, then the socket is cut, and then nobody waits any more.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from django.db import connections as django_connections

from connections.databases.caps import WIRE_BYTES
from connections.databases.connecting import CONNECT_SECONDS, Opened, open_connection
from connections.databases.mysql import MysqlSession
from connections.databases.postgres import PostgresSession
from connections.databases.session import Session
from connections.models import Database

logger = logging.getLogger(__name__)
TICK_SECONDS = 0.02
TOUCH_SECONDS = 0.4
# After the deadline: so long the server may take to end it, then so long the socket.
ASK_SECONDS, CUT_SECONDS = 0.5, 0.25
ENGINES: Mapping[str, Callable[[Opened, Database], Session]] = {
    Database.Engine.POSTGRES: PostgresSession,
    Database.Engine.MYSQL: MysqlSession,
}
Reason: TypeAlias = Literal["", "timed_out", "cancelled", "too_large"]


@dataclass(slots=True)
class Watched:
    """One job on one session, done by a thread, watched by another.

    `error` is what it raised; `reason` says why it was ended, if it was. `is_reached`
    tells that a connection was made, so that the server is there.
    """

    database: Database
    job: Callable[[Session], None]
    deadline: float
    wire_most: int = WIRE_BYTES
    is_reached: bool = False
    reason: Reason = ""
    error: BaseException | None = None
    _session: Session | None = None
    _is_given_up: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _done: threading.Event = field(default_factory=threading.Event)

    def run(self, is_cancelled: Callable[[], bool]) -> None:
        """Return when the job is done, has failed, or was ended: before long after
        the deadline, whatever it hangs in."""
        name = f"database {self.database.pk}"
        threading.Thread(target=self._work, name=name, daemon=True).start()
        try:
            self._watch(is_cancelled)
        finally:
            # Also when the watcher itself is interrupted.
            if not self._done.is_set():
                self._give_up()

    def _watch(self, is_cancelled: Callable[[], bool]) -> None:
        touched = time.monotonic()
        while not self._done.wait(TICK_SECONDS):
            if time.monotonic() >= self.deadline:
                self.reason = "timed_out"
            elif self._received() > self.wire_most:
                self.reason = "too_large"
            elif time.monotonic() - touched >= TOUCH_SECONDS:
                self.reason = "cancelled" if is_cancelled() else ""
                touched = time.monotonic()
            if self.reason:
                self._stop()
                return

    def _received(self) -> int:
        session = self._session
        return session.wire.received() if session else 0

    def _stop(self) -> None:
        """Ask the server to end it; if it does not, cut the socket."""
        if self.reason == "too_large":
            # What is on its way is not waited for.
            self._cut()
        threading.Thread(target=self._interrupt, daemon=True).start()
        if self._done.wait(ASK_SECONDS):
            return
        self._cut()
        self._done.wait(CUT_SECONDS)

    def _interrupt(self) -> None:
        session = self._session
        try:
            if session is not None and not self._done.is_set():
                session.interrupt(ASK_SECONDS)
        finally:
            django_connections.close_all()

    def _cut(self) -> None:
        if (session := self._session) is not None:
            session.wire.cut()

    def _give_up(self) -> None:
        """Leave the thread alone: it ends its session as soon as it comes back."""
        with self._lock:
            self._is_given_up = True
        self._cut()

    def _work(self) -> None:
        try:
            self._work_on(self._opened())
        except BaseException as error:  # noqa: BLE001 # it is raised where it is waited for
            self.error = error
        finally:
            django_connections.close_all()
            self._done.set()

    def _opened(self) -> Session:
        left = max(0.1, self.deadline - time.monotonic())
        opened = open_connection(self.database, seconds=min(CONNECT_SECONDS, left))
        session = ENGINES[self.database.engine](opened, self.database)
        with self._lock:
            self._session = session
            self.is_reached = not self._is_given_up
        return session

    def _work_on(self, session: Session) -> None:
        try:
            if self.is_reached:
                self.job(session)
        finally:
            # Watched still: also a rollback may hang.
            session.end()
