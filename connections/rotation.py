"""Encrypting stored secrets anew with the newest key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.db import connection, models, transaction
from psycopg import sql

from connections import secrets_sql
from connections.secrets import (
    EncryptedField,
    Place,
    SecretError,
    decrypt,
    encrypt,
    encrypted_fields,
    newest_key,
)

BATCH = 200


def rotate() -> Iterator[tuple[Place, str]]:
    """Encrypt with the newest key whatever is not, a batch a transaction.

    Yields each place with "", or with why its secret stays as it is. Killed, it goes
    on where it ended: what was rotated is not touched again.
    """
    for model, field in encrypted_fields():
        after: UUID | None = None
        while rows := _waiting(model, field, after):
            with transaction.atomic():
                told = [_rotate(model, field, *row) for row in rows]
            yield from told
            after = rows[-1][0]


def _names(model: type[models.Model], field: EncryptedField) -> dict[str, Any]:
    return {
        "table": sql.Identifier(model._meta.db_table),
        "column": sql.Identifier(str(field.column)),
        "key": sql.Identifier(str(model._meta.pk.column)),
    }


def _waiting(
    model: type[models.Model], field: EncryptedField, after: UUID | None
) -> list[tuple[UUID, int, str]]:
    """Return the next rows by their key whose secret an older key encrypted."""
    values = {"newest": newest_key(), "after": after, "limit": BATCH}
    literals = {name: sql.Literal(value) for name, value in values.items()}
    query = sql.SQL(secrets_sql.WAITING).format(**_names(model, field), **literals)
    with connection.cursor() as cursor:
        cursor.execute(query)  # type: ignore[arg-type] # composed
        return list(cursor.fetchall())


def _rotate(
    model: type[models.Model],
    field: EncryptedField,
    row: UUID,
    tenant: int,
    sealed: str,
) -> tuple[Place, str]:
    place = Place(tenant, model._meta.db_table, str(field.column), str(row))
    try:
        anew = encrypt(decrypt(sealed, place), place)
    except SecretError as error:
        return place, str(error)
    values = {"anew": anew, "row": row, "sealed": sealed}
    literals = {name: sql.Literal(value) for name, value in values.items()}
    query = sql.SQL(secrets_sql.REPLACE).format(**_names(model, field), **literals)
    with connection.cursor() as cursor:
        cursor.execute(query)  # type: ignore[arg-type] # composed
    return place, ""
