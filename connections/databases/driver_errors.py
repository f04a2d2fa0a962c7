"""The errors that a server's driver raises, by what the server speaks."""

from __future__ import annotations

import psycopg

from connections.databases.base import Flavour


def driver_errors(flavour: Flavour) -> tuple[type[Exception], ...]:
    """Return what to catch around a statement."""
    if flavour == "postgres":
        return (psycopg.Error,)
    # Built where its system library is; without it PostgreSQL works all the same.
    import MySQLdb

    return (MySQLdb.Error,)
