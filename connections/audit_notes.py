"""Reads that are audited: a row and its detail in one statement, for what has to be
answered at once and changes nothing that the row would have to stand or fall with."""

from __future__ import annotations

import json
import secrets
from uuid import UUID

from django.db import transaction

from connections import audit_sql
from connections.models import Project, User
from connections.models.audit import hash_of, storable
from connections.prepared import fetch_prepared
from connections.records import JSON

TARGET_CHARACTERS = 600


def note_read(
    verb: str,
    *,
    target: str,
    project: Project,
    actor: User | None,
    token_id: UUID | None = None,
    **detail: JSON,
) -> None:
    """Audit that something was read; its text can be erased as that of any other row.

    Its commit does not wait for the disk: a server that loses its power may lose the
    last half second of these rows, and nothing else.
    """
    salt, said = secrets.token_hex(16), storable(detail)
    is_alone = not transaction.get_connection().in_atomic_block
    fetch_prepared(
        audit_sql.NOTE,
        {
            "tenant": project.tenant_id,
            "project": project.pk,
            "actor": actor.pk if actor else None,
            "token": token_id,
            "verb": verb,
            "target": str(storable(target))[:TARGET_CHARACTERS],
            "hash": hash_of(salt, said),
            "salt": salt,
            "detail": json.dumps(said),
            "commit": "off" if is_alone else "",
        },
    )
