from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("benchmarks", "connections", "fabric_site", "graph", "memory", "retrieval")
# The system's, Django's, or a benchmark's to its own child: no operator sets them.
NOT_OURS = {
    "PATH",
    "DJANGO_SETTINGS_MODULE",
    "DJANGO_ALLOW_ASYNC_UNSAFE",
    "BENCH_DATABASE",
}
READERS = {"text", "words", "flag", "whole", "number"}


def sources() -> list[Path]:
    found = [ROOT / "manage.py"]
    for folder in FOLDERS:
        found += sorted((ROOT / folder).rglob("*.py"))
    return found


def variables_read(code: str) -> Iterator[str]:
    """Yield the names of the variables that `code` reads from the environment."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = ast.unparse(node.func.value)
            typed = owner in ("env", "environment") and node.func.attr in READERS
            plain = owner.endswith("environ") and node.func.attr == "get"
            named = (typed or plain) and node.args
            argument = node.args[0] if named else None
        elif (
            isinstance(node, ast.Subscript) and ast.unparse(node.value) == "os.environ"
        ):
            argument = node.slice
        else:
            continue
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
            yield argument.value


def listed() -> list[str]:
    text = (ROOT / ".env.example").read_text(encoding="utf-8")
    return re.findall(r"^#([A-Z][A-Z0-9_]+)=", text, re.MULTILINE)


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("env.whole('A', 1, least=0)", ["A"]),
        ("os.environ.get('B', '').strip()", ["B"]),
        ("os.environ['C']", ["C"]),
        ("os.environ.get(name)", []),
        ("other.text('D')", []),
    ],
)
def test_reads_of_the_environment_are_found(code, names):
    assert list(variables_read(code)) == names


def test_the_example_lists_every_variable_that_the_code_reads_and_no_other():
    read = {
        name
        for path in sources()
        for name in variables_read(path.read_text(encoding="utf-8"))
    }
    assert set(listed()) == read - NOT_OURS


def test_the_example_lists_each_variable_once():
    assert sorted(listed()) == sorted(set(listed()))
