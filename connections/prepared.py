"""Statements that the server plans once a connection, not at every question.

On tables with many indexes planning takes longer than a look-up does. Worth it only for
a statement whose best plan does not hang on its values: not for full-text search, where
a rare word wants another plan than a common one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from psycopg import Cursor


class _Preparing(Cursor[tuple[Any, ...]]):
    """Values travel apart from the text, which is prepared at its first execution;
    without a `prepare_threshold` (settings.DATABASES) it never is."""

    def execute(self, query: Any, params: Any = None, **options: Any) -> Any:
        return super().execute(query, params, prepare=True, **options)

    def _send_query_prepared(self, name: bytes, pgq: Any, **options: Any) -> None:
        # Django's log asks the cursor what it sent, which this way it forgets.
        self._query = pgq
        super()._send_query_prepared(name, pgq, **options)


def fetch_prepared(
    statement: str,
    values: Sequence[Any] | Mapping[str, Any],
    *,
    using: str = DEFAULT_DB_ALIAS,
) -> list[tuple[Any, ...]]:
    """Return the rows of a statement, prepared on its connection.

    Bind what changes: each text is a plan of its own, and a connection keeps a hundred.
    """
    connection = connections[using]
    # As Django opens a cursor, but for its class: that one binds in the client.
    with connection.cursor() as opened:
        raw = _Preparing(opened.connection)
    with connection._prepare_cursor(raw) as cursor:  # type: ignore[attr-defined] # not in the stubs
        cursor.execute(statement, values)
        return cursor.fetchall()
