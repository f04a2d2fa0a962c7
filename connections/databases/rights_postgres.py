"""What a login of PostgreSQL may, from its catalogue."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from connections.databases import rights_sql
from connections.databases.rights_base import (
    Finding,
    Level,
    Rights,
    listed,
    sort_findings,
)

Read: TypeAlias = Callable[[str], Sequence[tuple[Any, ...]]]
FLAGS: tuple[tuple[str, Level, str], ...] = (
    ("rolsuper", "superuser", "may do everything"),
    ("rolcreatedb", "beyond", "may create databases"),
    ("rolcreaterole", "beyond", "may create logins and give rights"),
    ("rolreplication", "beyond", "may copy the whole server by replication"),
    ("rolbypassrls", "beyond", "passes by row-level security"),
)
# Roles that PostgreSQL brings; its documentation says of the first three that they
# lead to a superuser's rights.
ROLES: dict[str, tuple[Level, str]] = {
    "pg_read_server_files": ("superuser", "reads any file of the server's machine"),
    "pg_write_server_files": ("superuser", "writes any file of the server's machine"),
    "pg_execute_server_program": ("superuser", "runs programs on the server's machine"),
    "pg_write_all_data": ("beyond", "changes every table"),
    "pg_read_all_data": ("note", "reads every table, whatever was granted"),
    "pg_signal_backend": ("beyond", "ends the sessions of others"),
    "pg_signal_autovacuum_worker": ("beyond", "stops the server's upkeep"),
    "pg_create_subscription": ("beyond", "subscribes to other servers"),
    "pg_maintain": ("beyond", "runs upkeep on every table"),
    "pg_checkpoint": ("beyond", "forces checkpoints"),
    "pg_use_reserved_connections": ("beyond", "takes connections kept for others"),
    "pg_monitor": ("note", "sees the statements and settings of all others"),
    "pg_read_all_settings": ("note", "sees every setting"),
    "pg_read_all_stats": ("note", "sees the statements of all others"),
    "pg_stat_scan_tables": ("note", "may lock tables to look at them"),
}
RIGHTS: dict[str, str] = {
    "INSERT": "It may add rows.",
    "UPDATE": "It may change rows.",
    "DELETE": "It may delete rows.",
    "TRUNCATE": "It may empty tables.",
    "REFERENCES": "It may make foreign keys to tables.",
    "TRIGGER": "It may make triggers on tables.",
    "MAINTAIN": "It may run upkeep on tables.",
    "USAGE": "It may advance sequences.",
}
CALLS: dict[str, tuple[Level, str]] = {
    "definer": (
        "beyond",
        "It may call functions that run with their owner's rights: what these write, "
        "it writes.",
    ),
    "dblink": ("beyond", "It may open connections of the server to other databases."),
    "guarded": ("beyond", "It may call functions that are kept from others."),
}


def postgres_rights(read: Read, *, database: str, schema: str) -> Rights:
    """Return what the login may beyond reading, through its roles too."""
    roles = read(rights_sql.ROLES)
    login = next((str(name) for name, is_self, *_ in roles if is_self), "")
    found = list(_of_roles(roles))
    # A superuser is a member of every role and may everything: the rest says nothing.
    if not any(row[2] for row in roles if row[1]):
        found += _of_objects(read)
    advice = _advice(login, database, schema or "public") if found else ()
    return Rights(findings=sort_findings(found), advice=advice)


def _of_roles(roles: Sequence[tuple[Any, ...]]) -> Iterator[Finding]:
    is_master = any(row[2] for row in roles if row[1])
    for name, is_self, *flags in roles:
        if not is_self and is_master:
            continue
        for (flag, level, words), has in zip(FLAGS, flags, strict=True):
            if has:
                through = "" if is_self else f" as a member of {name}"
                yield Finding(
                    level=level, right=flag, where=name, words=f"It {words}{through}."
                )
        if name in ROLES:
            level, words = ROLES[name]
            words = f"It {words}, as a member of {name}."
            yield Finding(level=level, right=name, where=name, words=words)


def _of_objects(read: Read) -> Iterator[Finding]:
    yield from _grouped(read(rights_sql.ON_TABLES), "beyond", RIGHTS)
    for kind, names in _by_first(read(rights_sql.OWNED)).items():
        words = f"It owns this {kind} and may change or drop it."
        yield Finding(
            level="beyond", right=f"owner of {kind}", where=listed(names), words=words
        )
    for kind, name, right in read(rights_sql.MAY_CREATE):
        is_temporary = right == "TEMPORARY"
        words = "temporary tables" if is_temporary else f"things in this {kind}"
        yield Finding(
            level="note" if is_temporary else "beyond",
            right=right,
            where=f"{kind} {name}",
            words=f"It may create {words}.",
        )
    for kind, names in _by_first(read(rights_sql.MAY_CALL)).items():
        level, words = CALLS[kind]
        yield Finding(level=level, right="EXECUTE", where=listed(names), words=words)
    if servers := [str(row[0]) for row in read(rights_sql.SERVERS)]:
        words = "It may reach other servers through this one."
        yield Finding(
            level="beyond", right="foreign server", where=listed(servers), words=words
        )


def _grouped(
    rows: Sequence[tuple[Any, ...]], level: Level, words: dict[str, str]
) -> Iterator[Finding]:
    for right, names in _by_first(rows).items():
        said = words.get(right, f"It has the right {right}.")
        yield Finding(level=level, right=right, where=listed(names), words=said)


def _by_first(rows: Sequence[tuple[Any, ...]]) -> dict[str, list[str]]:
    grouped = defaultdict(list)
    for first, second, *_ in rows:
        grouped[str(first)].append(str(second))
    return grouped


def _advice(login: str, database: str, schema: str) -> tuple[str, ...]:
    return (
        "CREATE ROLE fabric_reader LOGIN PASSWORD '...' NOSUPERUSER CONNECTION LIMIT 4;",
        f"GRANT CONNECT ON DATABASE {_quote(database)} TO fabric_reader;",
        f"GRANT USAGE ON SCHEMA {_quote(schema)} TO fabric_reader;",
        f"GRANT SELECT ON ALL TABLES IN SCHEMA {_quote(schema)} TO fabric_reader;",
        "ALTER ROLE fabric_reader SET default_transaction_read_only = on;",
        f"-- The login {_quote(login)} then has no part in this.",
    )


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
