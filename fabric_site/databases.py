"""The databases, from the environment: `settings.DATABASES`.

`default` serves with DML only, `owner` migrates, `arms` is the same as `default` for
the arms of a search that run beside the asker's connection.
"""

from __future__ import annotations

from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured

from connections import embedded
from fabric_site import environment as env
from fabric_site.options import ef_search

# A filtered HNSW scan stops short of the rows asked for unless it may go on.
_SCANS = (
    "-c hnsw.iterative_scan=strict_order -c hnsw.ef_search={ef}"
    " -c hnsw.max_scan_tuples=50000"
)


def databases() -> dict[str, dict[str, Any]]:
    """Return the databases of the environment, else those of the embedded server."""
    url = env.text("DATABASE_URL")
    default, owner = _given(url) if url else _embedded()
    options = {**default.get("OPTIONS", {}), "options": _SCANS.format(ef=ef_search())}
    if env.flag("FABRIC_PREPARED_STATEMENTS", True):
        options["prepare_threshold"] = 1  # of what `connections.prepared` reads
    options.pop("pool", None)
    pool = {
        "min_size": 0,
        "max_size": env.whole("FABRIC_POOL_SIZE", 16, least=1, most=500),
        "timeout": 10,
    }
    common = {"CONN_HEALTH_CHECKS": True}
    # A thread each, which keeps a connection of its own.
    arms = {"CONN_MAX_AGE": None, "OPTIONS": options, "TEST": {"MIRROR": "default"}}
    return {
        "default": {**default, **common, "OPTIONS": {**options, "pool": pool}},
        "owner": {**owner, **common},
        "arms": {**default, **common, **arms},
    }


def demo_database() -> dict[str, Any] | None:
    """Return the demo company's database as its reader; a server of one's own has none."""
    if env.text("DATABASE_URL"):
        return None
    return embedded.ensure_postgres().django("reader", embedded.DEMO_DATABASE)


def _given(url: str) -> tuple[dict[str, Any], dict[str, Any]]:
    owner = env.text("FABRIC_OWNER_DATABASE_URL", url)
    return (
        _database(url, "DATABASE_URL"),
        _database(owner, "FABRIC_OWNER_DATABASE_URL"),
    )


def _embedded() -> tuple[dict[str, Any], dict[str, Any]]:
    server = embedded.ensure_postgres()
    return server.django("app"), server.django("owner")


def _database(url: str, variable: str) -> dict[str, Any]:
    try:
        database = environ.Env.db_url_config(url)
    except (ValueError, environ.ImproperlyConfigured):
        raise ImproperlyConfigured(f"{variable} is not a database address.") from None
    if database.get("ENGINE") != "django.db.backends.postgresql":
        raise ImproperlyConfigured(f"{variable} must begin with postgres://.")
    return dict(database)
