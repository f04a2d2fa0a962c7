"""Loads the demo company's operational database, as its owner, for its reader."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, LiteralString

import psycopg
from psycopg.sql import SQL, Identifier

# Its dates are relative to the moment of loading: "last week" must have rows.
FRESH = timedelta(days=1)
_PREFIX = "Tarnwick, loaded "
# Two sites that start at once load one after the other.
_LOCK = "SELECT pg_advisory_lock(hashtext('fabric demo'))"
_COMMENT_NOW: LiteralString = """
    SELECT coalesce(shobj_description(d.oid, 'pg_database'), '')
      FROM pg_database d WHERE d.datname = current_database()
"""
_USE: LiteralString = "GRANT USAGE ON SCHEMA public TO {reader}"
# Given beforehand, so that the tables are never there without it.
_READ: LiteralString = (
    "ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO {reader}"
)


def load_script(login: dict[str, Any], script: str, *, reader: str) -> bool:
    """Run the script in the database of `login`; return whether that was due.

    `login` are Django's settings of its owner. `reader` may read the tables, nothing
    else. Loaded within a day, nothing is done.
    """
    now = datetime.now(UTC)
    with psycopg.connect(
        host=login["HOST"],
        port=login["PORT"],
        user=login["USER"],
        password=login["PASSWORD"],
        dbname=login["NAME"],
        autocommit=True,
        connect_timeout=10,
    ) as owner:
        owner.execute(_LOCK)
        if now - _loaded_at(owner) < FRESH:
            return False
        for statement in (_USE, _READ):
            owner.execute(SQL(statement).format(reader=Identifier(reader)))
        owner.execute(script.encode())
        stamp = SQL("COMMENT ON DATABASE {name} IS {words}").format(
            name=Identifier(str(login["NAME"])), words=_PREFIX + now.isoformat()
        )
        owner.execute(stamp)
    return True


def _loaded_at(owner: psycopg.Connection) -> datetime:
    row = owner.execute(_COMMENT_NOW).fetchone()
    said = str(row[0]) if row else ""
    try:
        return datetime.fromisoformat(said.removeprefix(_PREFIX))
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
