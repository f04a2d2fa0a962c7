"""The PostgreSQL and the broker that run without being installed; imports no Django."""

from __future__ import annotations

from connections.embedded.bootstrap_secrets import ensure_secrets
from connections.embedded.errors import EmbeddedError
from connections.embedded.logins import DATABASE, DEMO_DATABASE, Login
from connections.embedded.paths import make_open, var_folder
from connections.embedded.postgres import (
    Server,
    ensure_postgres,
    is_free,
    postgres_runs,
    stop_postgres,
)
from connections.embedded.processes import unless_used
from connections.embedded.valkey import (
    ensure_valkey,
    stop_valkey,
    valkey_runs,
    valkey_url,
)

__all__ = [
    "DATABASE",
    "DEMO_DATABASE",
    "EmbeddedError",
    "Login",
    "Server",
    "ensure_postgres",
    "ensure_secrets",
    "ensure_valkey",
    "is_free",
    "make_open",
    "postgres_runs",
    "stop_postgres",
    "stop_valkey",
    "unless_used",
    "valkey_runs",
    "valkey_url",
    "var_folder",
]
