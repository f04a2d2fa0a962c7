"""The database of the speed benchmark: one big tenant, two small ones, and others."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.database import kept_database, migrations_version
from benchmarks.load import fill
from benchmarks.material import SEED, Material, material
from connections.embedded.paths import var_folder
from connections.models import Project, Role, User

VERSION = 1  # of what is loaded; a kept database of another is made anew
BIG, MEDIUM, SMALL = 0.9, 5000, 50


@dataclass(frozen=True, slots=True)
class Workspace:
    """Three tenants' projects, a member of the big one, and where the peers' files go.

    What is left of `size` belongs to others, so that the filter filters.
    """

    size: int
    material: Material
    big: Project
    medium: Project
    small: Project
    member: User
    folder: Path


@contextmanager
def workspace(size: int) -> Iterator[Workspace]:
    """Return the workspace of `size` messages: loaded, or as it was kept."""
    source = material(size)
    shape = f"{VERSION} {SEED} {migrations_version()} {source.name}"
    version = hashlib.sha256(shape.encode()).hexdigest()[:16]
    with _folder(size, version) as folder:

        def load() -> None:
            shutil.rmtree(folder, ignore_errors=True)
            shares = _shares(size).items()
            fill({path: (count, source.texts(path, count)) for path, count in shares})

        with kept_database(str(size), version, load):
            yield _found(size, source, folder)


def _found(size: int, source: Material, folder: Path) -> Workspace:
    big, medium, small = (
        Project.objects.named(f"{name}/main") for name in ("big", "medium", "small")
    )
    return Workspace(size, source, big, medium, small, _member(big), folder)


def _shares(size: int) -> dict[str, int]:
    shares = {
        "big/main": int(size * BIG),
        "medium/main": min(MEDIUM, size // 20),
        "small/main": SMALL,
    }
    return shares | {"others/main": max(1, size - sum(shares.values()))}


def _member(project: Project) -> User:
    user, _ = User.objects.get_or_create(email="member@acme.test")
    project.memberships.get_or_create(user=user, defaults={"role": Role.VIEWER})
    return user


@contextmanager
def _folder(size: int, version: str) -> Iterator[Path]:
    if os.environ.get("FABRIC_BENCH_KEEP", "").strip():
        kept = var_folder() / "benchmarks"
        for old in kept.glob(f"{size}-*"):
            if old.name != f"{size}-{version}":
                shutil.rmtree(old)
        yield kept / f"{size}-{version}"
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder, "peers")
