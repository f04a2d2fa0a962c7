"""The programs the site consists of, and the servers it starts where none is given."""

from __future__ import annotations

import sys

from connections import embedded
from fabric_site.start import Address
from fabric_site.supervisor import Program, Watch


def site_programs(where: Address) -> list[Program]:
    """Return web, beat and worker, in the order in which they are stopped."""
    python = (sys.executable, "-m")
    web: tuple[str, ...] = (*python, "uvicorn", "fabric_site.asgi:application")
    web += ("--host", where.host)
    web += ("--port", str(where.port), "--log-level", "warning")
    web += ("--no-server-header", "--timeout-graceful-shutdown", "5")
    celery = (*python, "celery", "--quiet", "-A", "fabric_site")
    scheduler = "django_celery_beat.schedulers:DatabaseScheduler"
    beat = (*celery, "beat", "--scheduler", scheduler, "--pidfile=")
    worker = (*celery, "worker", "--without-gossip", "--without-mingle")
    return [
        Program("web", web),
        Program("beat", beat, grace=5),
        Program("worker", worker, grace=20),
    ]


def embedded_watches(*, valkey: bool, postgres: bool) -> list[Watch]:
    """Return the watches of the embedded servers in use, in their order of stopping."""

    def starting(name: str) -> Program:
        arguments = (sys.executable, "-m", "connections.embedded", "start", name)
        return Program(name, arguments, grace=60)

    watches = [Watch(embedded.valkey_runs, starting("valkey"))] * valkey
    return watches + [Watch(embedded.postgres_runs, starting("postgres"))] * postgres


def stop_servers(*, valkey: bool, postgres: bool) -> list[str]:
    """Stop the embedded servers, unless another command uses them; return notes."""
    with embedded.unless_used(embedded.var_folder()) as alone:
        if not alone:
            return [
                "PostgreSQL and Valkey stay: another Fabric command uses them. "
                "`.venv/bin/python -m connections.embedded stop` stops them."
            ]
        if valkey:
            embedded.stop_valkey()
        if postgres:
            embedded.stop_postgres()
    return []
