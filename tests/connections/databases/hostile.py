"""Statements that must never run, by what they are after and by engine.

Those of a line are in the folder `hostile`, a line `-- kind` before those of a kind.

The database they are meant for is `tests.connections.databases.shop`: customers with a
hidden `password` and `note`, a masked `email`, a `salary` for figures only; orders; a
hidden table `secrets`.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).with_name("hostile")


@dataclass(frozen=True, slots=True)
class Hostile:
    """A statement for an engine, and what it is after."""

    engine: str
    kind: str
    sql: str


def _lines(file: str, engine: str) -> Iterator[Hostile]:
    kind = ""
    for line in (FOLDER / f"{file}.sql").read_text("utf-8").split("\n"):
        if line.startswith("-- "):
            kind = line.removeprefix("-- ")
        elif line:
            yield Hostile(engine, kind, line)


def _made(engine: str) -> Iterator[Hostile]:
    """Yield what no line holds: nests, endless texts, odd characters."""
    deep = 100_000
    marks = "\x00\x01\x08\x0b\x0c\x1a\x1b\x7f\x85\u2028\u2029\u200b\u202e\ufeff\ud800"
    for mark in marks:
        yield Hostile(engine, "text", f"SELECT id{mark} FROM customers")  # noqa: S608
    joins = "".join(f" JOIN customers c{n} ON c{n}.id = c0.id" for n in range(1, 40))
    ctes = ", ".join(f"q{n} AS (SELECT 1 AS a)" for n in range(60))
    nests = [
        "SELECT " + "(" * deep + "1" + ")" * deep,
        "SELECT " + "(" * 5_000 + "1" + ")" * 5_000,
        "SELECT " + "(" * 200 + "1" + ")" * 200,
        "SELECT " + "abs(" * 60 + "1" + ")" * 60,
        "SELECT " + "[" * 9_000,
        "SELECT " + "CASE WHEN " * 900 + "1",
        "SELECT " + "- " * 9_000 + "1",
        "SELECT " + "NOT " * 4_500 + "true",
        "SELECT 1" + " UNION SELECT 1" * 60,
        "SELECT 1" + " UNION ALL (SELECT 1" * 60 + ")" * 60,
        "SELECT " + "(SELECT " * 30 + "1" + ")" * 30,
        "SELECT " + "1, " * 9_000 + "1",
        "SELECT " + "1 + " * 4_500 + "1",
        "SELECT '" + "a" * 30_000 + "'",
        "SELECT c0.id FROM customers c0" + joins,  # noqa: S608
        f"WITH {ctes} SELECT a FROM q1",  # noqa: S608
        "SELECT id FROM customers WHERE id IN (" + "1," * 6_000 + "1)",
        "SELECT id AS " + "a" * 300 + " FROM customers",
    ]  # fmt: skip
    for sql in nests:
        yield Hostile(engine, "bombs", sql)
    word = base64.b64encode(b"password").decode()
    yield Hostile(engine, "text", f"SELECT from_base64('{word}')")
    yield Hostile(engine, "text", "")
    yield Hostile(engine, "text", "   ")
    yield Hostile(engine, "text", "-- nothing")
    yield Hostile(engine, "text", "SELECT id FROM customers WHERE name = 'open")
    yield Hostile(engine, "text", "SELECT id FROM customers /* open")


def hostile() -> list[Hostile]:
    """Return the whole corpus; shared statements once for each engine."""
    found: list[Hostile] = []
    for engine in ("postgres", "mysql"):
        found += [*_lines("both", engine), *_lines(engine, engine), *_made(engine)]
    return list(dict.fromkeys(found))
