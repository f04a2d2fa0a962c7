"""The hostile corpus: none passes the guard, and the servers hold without it."""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path
from unittest.mock import patch

import pytest

from connections.databases import guard_calls, guard_expressions, guard_scopes
from connections.databases.base import Guarded, GuardRefused
from connections.databases.guard import guard
from tests.connections.databases.hostile import Hostile, hostile
from tests.connections.databases.shop import shop_schema

FLOOR = 1100  # statements over both engines; at least so many must be tried
SCHEMAS = {"postgres": shop_schema("postgres"), "mysql": shop_schema("mariadb")}
CARRIERS = (
    "SELECT id FROM customers WHERE name = '{}'",
    "SELECT id FROM customers WHERE id = {}",
    "SELECT id FROM customers ORDER BY {}",
    "{}",
)


def passed(corpus: list[Hostile]) -> list[tuple[Hostile, Guarded]]:
    """Return what the guard lets through; any error but a refusal is raised."""
    found = []
    for one in corpus:
        try:
            found.append((one, guard(one.sql, SCHEMAS[one.engine], limit=100)))
        except GuardRefused:
            continue
    return found


def test_no_hostile_statement_passes() -> None:
    corpus = hostile()
    assert len(corpus) >= FLOOR
    assert min(Counter(one.engine for one in corpus).values()) >= FLOOR // 3
    assert [one.sql for one, _ in passed(corpus)] == []


def test_with_a_rule_switched_off_hostile_statements_pass() -> None:
    everything = {flavour: _All() for flavour in ("postgres", "mysql", "mariadb")}
    with (
        patch.object(guard_calls, "FUNCTIONS", everything),
        patch("connections.databases.guard.FUNCTIONS", everything),
    ):
        assert len(passed(hostile())) > 100
    with patch.object(guard_expressions, "_check_exposure", lambda *_: None):
        assert len(passed(hostile())) > 30
    with patch.object(guard_scopes, "_unshadowed", lambda found, _: found):
        assert len(passed(hostile())) >= 2


class _All:
    def __contains__(self, _: object) -> bool:
        return True


def payloads() -> list[str]:
    folder = os.environ.get("FABRIC_DATA", "").strip()
    if not folder:
        pytest.skip("FABRIC_DATA names no folder of real data.")
    found: dict[str, None] = {}
    for path in sorted(Path(folder, "security", "sql").rglob("*")):
        if not path.is_file() or path.name in ("LICENSE", "README.md"):
            continue
        text = path.read_text("utf-8", "replace")
        if path.suffix == ".md":
            blocks = re.findall(r"```(?:sql|ps1|powershell)?\n(.*?)```", text, re.S)
            text = "\n".join(blocks)
        found |= dict.fromkeys(
            line.strip() for line in text.splitlines() if line.strip()
        )
    return list(found)


def test_no_real_payload_reads_what_is_hidden_or_calls_what_is_not_listed() -> None:
    """A payload in a carrier may be a harmless SELECT; it then is one of the shop."""
    texts = payloads()
    assert len(texts) >= 1000
    harmful = re.compile(
        r"sleep|benchmark|load_file|outfile|information_schema|pg_[a-z]|mysql\.|version|"
        r"@|password|secrets|current_user|database\(|user\(|xp_|waitfor|utl_|dbms_",
        re.I,
    )
    tried = Counter()
    for engine, schema in SCHEMAS.items():
        for text in texts:
            for carrier in CARRIERS:
                tried[engine] += 1
                try:
                    out = guard(carrier.replace("{}", text), schema, limit=10)
                except GuardRefused:
                    continue
                tried[engine, "passed"] += 1
                assert out.sql.startswith(("SELECT ", "WITH "))
                bare = re.sub(r"'(?:[^']|'')*'", "''", out.sql)
                assert not harmful.search(bare), (text, out.sql)
    print(dict(tried))  # noqa: T201 - the counts are the result
    assert tried["postgres"] >= 4000
