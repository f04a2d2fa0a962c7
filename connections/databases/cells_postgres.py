"""Cells of PostgreSQL: loaders that never fail, and read no more than is kept."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import psycopg
from psycopg import adapters
from psycopg.abc import Buffer
from psycopg.adapt import Loader

from connections.databases.base import Family
from connections.databases.caps import BINARY_SHOWN, Cutter

FAMILIES: Mapping[str, Family] = {
    "bool": "boolean",
    **dict.fromkeys(
        ("int2", "int4", "int8", "oid", "float4", "float8", "numeric"), "number"
    ),
    "date": "date",
    **dict.fromkeys(("time", "timetz"), "time"),
    **dict.fromkeys(("timestamp", "timestamptz"), "timestamp"),
    **dict.fromkeys(("json", "jsonb"), "json"),
    "bytea": "binary",
    **dict.fromkeys(("text", "varchar", "bpchar", "name", '"char"', "uuid"), "text"),
}
# Loaded by psycopg into what Python has for them; the rest stays the server's text.
OF_PYTHON = frozenset(
    name
    for name, family in FAMILIES.items()
    if family in ("boolean", "number", "date", "time", "timestamp")
) | {"interval", "uuid"}
# The first one that is not of the server's own: an enumeration, or of an extension.
FIRST_OWN_OID = 16_384
# A month has no number of days: what names one stays a text.
VAGUE = re.compile(rb"mon|year")


def family_of(oid: int) -> Family:
    """Return how values of a type compare; types of the database's own are text."""
    info = adapters.types.get(oid)
    if info is None:
        return "text" if oid >= FIRST_OWN_OID else "other"
    # By an array's oid its element is found.
    return FAMILIES.get(info.name, "other") if info.oid == oid else "other"


def install_loaders(connection: psycopg.Connection[Any], cutter: Cutter) -> None:
    """Make all that `connection` reads from now on cells, cut by `cutter`."""
    kept = {info.oid: info.name for info in adapters.types if info.name in OF_PYTHON}
    text, binary = _text_loader(cutter), _binary_loader(cutter)
    # 0: all that no loader is known for.
    for oid in (0, *_all_oids()):
        if oid not in kept:
            connection.adapters.register_loader(oid, text)
    for oid, name in kept.items():
        loader = connection.adapters.get_loader(oid, psycopg.pq.Format.TEXT)
        if loader is not None and name not in ("bool", "int2", "int4", "int8", "oid"):
            guarded = _forgiving(loader, text, vague=name == "interval")
            connection.adapters.register_loader(oid, guarded)
    connection.adapters.register_loader("bytea", binary)


def _all_oids() -> list[int]:
    oids = [(info.oid, info.array_oid) for info in adapters.types]
    return [oid for pair in oids for oid in pair if oid]


def _text_loader(cutter: Cutter) -> type[Loader]:
    class Text(Loader):
        def load(self, data: Buffer) -> str:
            return cutter.text(data)

    return Text


def _binary_loader(cutter: Cutter) -> type[Loader]:
    class Binary(Loader):
        def load(self, data: Buffer) -> str:
            # As the server writes it: a backslash, an x, two digits a byte.
            size = (len(data) - 2) // 2
            shown = bytes(data[: 2 + 2 * BINARY_SHOWN]).decode("ascii", "replace")
            return cutter.hexadecimal(shown[2:], size)

    return Binary


def _forgiving(loader: Any, text: type[Loader], *, vague: bool) -> type[Loader]:
    """Return a loader whose values outside of Python's range stay the server's text:
    a date BC, the time 24:00, infinity."""

    class Forgiving(Loader):
        def __init__(self, oid: int, context: Any = None) -> None:
            super().__init__(oid, context)
            self._loader = loader(oid, context)
            self._text = text(oid, context)

        def load(self, data: Buffer) -> Any:
            if vague and VAGUE.search(bytes(data)):
                return self._text.load(data)
            try:
                return self._loader.load(data)
            except (psycopg.Error, ValueError, OverflowError):
                return self._text.load(data)

    return Forgiving
