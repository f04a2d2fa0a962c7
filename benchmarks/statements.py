"""The statements that a search sends, timed alone."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from django.db import connection


class Watch:
    """Times statements that contain `mark`, keeps the first; an `execute_wrapper`."""

    def __init__(self, mark: str) -> None:
        self.mark = mark
        self.took_ms: list[float] = []
        self.first: tuple[str, Any] | None = None

    def __call__(
        self, execute: Callable, sql: str, params: Any, many: bool, context: dict
    ) -> Any:
        if self.mark not in sql:
            return execute(sql, params, many, context)
        started = time.perf_counter()
        answer = execute(sql, params, many, context)
        self.took_ms.append((time.perf_counter() - started) * 1000)
        self.first = self.first or (sql, params)
        return answer


def plan_of(sql: str, params: Any) -> str:
    """Return the plan of a statement, its times and rows included."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, COSTS OFF) {sql}", params)
        return "\n".join(row[0] for row in cursor.fetchall())


def was_used(index: str, plan: str) -> bool:
    """Return whether a plan went through `index`, not only might have."""
    return any(
        index in line and "never executed" not in line for line in plan.splitlines()
    )
