"""Databases to discover: loaded by the servers' own programs, dropped afterwards."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from benchmarks.report import Unavailable
from tests.targets import Target, allowed

# A script's own database is made here, under a name of ours.
_OWN_DATABASE = re.compile(
    r"^(?:DROP (?:DATABASE|SCHEMA)|CREATE (?:DATABASE|SCHEMA)|USE|\\c)\b[^;\n]*;[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_SETS = ("defog", "spider_en", "spider_de")


def scripts(engine: str, data: Path) -> dict[str, list[Path]]:
    """Return the scripts of each database there is for `engine`, by a name."""
    databases, nl2sql = data / "databases", data / "nl2sql"
    if engine == "postgres":
        found = {
            "chinook": [databases / "chinook/Chinook_PostgreSql.sql"],
            "northwind": [databases / "northwind_pg/northwind.sql"],
            "sakila": sorted((databases / "sakila_pg").glob("*schema.sql"))
            + sorted((databases / "sakila_pg").glob("*copy.sql")),
            "world": [databases / "world_pg/world.sql"],
        }
    else:
        found = {
            "chinook": [databases / "chinook/Chinook_MySql.sql"],
            "northwind": [
                databases / "northwind_mysql/northwind.sql",
                databases / "northwind_mysql/northwind-data.sql",
            ],
        }
    for name in _SETS:
        folder = "postgres" if engine == "postgres" else "mysql"
        for path in sorted((nl2sql / name / folder).glob("*.sql")):
            found[f"{name}_{path.stem}"] = [path]
    return found


@contextmanager
def fresh(target: Target, name: str) -> Iterator[Target]:
    """Yield an empty database, which the target's login may read all of."""
    own = f"bench_{name}"
    quoted = f'"{own}"' if target.engine == "postgres" else f"`{own}`"
    # What a server's own template holds is not ours to compare.
    how = "TEMPLATE template0" if target.engine == "postgres" else ""
    target.run(f"DROP DATABASE IF EXISTS {quoted}", f"CREATE DATABASE {quoted} {how}")
    try:
        if target.engine == "mysql":
            target.run(f"GRANT SELECT ON {quoted}.* TO {target.user}@'127.0.0.1'")
        with allowed(f"{target.host}:{target.port}/{own}"):
            yield replace(target, database=own)
    finally:
        target.run(f"DROP DATABASE IF EXISTS {quoted}")
        if target.engine == "mysql":
            login = f"{target.user}@'127.0.0.1'"
            target.run(f"REVOKE SELECT ON {quoted}.* FROM {login}")  # noqa: S608


@contextmanager
def load(target: Target, name: str, files: Sequence[Path]) -> Iterator[Target]:
    """Yield the target with the database that the scripts make."""
    with fresh(target, name) as own:
        for path in files:
            text = path.read_text(encoding="utf-8", errors="replace")
            _run(own, _OWN_DATABASE.sub("", text).replace("`northwind`.", ""))
        if own.engine == "postgres":
            own.run("ANALYZE", *_grants(own))
        yield own


def _grants(target: Target) -> list[str]:
    with target.admin() as owner:
        rows = owner.execute(
            "SELECT quote_ident(n.nspname) FROM pg_namespace n"
            " WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'"
        )
        return [
            f"GRANT {what} {schema} TO {target.user}"
            for (schema,) in rows.fetchall()
            for what in ("USAGE ON SCHEMA", "SELECT ON ALL TABLES IN SCHEMA")
        ]


def _run(target: Target, text: str) -> None:
    """Give a script to the server's own client; what it refuses of owners and
    languages is of no concern, that it made no table is seen afterwards."""
    client = "psql" if target.engine == "postgres" else "mariadb"
    program = shutil.which(client)
    if program is None:
        raise Unavailable(f"it loads databases with {client}: install it.")
    who, password = str(target.owner["user"]), str(target.owner["password"])
    if target.engine == "postgres":
        login = ["-q", "-X", "-U", who, "-h", target.host, "-p", str(target.port)]
        login += ["-d", target.database]
        environment = {"PGPASSWORD": password}
    else:
        login = ["--no-defaults", "--force", "-u", who, "-h", target.host]
        login += ["-P", str(target.port), "--default-character-set=utf8mb4"]
        login += [target.database]
        environment = {"MYSQL_PWD": password}
    subprocess.run(  # noqa: S603 - a client found in the path, its script on stdin
        [program, *login],
        input=text.encode(),
        env={**os.environ, **environment},
        capture_output=True,
        check=False,
        timeout=300,
    )
