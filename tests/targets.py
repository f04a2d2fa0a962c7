"""Databases of somebody else's, as tests read them: a real PostgreSQL, a real MariaDB.

`postgres_target` and `mariadb_target` are empty and last a session; the login `reader`
of each may do nothing yet but log in. What a test makes there, it takes away.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import MySQLdb
import psycopg
from django.conf import settings

from connections import embedded
from connections.models import Database, Project
from connections.secrets import Secret
from tests.factories import make_audience

START_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Target:
    """A server's database, the login that Fabric gets, and the way in as its owner."""

    engine: str
    host: str
    port: int
    database: str
    user: str
    password: str
    owner: dict[str, Any] = field(repr=False)

    def admin(self, database: str = "") -> Any:
        """Return a connection of the owner's, committing by itself."""
        if self.engine == "postgres":
            name = database or self.database
            return psycopg.connect(**self.owner, dbname=name, autocommit=True)
        name = database or self.database
        return MySQLdb.connect(**self.owner, database=name, autocommit=True)

    def run(self, *statements: str) -> None:
        """Run statements as the owner."""
        connection = self.admin()
        try:
            cursor = connection.cursor()
            for statement in statements:
                cursor.execute(statement)
        finally:
            connection.close()


def make_database(project: Project, target: Target, **fields: object) -> Database:
    """Return the connection of `project` to `target`, open to all its members."""
    values = {
        "name": "shop",
        "engine": target.engine,
        "host": target.host,
        "port": target.port,
        "database": target.database,
        "user": target.user,
        "password": Secret(target.password),
        "encryption": Database.Encryption.OFF,
        **fields,
    }
    audience = values.pop("audience", None) or make_audience(project)
    return Database.objects.create(
        tenant=project.tenant, project=project, audience=audience, **values
    )


def environment() -> dict[str, str]:
    """Return what a process of its own needs to be let in where tests are."""
    return {"FABRIC_DATABASE_TARGETS": ",".join(settings.FABRIC["DATABASE_TARGETS"])}


@contextmanager
def allowed(*entries: str) -> Iterator[None]:
    """Name targets as FABRIC_DATABASE_TARGETS does, such as "127.0.0.1:3306"."""
    before = settings.FABRIC["DATABASE_TARGETS"]
    settings.FABRIC["DATABASE_TARGETS"] = (*before, *entries)
    try:
        yield
    finally:
        left = list(settings.FABRIC["DATABASE_TARGETS"])
        for entry in entries:
            left.remove(entry)
        settings.FABRIC["DATABASE_TARGETS"] = tuple(left)


@contextmanager
def postgres_server() -> Iterator[Target]:
    """Yield a database of its own on the embedded server, with a login of its own."""
    name, password = f"test_target_{os.getpid()}", secrets.token_urlsafe(16)
    login = embedded.ensure_postgres().django("superuser")
    owner = {
        "host": login["HOST"],
        "port": login["PORT"],
        "user": login["USER"],
        "password": login["PASSWORD"],
    }
    target = Target(
        "postgres", str(owner["host"]), int(str(owner["port"])), name, name, password,
        owner,
    )  # fmt: skip
    with target.admin("postgres") as server:
        server.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        server.execute(f"DROP ROLE IF EXISTS {name}")
        server.execute(f"CREATE ROLE {name} LOGIN PASSWORD '{password}'")
        server.execute(f"CREATE DATABASE {name} TEMPLATE template0")
        try:
            with allowed(f"{target.host}:{target.port}/{name}"):
                yield target
        finally:
            server.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
            server.execute(f"DROP ROLE IF EXISTS {name}")


@contextmanager
def mariadb_server(*options: str) -> Iterator[Target]:
    """Yield a database on a server of its own, ended afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="mariadb-"))
    process = _start_mariadb(folder, port := _free_port(), *options)
    try:
        _await_mariadb(process, folder)
        password, owner_password = secrets.token_urlsafe(16), secrets.token_urlsafe(16)
        first = MySQLdb.connect(unix_socket=str(folder / "socket"), user="root")
        cursor = first.cursor()
        for statement in (
            "CREATE DATABASE shop CHARACTER SET utf8mb4",
            f"CREATE USER owner@'127.0.0.1' IDENTIFIED BY '{owner_password}'",
            "GRANT ALL ON *.* TO owner@'127.0.0.1' WITH GRANT OPTION",
            f"CREATE USER reader@'127.0.0.1' IDENTIFIED BY '{password}'",
        ):
            cursor.execute(statement)
        first.close()
        owner = {
            "host": "127.0.0.1",
            "port": port,
            "user": "owner",
            "password": owner_password,
            "charset": "utf8mb4",
        }
        with allowed(f"127.0.0.1:{port}"):
            yield Target("mysql", "127.0.0.1", port, "shop", "reader", password, owner)
    finally:
        process.terminate()
        process.wait(30)
        shutil.rmtree(folder, ignore_errors=True)


def _start_mariadb(folder: Path, port: int, *options: str) -> subprocess.Popen[bytes]:
    data = folder / "data"
    as_root = ["--user=root"] if os.geteuid() == 0 else []
    subprocess.run(
        [
            _program("mariadb-install-db"),
            "--no-defaults",
            f"--datadir={data}",
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
            *as_root,
        ],
        check=True,
        capture_output=True,
    )
    return subprocess.Popen(
        [
            _program("mariadbd"),
            "--no-defaults",
            f"--datadir={data}",
            f"--socket={folder / 'socket'}",
            "--bind-address=127.0.0.1",
            f"--port={port}",
            f"--log-error={folder / 'log'}",
            "--innodb-buffer-pool-size=64M",
            "--innodb-flush-log-at-trx-commit=0",
            "--skip-log-bin",
            *as_root,
            *options,
        ]
    )


def _program(name: str) -> str:
    path = os.environ.get("PATH", "")
    found = shutil.which(name, path=f"{path}:/usr/sbin:/usr/local/sbin")
    if found is None:
        raise RuntimeError(f"{name} is missing: `make test` installs it.")
    return found


def _await_mariadb(process: subprocess.Popen[bytes], folder: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            MySQLdb.connect(unix_socket=str(folder / "socket"), user="root").close()
        except MySQLdb.OperationalError:
            time.sleep(0.1)
        else:
            return
    log = folder / "log"
    said = log.read_text()[-2000:] if log.exists() else ""
    raise RuntimeError(f"mariadbd did not start: {said}")


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
