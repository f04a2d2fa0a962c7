"""Real servers in folders of /tmp, and what the tests ask of them."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import psycopg
import pytest

from connections import embedded
from connections.embedded import processes

CHECKOUT = Path(__file__).resolve().parents[3]
IS_ROOT = os.geteuid() == 0
only_root = pytest.mark.skipif(not IS_ROOT, reason="only root can become others")


@contextmanager
def data_root() -> Iterator[Path]:
    """Yield a folder that other users may enter; stop what runs there afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="fabric-"))
    folder.chmod(0o755)
    try:
        yield folder / "var"
    finally:
        with suppress(embedded.EmbeddedError):
            embedded.stop_valkey(folder / "var")
            embedded.stop_postgres(folder / "var")
        for root in [held for held in processes._held if folder in held.parents]:
            os.close(processes._held.pop(root))
        shutil.rmtree(folder)


def connect(
    server: embedded.Server, login: str, database: str = "fabric"
) -> psycopg.Connection:
    known = server.django(login, database)
    return psycopg.connect(
        host=str(known["HOST"]),
        port=str(known["PORT"]),
        user=str(known["USER"]),
        password=str(known["PASSWORD"]),
        dbname=database,
        autocommit=True,
    )


def gone(pid: int) -> bool:
    """Whether a process has ended; one that nobody waits for stays as a zombie."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def eventually(condition: Callable[[], bool], seconds: float = 10) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def in_a_fork(uid: int, act: Callable[[], None]) -> int:
    """Run a function as another user, whose Python could not be started anew."""
    if pid := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    code = 1
    try:
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)
        act()
        code = 0
    except BaseException:  # noqa: BLE001 - a fork of pytest must end here
        traceback.print_exc()
    finally:
        os._exit(code)
