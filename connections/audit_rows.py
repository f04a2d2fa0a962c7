"""A row of the audit as the chain sees it, and the seal that it gets."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple
from uuid import UUID

GENESIS = "0" * 64


class Sealable(NamedTuple):
    """What of an audit row is sealed: all of it but its place in the chain."""

    id: int
    tenant_id: int | None
    project_id: int | None
    at: datetime
    actor_id: int | None
    token_id: UUID | None
    verb: str
    target: str
    detail_sha256: str


FIELDS = len(Sealable._fields)


def seal_of(previous: str, row: Any) -> str:
    """Return the seal of `row` after the seal `previous`, as 64 hex digits.

    The detail enters by its hash only, so that erasing it leaves the chain whole.
    """
    said = (
        previous,
        row.tenant_id,
        row.project_id,
        row.id,
        row.at.astimezone(UTC).isoformat(),
        row.actor_id,
        str(row.token_id or ""),
        row.verb,
        row.target,
        row.detail_sha256,
    )
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()


def sealable(values: Sequence[Any]) -> Sealable:
    """Return the row that begins the columns of a statement of `audit_sql`."""
    return Sealable(*values[:FIELDS])
