"""RULE: imports point down, and no module needs another to have come first."""

from __future__ import annotations

import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
LAYERS = ("fabric_site", "memory", "retrieval", "graph", "connections")
LINTER = Path(sys.executable).with_name("lint-imports")


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [LINTER, "--no-cache"], cwd=folder, capture_output=True, text=True, check=False
    )


def copy(folder: Path) -> Path:
    shutil.copy(CHECKOUT / "pyproject.toml", folder)
    for package in LAYERS:
        shutil.copytree(
            CHECKOUT / package,
            folder / package,
            ignore=lambda _, names: [
                n
                for n in names
                if n == "__pycache__" or n.endswith((".safetensors", ".json"))
            ],
        )
    return folder


def test_imports_point_down_and_one_that_points_up_is_noticed(tmp_path):
    copy(tmp_path)
    kept = lint(tmp_path)
    assert kept.returncode == 0, kept.stdout
    assert "1 kept, 0 broken" in kept.stdout
    for above, below in pairwise(LAYERS):
        module = tmp_path / below / "planted.py"
        module.write_text(f"import {above}\n")
        broken = lint(tmp_path)
        assert broken.returncode == 1, f"{below} may import {above}"
        assert f"{below}.planted -> {above}" in broken.stdout
        module.unlink()


IMPORTS = """
import importlib, os, random, sys
import django
django.setup()
from pathlib import Path
names = [
    ".".join(path.with_suffix("").parts) for package in sys.argv[2:]
    for path in Path(package).rglob("*.py")
    if path.stem not in ("__init__", "__main__") and "migrations" not in path.parts
]
random.Random(int(sys.argv[1])).shuffle(names)
ours = [n for n in sys.modules if n.partition(".")[0] in sys.argv[2:]]
for name in names:
    # Each on its own: nothing of ours is loaded but what it imports itself, save
    # the models, of which Django allows one class each.
    importlib.import_module(name)
print(len(names))
"""
ALONE = """
import importlib, sys
from pathlib import Path
import django
from django.apps import apps
django.setup()
kept = {n for n in sys.modules}
failed = []
names = [
    ".".join(path.with_suffix("").parts) for package in sys.argv[1:]
    for path in Path(package).rglob("*.py")
    if path.stem not in ("__init__", "__main__")
    and not {"migrations", "models", "commands"} & set(path.parts)
]
def is_ours(name):
    return name.partition(".")[0] in sys.argv[1:]
def registers(name):
    kinds = (".models", ".admin", "sources", "registry", "records", "providers")
    ends = (".profiles", ".tasks", ".apps", ".entities")
    return any(kind in name for kind in kinds) or name.endswith(ends)
for name in names:
    for loaded in [n for n in sys.modules if is_ours(n) and not registers(n)]:
        del sys.modules[loaded]
    try:
        importlib.import_module(name)
    except ImportError as error:
        failed.append(f"{name}: {error}")
print(len(names), failed)
"""


def run(code: str, *args: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error::ImportWarning", "-c", code, *args],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=False,
        env={
            "PATH": "/usr/bin:/bin",
            "PYTHONPATH": str(CHECKOUT),
            "HOME": "/tmp",  # noqa: S108
            "DJANGO_SETTINGS_MODULE": "fabric_site.settings",
            "DATABASE_URL": "postgres://x:y@127.0.0.1:1/x",
            "CELERY_BROKER_URL": "memory://",
        },
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize("seed", ["1", "2"])
def test_modules_import_in_any_order(seed):
    assert int(run(IMPORTS, seed, *LAYERS)) > 100


def test_a_module_imports_without_another_having_come_first():
    count, _, failed = run(ALONE, *LAYERS).partition(" ")
    assert int(count) > 100
    assert failed.strip() == "[]"
