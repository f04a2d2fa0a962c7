"""The statements of FABRIC_DATA/nl2sql that people wrote, in the dialects of servers."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import sqlglot
from sqlglot import exp

from connections.databases.base import Schema

SETS = ("defog", "spider_en", "spider_de")
FILES = ("questions_gen", "instruct_basic", "instruct_advanced")
_SOME_OF = re.compile(r"\{([^}]*)\}")


@dataclass(frozen=True, slots=True)
class Gold:
    """A statement for one database of a set."""

    set: str
    database: str
    sql: str


def scripts(folder: Path, name: str, dialect: str) -> dict[str, Path]:
    """Return the scripts that make the databases of a set, by database."""
    return {path.stem: path for path in sorted((folder / name / dialect).glob("*.sql"))}


def gold(folder: Path, dialect: str, schemas: Mapping[str, Schema]) -> Iterator[Gold]:
    """Yield the gold statements; `schemas` are by set and database, as `set/database`."""
    yield from _defog(folder / "defog", dialect)
    for name in SETS[1:]:
        lines = (folder / name / "questions.jsonl").read_text("utf-8").splitlines()
        for line in filter(None, lines):
            asked = json.loads(line)
            schema = schemas[f"{name}/{asked['db_id']}"]
            yield Gold(name, asked["db_id"], from_sqlite(asked["query"], schema))


def _defog(folder: Path, dialect: str) -> Iterator[Gold]:
    """Yield every alternative, with all of the columns that it leaves the choice of."""
    for file in FILES:
        with (folder / f"{file}_{dialect}.csv").open(encoding="utf-8") as lines:
            for row in csv.DictReader(lines):
                for part in filter(str.strip, row["query"].split(";")):
                    sql = _SOME_OF.sub(lambda found: found[1], part).strip()
                    yield Gold("defog", row["db_name"], sql)


def from_sqlite(sql: str, schema: Schema) -> str:
    """Return a statement of SQLite in the dialect of a schema.

    SQLite compares names without case, and takes a name in double quotes that there is
    not for a text.
    """
    tables = {table.name.lower(): table.name for table in schema.tables}
    columns = {
        column.name.lower(): column.name
        for table in schema.tables
        for column in table.columns
    }
    tree = sqlglot.parse_one(sql, read="sqlite")
    for node in list(tree.find_all(exp.Column, exp.Table)):
        known = columns if isinstance(node, exp.Column) else tables
        name = node.this
        if name.name.lower() in known:
            name.replace(exp.to_identifier(known[name.name.lower()], quoted=True))
        elif isinstance(node, exp.Column) and name.args.get("quoted"):
            node.replace(exp.Literal.string(name.name))
    for node in tree.find_all(exp.Column):
        owner = node.args.get("table")
        if owner is not None and owner.name.lower() in tables:
            node.set(
                "table", exp.to_identifier(tables[owner.name.lower()], quoted=True)
            )
    return tree.sql(dialect=schema.dialect)
