"""How a server serves a connection: where bare names lead, what is set unusually."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from connections.databases import rights_sql
from connections.databases.rights_mysql import mysql_rights

Read: TypeAlias = Callable[[str], Sequence[tuple[Any, ...]]]
# The guard reads a statement as these modes are not set; with them the server reads
# another one: "x" is a name, a backslash ends nothing, || is not "or".
UNUSUAL_MODES = {
    "ANSI_QUOTES": 'it takes "..." for a name, not for a text',
    "NO_BACKSLASH_ESCAPES": "a backslash in a text means nothing to it",
    "PIPES_AS_CONCAT": "|| joins texts there, instead of meaning OR",
}


@dataclass(frozen=True, slots=True)
class Serving:
    """What is true of one connection: `unusual` are sentences, one a setting."""

    schema: str
    is_superuser: bool
    unusual: tuple[str, ...] = ()


def postgres_serving(read: Read) -> Serving:
    schema, conforming, is_super, encoding = read(rights_sql.SAID)[0]
    unusual = []
    if conforming != "on":
        unusual.append(
            "standard_conforming_strings is off: a backslash in a text escapes there."
        )
    if encoding == "SQL_ASCII":
        unusual.append(
            "server_encoding is SQL_ASCII: what its texts are is not known there."
        )
    return Serving(str(schema), is_super == "on", tuple(unusual))


def mysql_serving(read: Read, *, flavour: str) -> Serving:
    schema, modes, _ = read(rights_sql.MYSQL_SAID)[0]
    names = {name.strip().upper() for name in str(modes).split(",")}
    unusual = tuple(
        f"sql_mode has {name}: {said}."
        for name, said in UNUSUAL_MODES.items()
        if name in names
    )
    is_super = mysql_rights(read, flavour=flavour, database=schema).is_superuser
    return Serving(str(schema), is_super, unusual)
