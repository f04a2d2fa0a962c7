"""The address the site listens at, and the claim to it and to the data root."""

from __future__ import annotations

import fcntl
import http.client
import os
from dataclasses import dataclass
from pathlib import Path

from connections import embedded

_claimed: list[int] = []  # descriptor of the lock, held until the process ends


class StartError(RuntimeError):
    """The site cannot start here; the text says what to do."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where the web process listens."""

    host: str
    port: int

    @property
    def reachable(self) -> str:
        """The host to ask from this machine."""
        return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)  # noqa: S104

    @property
    def url(self) -> str:
        host = self.reachable
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/"


def address() -> Address:
    """Return where to listen, from FABRIC_HOST and PORT."""
    port = os.environ.get("PORT", "").strip() or "8000"
    if not port.isdecimal() or not 0 < int(port) < 65_536:
        raise StartError(f"PORT={port!r} is not a port number.")
    host = os.environ.get("FABRIC_HOST", "").strip() or "127.0.0.1"
    return Address(host, int(port))


def claim(root: Path | None = None) -> Address:
    """Return the address, ours alone: no second Fabric of this folder, a free port."""
    where = address()
    if _claimed:
        return where
    folder = embedded.var_folder(root)
    try:
        embedded.make_open(folder)
        lock = os.open(folder / "supervisor.lock", os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise StartError(
            f"{error.filename} cannot be used ({error.strerror}): run Fabric as the "
            "user who owns the folder, or set FABRIC_VAR to one of your own."
        ) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.read(lock, 200).decode().strip()
        os.close(lock)
        raise StartError(
            f"Fabric already runs from this folder ({holder}): stop it first with "
            "Ctrl-C, or set FABRIC_VAR to another folder."
        ) from None
    if not embedded.is_free(where.port, where.host):
        os.close(lock)
        raise StartError(
            f"Port {where.port} of {where.host} cannot be listened on, most likely "
            "because another program does: choose another, such as "
            f"`PORT={where.port + 1} make run`."
        )
    os.truncate(lock, 0)
    os.write(lock, f"process {os.getpid()}, {where.url}".encode())
    _claimed.append(lock)
    return where


def answers(web: Address) -> bool:
    """Tell whether the site says it is healthy."""
    client = http.client.HTTPConnection(web.reachable, web.port, timeout=1)
    try:
        client.request("GET", "/healthz")
        return client.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        client.close()
