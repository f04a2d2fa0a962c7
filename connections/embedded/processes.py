"""Running the embedded servers: commands as their user, locks, logs, errors."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from connections.embedded.errors import EmbeddedError
from connections.embedded.paths import Place, make_open

LOG_MOST = 10_000_000  # bytes; a longer log is set aside at the next start
_held: dict[Path, int] = {}  # data root -> descriptor of our shared lock


def say(text: str) -> None:
    """Write one line to stderr; stdout belongs to the command's own answer."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def run(
    arguments: Sequence[Path | str], where: Place, log: Path | None = None
) -> tuple[int, str]:
    """Run a program as the server's user; return its exit code and what it logged.

    Output goes to a file: a daemon would keep a pipe open. The environment is minimal,
    so that no secret of ours shows in the server's.
    """
    account = where.account
    with Path(log or os.devnull).open("ab") as output:
        try:
            done = subprocess.run(  # noqa: S603 - our own programs
                [str(argument) for argument in arguments],
                check=False,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd="/",
                env=_environment(),
                start_new_session=True,
                user=account.uid if account else None,
                group=account.gid if account else None,
                extra_groups=[] if account else None,
            )
        except PermissionError as error:
            raise EmbeddedError(_refused(arguments[0], where, error)) from error
    return done.returncode, tail(log) if log else ""


def _environment() -> dict[str, str]:
    path = os.environ.get("PATH", os.defpath)
    return {"PATH": path, "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TZ": "UTC"}


def _refused(program: Path | str, where: Place, error: OSError) -> str:
    if where.account is None:
        return f"{program} cannot be run: {error.strerror}."
    return (
        f"{Path(program).name} must not run as root, and this root may not become "
        f"the user {where.account.name} ({error.strerror}): start Fabric as an "
        "unprivileged user, or set DATABASE_URL and CELERY_BROKER_URL."
    )


def is_alive(pid: int, word: str) -> bool:
    """Tell whether a process lives and names `word` (such as its data) when started."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    if not Path("/proc/self/cmdline").exists():
        return True
    with suppress(OSError):
        return os.fsencode(word) in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold a file lock; others wait for it."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def hold(root: Path) -> None:
    """Say, while this process lives, that it uses the servers of a data root."""
    if root not in _held:
        make_open(root)
        descriptor = os.open(root / "in-use.lock", os.O_RDONLY | os.O_CREAT, 0o644)
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        _held[root] = descriptor


@contextmanager
def unless_used(root: Path) -> Iterator[bool]:
    """Yield whether no other process uses the servers; a new one waits meanwhile."""
    hold(root)
    try:
        fcntl.flock(_held[root], fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        fcntl.flock(_held[root], fcntl.LOCK_SH)
        yield False
        return
    try:
        yield True
    finally:
        os.close(_held.pop(root))


@contextmanager
def explained(where: Place) -> Iterator[None]:
    """Turn what the system says about files into one sentence that names the place."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise EmbeddedError(no_space(where)) from error
        if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
            raise EmbeddedError(
                f"{error.filename or where.folder} cannot be used "
                f"({error.strerror}): run Fabric as the user who owns it, or set "
                "FABRIC_VAR to a folder of your own."
            ) from error
        raise


def no_space(where: Place) -> str:
    return (
        f"The disk of {where.folder} is full: free some space (a new database takes "
        "about 100 MB), then run the same command again."
    )


def tail(log: Path, start: int = 0) -> str:
    """Return what a log holds from an offset on, its last 20 kB at most."""
    try:
        with log.open("rb") as file:
            file.seek(max(start, log.stat().st_size - 20_000))
            return file.read().decode(errors="replace")
    except FileNotFoundError:
        return ""


def size(log: Path) -> int:
    return log.stat().st_size if log.exists() else 0


def rotate(log: Path) -> None:
    """Set a long log aside, over the one set aside before."""
    if size(log) > LOG_MOST:
        log.replace(log.with_suffix(".log.1"))
