"""Is it alive, can it serve, how much does it hold."""

from __future__ import annotations

from functools import lru_cache

from django.db import DatabaseError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from fabric_site import health_sql

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@never_cache
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """Say that the process answers; nothing else is asked."""
    return JsonResponse({"status": "ok"})


@never_cache
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """Say whether the database answers and has every migration; 503 if not."""
    try:
        missing = len(_migrations() - _applied())
    except DatabaseError:
        checks = {"database": "unreachable", "migrations": "unknown"}
    else:
        checks = {
            "database": "ok",
            "migrations": f"{missing} missing" if missing else "ok",
        }
    ready = set(checks.values()) == {"ok"}
    return JsonResponse(
        {"status": "ok" if ready else "unavailable", **checks},
        status=200 if ready else 503,
    )


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Return counts over the whole site for Prometheus; no name of anything in it.

    Row counts are the database's running estimate: exact ones would read every table.
    """
    try:
        with connection.cursor() as cursor:
            cursor.execute(health_sql.TABLE_ROWS)
            tables = cursor.fetchall()
            cursor.execute(health_sql.RUNS_BY_STATE)
            runs = cursor.fetchall()
    except DatabaseError:
        return HttpResponse(
            _gauge("up", "Whether it can serve.", {"": 0}), METRICS_TYPE
        )
    said = (
        _gauge("up", "Whether it can serve.", {"": 1}),
        _gauge("table_rows", "Rows of a table, about.", _labelled("table", tables)),
        _gauge("sync_runs", "Runs of sources, by state.", _labelled("state", runs)),
    )
    return HttpResponse("".join(said), METRICS_TYPE)


@lru_cache(maxsize=1)
def _migrations() -> frozenset[tuple[str, str]]:
    """Return the migrations of the code, which do not change while it runs."""
    return frozenset(MigrationLoader(None).graph.nodes)


def _applied() -> set[tuple[str, str]]:
    return set(MigrationRecorder(connection).applied_migrations())


def _labelled(name: str, rows: list[tuple[str, int]]) -> dict[str, int]:
    return {f'{{{name}="{value}"}}': number for value, number in rows}


def _gauge(name: str, meaning: str, values: dict[str, int]) -> str:
    lines = [f"# HELP fabric_{name} {meaning}", f"# TYPE fabric_{name} gauge"]
    lines += [f"fabric_{name}{labels} {number}" for labels, number in values.items()]
    return "\n".join(lines) + "\n"
