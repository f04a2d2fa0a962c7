"""The embedded PostgreSQL, for real."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import time
from pathlib import Path

import psycopg
import pytest

from connections import embedded
from connections.embedded import paths, postgres, processes
from tests.connections.embedded.servers import (
    connect,
    eventually,
    gone,
    only_root,
)


def test_four_processes_starting_at_once_share_one_server_that_outlives_them(
    started: tuple[Path, list[str]],
) -> None:
    assert len(set(started[1])) == 1
    pid, port, uid = map(int, started[1][0].split())
    server = embedded.ensure_postgres(started[0])
    assert (server.pid, server.port) == (pid, port)
    assert uid != 0


def test_a_running_server_is_found_within_fifty_milliseconds(
    started: tuple[Path, list[str]],
) -> None:
    took = []
    for _ in range(5):
        begun = time.perf_counter()
        embedded.ensure_postgres(started[0])
        took.append(time.perf_counter() - begun)
    assert min(took) < 0.05


def test_passwords_are_stored_for_us_alone_and_never_printed(
    started: tuple[Path, list[str]], server: embedded.Server
) -> None:
    folder = paths.place("postgres", started[0]).folder
    stored = json.loads((folder / "passwords.json").read_text())
    assert len(set(stored.values())) == 4
    assert stat.S_IMODE((folder / "passwords.json").stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert server.app.password == stored["app"]
    assert not any(password in repr(server) for password in stored.values())


def test_every_login_needs_its_password(server: embedded.Server) -> None:
    for login in (server.superuser, server.owner, server.app, server.reader):
        with pytest.raises(psycopg.OperationalError, match="password authentication"):
            psycopg.connect(
                host=server.host,
                port=server.port,
                user=login.name,
                password="wrong",
                dbname="fabric",
            )


def check_rights(server: embedded.Server, database: str) -> None:
    """The owner makes a table; the application uses it, and can make nothing."""
    with connect(server, "owner", database) as owner:
        owner.execute("DROP TABLE IF EXISTS made")
        owner.execute("CREATE TABLE made (id serial, v vector(2), word text)")
        owner.execute("CREATE INDEX ON made USING gin (word gin_trgm_ops)")
    with connect(server, "app", database) as app:
        app.execute("INSERT INTO made (v, word) VALUES ('[1,2]', unaccent('é'))")
        app.execute("UPDATE made SET v = '[3,4]'")
        assert app.execute("SELECT id, v::text, word FROM made").fetchall() == [
            (1, "[3,4]", "e")
        ]
        app.execute("DELETE FROM made")
        for statement in (
            "CREATE TABLE other ()",
            "DROP TABLE made",
            "ALTER TABLE made ADD w text",
            "TRUNCATE made",
            "CREATE SCHEMA own",
            "CREATE DATABASE own",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                app.execute(statement)


def test_the_application_may_write_rows_and_change_no_table(
    server: embedded.Server,
) -> None:
    check_rights(server, "fabric")
    with connect(server, "app") as app:
        app.execute("CREATE TEMPORARY TABLE seen (key text)")


def test_a_database_the_owner_makes_has_the_extensions_and_the_same_rights(
    server: embedded.Server,
) -> None:
    with connect(server, "owner", "postgres") as owner:
        owner.execute("CREATE DATABASE test_made")
    check_rights(server, "test_made")
    with connect(server, "owner", "test_made") as owner:
        owner.execute("CREATE EXTENSION IF NOT EXISTS vector")
        extensions = owner.execute("SELECT extname FROM pg_extension").fetchall()
    with connect(server, "owner", "postgres") as owner:
        owner.execute("DROP DATABASE test_made")
    wanted = {"vector", "pg_trgm", "btree_gin", "unaccent", "pg_stat_statements"}
    assert wanted < {name for (name,) in extensions}


def test_the_reader_begins_without_rights_and_in_read_only_transactions(
    server: embedded.Server,
) -> None:
    with connect(server, "owner") as owner:
        owner.execute("CREATE TABLE IF NOT EXISTS unread (id int)")
    with connect(server, "reader") as reader:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            reader.execute("SELECT * FROM unread")
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            reader.execute("CREATE TEMPORARY TABLE own ()")


def test_the_demo_database_is_empty_and_closed_to_the_application(
    server: embedded.Server,
) -> None:
    with connect(server, "owner", "fabric_demo") as owner:
        owner.execute("CREATE TABLE trial (id int)")
        owner.execute("DROP TABLE trial")
        views = owner.execute(
            "SELECT count(*) FROM information_schema.tables WHERE table_schema='public'"
        ).fetchone()
    assert views == (0,)
    with pytest.raises(psycopg.OperationalError, match="permission denied"):
        connect(server, "app", "fabric_demo")


def test_the_server_commits_durably_in_utc_without_just_in_time_compilation(
    server: embedded.Server,
) -> None:
    with connect(server, "app") as app:
        shown = {
            name: app.execute("SELECT current_setting(%s)", [name]).fetchone()
            for name in ("synchronous_commit", "fsync", "TimeZone", "jit", "work_mem")
        }
    assert [value and value[0] for value in shown.values()] == [
        "on",
        "on",
        "UTC",
        "off",
        "32MB",
    ]


def test_a_committed_row_survives_kill_9_of_the_server(
    started: tuple[Path, list[str]], server: embedded.Server
) -> None:
    with connect(server, "owner") as owner:
        owner.execute("CREATE TABLE IF NOT EXISTS kept (word text)")
        owner.execute("INSERT INTO kept VALUES ('still here')")
        os.kill(server.pid, signal.SIGKILL)
    assert eventually(lambda: gone(server.pid))
    assert not embedded.postgres_runs(started[0])
    again = embedded.ensure_postgres(started[0])
    assert again.pid != server.pid
    with connect(again, "owner") as owner:
        assert owner.execute("TABLE kept").fetchall() == [("still here",)]


def test_a_taken_port_is_replaced_and_said(
    started: tuple[Path, list[str]],
    server: embedded.Server,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert embedded.stop_postgres(started[0])
    assert not embedded.stop_postgres(started[0])
    with socket.create_server(("127.0.0.1", server.port)):
        moved = embedded.ensure_postgres(started[0])
    assert moved.port != server.port
    said = capsys.readouterr().err
    assert str(server.port) in said
    assert str(moved.port) in said
    with connect(moved, "app") as app:
        assert app.execute("SELECT 1").fetchone() == (1,)


def test_a_stale_pid_file_whose_number_another_program_has_is_no_obstacle(
    started: tuple[Path, list[str]], server: embedded.Server
) -> None:
    place = paths.place("postgres", started[0])
    pid_file = place.folder / "data" / "postmaster.pid"
    lines = pid_file.read_text().splitlines()
    embedded.stop_postgres(started[0])
    other = subprocess.Popen(
        ["sleep", "60"],  # noqa: S607
        user=place.account.uid if place.account else None,
    )
    try:
        place.write(pid_file, "\n".join([str(other.pid), *lines[1:]]) + "\n")
        again = embedded.ensure_postgres(started[0])
    finally:
        other.kill()
        other.wait()
    assert again.pid != other.pid


def test_a_named_port_is_used_and_a_taken_one_refused(
    started: tuple[Path, list[str]],
    server: embedded.Server,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    embedded.stop_postgres(started[0])
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setenv("FABRIC_PG_PORT", str(port))
        with pytest.raises(embedded.EmbeddedError, match=rf"{port} \(FABRIC_PG_PORT\)"):
            embedded.ensure_postgres(started[0])
    monkeypatch.setenv("FABRIC_PG_PORT", "x")
    with pytest.raises(embedded.EmbeddedError, match="not a port number"):
        embedded.ensure_postgres(started[0])
    monkeypatch.setenv("FABRIC_PG_PORT", str(port))
    assert embedded.ensure_postgres(started[0]).port == port


def test_data_of_another_major_version_are_refused_and_untouched(root: Path) -> None:
    place = paths.place("postgres", root)
    place.make()
    (place.folder / "data").mkdir()
    (place.folder / "data" / "PG_VERSION").write_text("14\n")
    with pytest.raises(embedded.EmbeddedError, match=r"made by PostgreSQL 14.*18"):
        embedded.ensure_postgres(root)
    assert (place.folder / "data" / "PG_VERSION").read_text() == "14\n"


def test_a_lost_password_file_is_one_sentence(root: Path) -> None:
    place = paths.place("postgres", root)
    place.make()
    with pytest.raises(embedded.EmbeddedError, match="missing or damaged"):
        postgres.load(place.folder / "passwords.json")


def test_a_full_disk_is_one_sentence_and_leaves_nothing_half_made(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub = root.parent / "initdb"
    stub.write_text(
        "#!/bin/sh\nmkdir -p $2\necho 'initdb: error: could not write to file: "
        "No space left on device' >&2\nexit 1\n"
    )
    stub.chmod(0o755)
    monkeypatch.setattr(paths, "program", lambda *_: stub)
    with pytest.raises(embedded.EmbeddedError, match=r"^The disk of .* is full"):
        embedded.ensure_postgres(root)
    folder = paths.place("postgres", root).folder
    assert not (folder / "data").exists()
    assert not (folder / "data.new").exists()
    assert not (folder / "password.new").exists()


@only_root
def test_a_really_full_disk_is_one_sentence_too(root: Path) -> None:
    root.mkdir()
    mounted = ["mount", "-t", "tmpfs", "-o", "size=12m,mode=755", "tmpfs", str(root)]
    if subprocess.run(mounted, check=False, capture_output=True).returncode:
        pytest.skip("this root may not mount")
    try:
        with pytest.raises(embedded.EmbeddedError, match=r"^The disk of .* is full"):
            embedded.ensure_postgres(root)
    finally:
        for held in [held for held in processes._held if held == root]:
            os.close(processes._held.pop(held))
        subprocess.run(["umount", str(root)], check=True)  # noqa: S607
