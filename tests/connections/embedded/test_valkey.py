"""The embedded broker, for real."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import stat
import time
from pathlib import Path

import pytest
from kombu import Connection

from connections import embedded
from connections.embedded import paths, valkey
from tests.connections.embedded.servers import (
    eventually,
    gone,
)


def test_a_task_queued_with_kombu_survives_kill_9_of_the_broker(root: Path) -> None:
    url = embedded.ensure_valkey(root)
    assert url == embedded.valkey_url(root)
    with Connection(url) as broker, broker.SimpleQueue("jobs") as queue:
        queue.put({"n": 1})
    folder = valkey._socket(paths.place("valkey", root)).parent
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    pid = broker_process(root)
    os.kill(pid, signal.SIGKILL)
    assert eventually(lambda: gone(pid))
    assert not embedded.valkey_runs(root)
    assert embedded.ensure_valkey(root) == url
    with Connection(url) as broker, broker.SimpleQueue("jobs") as queue:
        assert queue.get(timeout=30).payload == {"n": 1}
    assert embedded.stop_valkey(root)
    assert not embedded.stop_valkey(root)


def test_a_broker_that_cannot_start_says_why_in_one_sentence(root: Path) -> None:
    place = paths.place("valkey", root)
    place.make()
    log_of_writes = place.folder / "appendonlydir"
    place.write(log_of_writes, "not a folder")
    begun = time.monotonic()
    with pytest.raises(embedded.EmbeddedError, match=r"did not start: .*server\.log"):
        embedded.ensure_valkey(root)
    assert time.monotonic() - begun < 4


def broker_process(root: Path) -> int:
    asked = paths.place("valkey", root)
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(valkey._socket(asked)))
        client.sendall(b"INFO server\r\n")
        answer = client.recv(65_536).decode()
    return int(answer.split("process_id:")[1].split()[0])


def test_a_path_too_long_for_a_socket_gets_a_short_private_one(root: Path) -> None:
    far = root / ("a" * 60) / ("b" * 60)
    embedded.ensure_valkey(far)
    try:
        path = valkey._socket(paths.place("valkey", far))
        assert len(str(path)) <= valkey.LONGEST_SOCKET
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert embedded.valkey_runs(far)
    finally:
        embedded.stop_valkey(far)
        shutil.rmtree(path.parent)


def test_a_closed_umask_does_not_shut_the_servers_out(root: Path) -> None:
    before = os.umask(0o077)
    try:
        assert embedded.ensure_valkey(root)
    finally:
        os.umask(before)
    assert paths.place("valkey", root).folder == root / "valkey"
    assert stat.S_IMODE(root.stat().st_mode) == 0o755
