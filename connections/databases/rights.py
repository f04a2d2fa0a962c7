"""The test of a connection: is it reached, how does it serve, what may its login do."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field
from typing import Any

from django.db import transaction
from django.utils import timezone

from connections.databases import rights_sql
from connections.databases.base import DatabaseError
from connections.databases.connecting import (
    Opened,
    cut_after,
    may_be_superuser,
    note,
    reach,
    serving_of,
)
from connections.databases.failures import NotOpened
from connections.databases.opening import driver_errors
from connections.databases.rights_base import Rights
from connections.databases.rights_mysql import mysql_rights
from connections.databases.rights_postgres import postgres_rights
from connections.databases.serving import Serving
from connections.models import Database, User, record_audit

TEST_SECONDS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class TestReport:
    """What a test found. `error` is for everybody, `why` for staff; no secret is in it.

    `is_fine` says that the database may be asked as it is.
    """

    __test__ = False  # pytest would take it for a test

    is_reached: bool
    is_fine: bool
    sentence: str
    error: str = ""
    code: str = ""
    why: str = ""
    is_encrypted: bool = False
    flavour: str = ""
    version: str = ""
    took_ms: float = 0.0
    unusual: tuple[str, ...] = ()
    is_superuser: bool = False
    rights: Rights = field(default_factory=Rights)

    def as_json(self) -> dict[str, Any]:
        """Return it as it is stored: plain values, with everything for staff."""
        plain = {**asdict(self), "rights": self.rights.as_json()}
        return {**plain, "unusual": list(self.unusual)}


def test_database(database: Database, *, by: User | None) -> TestReport:
    """Try a connection; store what was found in its row, and audit that it was tried.

    A database whose login may do everything is switched off unless that is allowed.
    """
    report = _try(database)
    database.tested_at, database.test_report = timezone.now(), report.as_json()
    changed = ["tested_at", "test_report"]
    if report.is_superuser and not may_be_superuser(database):
        database.enabled = False
        changed.append("enabled")
    with transaction.atomic():
        Database.objects.filter(pk=database.pk).update(
            **{name: getattr(database, name) for name in changed}
        )
        record_audit(
            "database.tested",
            target=database.name,
            project=database.project,
            actor=by,
            outcome=report.sentence,
            why=report.why,
            superuser=report.is_superuser,
            beyond=[one.right for one in report.rights.findings],
        )
    return report


test_database.__test__ = False  # type: ignore[attr-defined] # pytest's


def rights_of(opened: Opened, database: Database, schema: str) -> Rights:
    """Return what the login of an open connection may do beyond reading."""
    if opened.flavour == "postgres":
        return postgres_rights(opened.read, database=database.database, schema=schema)
    return mysql_rights(opened.read, flavour=opened.flavour, database=database.database)


def _try(database: Database) -> TestReport:
    began = time.monotonic()
    try:
        opened = reach(database)
    except DatabaseError as error:
        return _failed(error)
    try:
        with cut_after(opened.raw, TEST_SECONDS):
            serving = serving_of(database, opened, seconds=TEST_SECONDS)
            # As in a chat: connected, and asked something.
            took = (time.monotonic() - began) * 1000
            rights = rights_of(opened, database, serving.schema)
            is_encrypted = _is_encrypted(opened)
        note(database, opened, serving)
    except DatabaseError as error:
        return _failed(error)
    except driver_errors(database.engine) as error:
        sentence = f"{database} let the login in, and then stopped answering."
        why = " ".join(str(error).split())[:300]
        return _failed(NotOpened(sentence, why))
    finally:
        opened.close()
    return _found(database, opened, serving, rights, is_encrypted, round(took, 1))


def _failed(error: DatabaseError) -> TestReport:
    return TestReport(
        is_reached=False,
        is_fine=False,
        sentence=str(error),
        error=str(error),
        code=error.code,
        why=error.why if isinstance(error, NotOpened) else "",
    )


def _found(
    database: Database,
    opened: Opened,
    serving: Serving,
    rights: Rights,
    is_encrypted: bool,
    took_ms: float,
) -> TestReport:
    is_superuser = rights.is_superuser or serving.is_superuser
    is_refused = is_superuser and not may_be_superuser(database)
    return TestReport(
        is_reached=True,
        is_fine=not (is_refused or serving.unusual),
        sentence=_sentence(serving, rights, is_superuser, is_refused),
        is_encrypted=is_encrypted,
        flavour=opened.flavour,
        version=opened.version,
        took_ms=took_ms,
        unusual=serving.unusual,
        is_superuser=is_superuser,
        rights=rights,
    )


def _sentence(
    serving: Serving, rights: Rights, is_superuser: bool, is_refused: bool
) -> str:
    if serving.unusual:
        return (
            "It was reached, and is set so that SQL reads differently there: "
            f"{' '.join(serving.unusual)} Nothing is asked of it until that is changed."
        )
    if is_refused:
        return (
            "It was reached, but its login may do everything on that server, so it is "
            "switched off. Give Fabric a login that only reads."
        )
    if is_superuser:
        return "It was reached. Its login may do everything, which was allowed here."
    more = [one for one in rights.findings if one.level == "beyond"]
    if more:
        return (
            "It was reached, and its login may do more than read. Statements run in a "
            "read-only transaction, but a login that cannot write is better."
        )
    return "It was reached, and its login only reads."


def _is_encrypted(opened: Opened) -> bool:
    if opened.flavour == "postgres":
        return bool(opened.raw.pgconn.ssl_in_use)
    rows = opened.read(rights_sql.MYSQL_CIPHER)
    return bool(rows and rows[0][1])
