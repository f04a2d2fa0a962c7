"""Where the embedded servers keep their files, and the system user they run as.

PostgreSQL refuses to run as root. Under root a server runs as an unprivileged user;
when that user cannot reach the data root, data live in `/var/lib/fabric/{hash}`, and
when it cannot reach the wheel's binaries, a copy of them lies beside the data.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import pwd
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from connections.embedded.errors import EmbeddedError

CHECKOUT = Path(__file__).resolve().parents[2]
SYSTEM_FOLDER = Path("/var/lib/fabric")
USERS = ("fabric", "postgres", "nobody")
UNREAD = ("include", "doc", "__pycache__")  # parts of a wheel that no server opens


@dataclass(frozen=True, slots=True)
class Account:
    """The system user that owns a server's files and process."""

    uid: int
    gid: int

    @property
    def name(self) -> str:
        try:
            return pwd.getpwuid(self.uid).pw_name
        except KeyError:
            return str(self.uid)


@dataclass(frozen=True, slots=True)
class Place:
    """A server's folder and, when we are root, the account to run it as."""

    folder: Path
    account: Account | None

    def make(self) -> None:
        """Make the folder, readable by its server alone."""
        make_open(self.folder.parent)
        if not self.folder.is_dir():
            self.folder.mkdir(mode=0o700)
        self.give(self.folder)
        self.folder.chmod(0o700)

    def give(self, path: Path) -> None:
        """Make the server's account the owner of a path."""
        if self.account:
            os.chown(path, self.account.uid, self.account.gid)

    def write(self, path: Path, text: str) -> None:
        """Replace a file whole, readable by its server alone."""
        aside = path.with_name(f"{path.name}.new")
        aside.unlink(missing_ok=True)
        aside.touch(mode=0o600)
        aside.write_text(text)
        self.give(aside)
        aside.replace(path)


def var_folder(root: Path | None = None) -> Path:
    """Return the data root: the argument, `FABRIC_VAR`, or `var` in the checkout."""
    given = root or os.environ.get("FABRIC_VAR")
    return Path(given).resolve() if given else CHECKOUT / "var"


def make_open(folder: Path) -> None:
    """Make missing folders so that the servers' user may pass, whatever the umask."""
    missing = [part for part in (folder, *folder.parents) if not part.exists()]
    for part in reversed(missing):
        part.mkdir(exist_ok=True)
        part.chmod(0o755)


def place(service: str, root: Path | None = None) -> Place:
    """Return where a service lives; what already holds its data is kept."""
    inside = var_folder(root) / service
    if os.geteuid() != 0:
        return Place(inside, None)
    outside = _outside(var_folder(root)) / service
    for folder in (inside, outside):
        if folder.is_dir() and (owner := folder.stat()).st_uid != 0:
            return Place(folder, Account(owner.st_uid, owner.st_gid))
    account = _unprivileged()
    return Place(inside if can_reach(inside, account) else outside, account)


def program(package: str, pattern: str, where: Place) -> Path:
    """Return a wheel's program, copied beside the data if its user cannot run it."""
    found = importlib.util.find_spec(package)
    folders = list(found.submodule_search_locations or ()) if found else []
    programs = [path for folder in folders for path in Path(folder).glob(pattern)]
    if not programs:
        raise EmbeddedError(
            f"The package {package} has no {Path(pattern).name} for this system: run "
            "`make install`, or set DATABASE_URL and CELERY_BROKER_URL to servers of "
            "your own."
        )
    installed = Path(programs[0]).resolve()
    if where.account is None or can_reach(installed, where.account):
        return installed
    return _copied(Path(folders[0]).resolve(), installed, where)


def can_reach(path: Path, account: Account) -> bool:
    """Tell whether an account may enter every folder above a path, and run it."""
    real = path.resolve()
    existing = [part for part in (real, *real.parents) if part.exists()]
    return all(_allows(part, account, 5 if part == real else 1) for part in existing)


def _allows(path: Path, account: Account, wanted: int) -> bool:
    status = path.stat()
    if status.st_uid == account.uid:
        return (status.st_mode >> 6) & wanted == wanted
    if status.st_gid == account.gid:
        return (status.st_mode >> 3) & wanted == wanted
    return status.st_mode & wanted == wanted


def _outside(root: Path) -> Path:
    named = CHECKOUT if root == CHECKOUT / "var" else root
    return SYSTEM_FOLDER / hashlib.sha256(str(named).encode()).hexdigest()[:16]


def _unprivileged() -> Account:
    for name in USERS:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            if name != USERS[0] or not _add_user(name):
                continue
            entry = pwd.getpwnam(name)
        return Account(entry.pw_uid, entry.pw_gid)
    raise EmbeddedError(
        "PostgreSQL refuses to run as root and there is no unprivileged user: run "
        f"`useradd --system {USERS[0]}`, or start Fabric as another user."
    )


def _add_user(name: str) -> bool:
    program = shutil.which("useradd", path="/usr/sbin:/sbin:/usr/bin:/bin")
    if program is None:
        return False
    flags = ["--system", "--user-group", "--no-create-home", "--shell", "/bin/false"]
    command = [program, *flags, name]
    made = subprocess.run(command, check=False, capture_output=True)  # noqa: S603
    return made.returncode == 0 or _exists(name)


def _exists(name: str) -> bool:
    return any(entry.pw_name == name for entry in pwd.getpwall())


def _copied(package: Path, installed: Path, where: Place) -> Path:
    """Copy a wheel's package and its libraries; a newer wheel is copied anew."""
    status = installed.stat()
    folder = where.folder / f"programs-{status.st_size}-{int(status.st_mtime)}"
    copy = folder / package.name / installed.relative_to(package)
    if not copy.exists():
        aside = where.folder / "programs.new"
        shutil.rmtree(aside, ignore_errors=True)
        for source in (package, package.with_name(f"{package.name}.libs")):
            if source.is_dir():
                ignore = shutil.ignore_patterns(*UNREAD)
                shutil.copytree(source, aside / source.name, ignore=ignore)
        _open_to_all(aside)
        for old in where.folder.glob("programs-*"):
            shutil.rmtree(old)
        aside.replace(folder)
    return copy


def _open_to_all(folder: Path) -> None:
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644)
