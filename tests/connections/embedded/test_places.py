"""Where the embedded servers live, as whom they run, and who uses them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from connections import embedded
from connections.embedded import paths, tuning
from connections.embedded.paths import Account, Place
from tests.connections.embedded.servers import (
    CHECKOUT,
    connect,
    in_a_fork,
    only_root,
)


@only_root
def test_under_root_an_unreachable_checkout_moves_data_and_programs_out(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "SYSTEM_FOLDER", root.parent / "system")
    monkeypatch.setattr(paths, "can_reach", lambda path, account: False)
    server = embedded.ensure_postgres(root)
    try:
        program = Path(psutil.Process(server.pid).cmdline()[0])
        assert root.parent / "system" in program.parents
        assert psutil.Process(server.pid).uids().real != 0
        assert not (root / "postgres").exists()
        with connect(server, "app") as app:
            assert app.execute("SELECT '[1]'::vector").fetchone()
        assert embedded.ensure_valkey(root).startswith("redis+socket://")
        assert embedded.ensure_postgres(root) == server
    finally:
        embedded.stop_valkey(root)
        embedded.stop_postgres(root)


@only_root
def test_an_ordinary_user_runs_the_server_as_itself(root: Path) -> None:
    root.mkdir()
    os.chown(root, 65_534, 65_534)

    def act() -> None:
        server = embedded.ensure_postgres(root)
        assert psutil.Process(server.pid).uids().real == 65_534
        with connect(server, "app") as app:
            app.execute("SELECT 1")
        embedded.ensure_valkey(root)
        assert embedded.stop_valkey(root)
        assert embedded.stop_postgres(root)

    assert in_a_fork(65_534, act) == 0


@only_root
def test_a_folder_of_somebody_else_is_one_sentence(
    root: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def act() -> None:
        with pytest.raises(embedded.EmbeddedError, match="run Fabric as the user who"):
            embedded.ensure_postgres(root)

    assert in_a_fork(65_534, act) == 0


def test_reach_needs_every_folder_above(tmp_path: Path) -> None:
    stranger = Account(54_321, 54_321)
    program = tmp_path / "shut" / "program"
    program.parent.mkdir(mode=0o700)
    program.touch(mode=0o755)
    assert not paths.can_reach(program, stranger)
    open_to_all = Path(shutil.which("sh") or "/bin/sh")
    assert paths.can_reach(open_to_all, stranger)
    assert paths.can_reach(program.parent, Account(os.geteuid(), os.getegid())) == all(
        part.stat().st_uid == os.geteuid() or part.stat().st_mode & 1
        for part in program.parents
    )


def test_the_servers_stay_while_another_command_uses_them(root: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from connections.embedded import "
        "processes; processes.hold(Path(sys.argv[1])); print('held', flush=True); "
        "sys.stdin.read()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", script, str(root)],
        cwd=CHECKOUT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert other.stdout
    other.stdout.readline()
    with embedded.unless_used(root) as alone:
        assert not alone
    other.communicate()
    with embedded.unless_used(root) as alone:
        assert alone


def test_settings_follow_the_memory_of_the_machine_or_its_cgroup(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = tmp_path / "memory.max"
    limit.write_text(f"{1024 * tuning.MB}\n")
    monkeypatch.setattr(tuning, "MEMORY_LIMITS", (limit, tmp_path / "absent"))
    monkeypatch.setattr(tuning, "SHARED_MEMORY", tmp_path / "absent")
    small = tuning.settings(5432)
    assert small["shared_buffers"] == "170MB"
    assert small["dynamic_shared_memory_type"] == "mmap"
    limit.write_text("max\n")
    monkeypatch.setattr(tuning.os, "sysconf", lambda name: 1 << 18)
    large = tuning.settings(5432)
    assert (large["shared_buffers"], large["maintenance_work_mem"]) == (
        "4096MB",
        "2048MB",
    )


def test_a_missing_wheel_is_one_sentence_that_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(embedded.EmbeddedError, match="make install"):
        paths.program("no_such_wheel", "bin/*", Place(tmp_path, None))


def test_the_package_needs_no_django() -> None:
    script = "import sys; import connections.embedded; print('django' in sys.modules)"
    told = subprocess.run(
        [sys.executable, "-c", script],
        check=True,
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
    )
    assert told.stdout == "False\n"
