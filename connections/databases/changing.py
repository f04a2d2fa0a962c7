"""Connections made, changed and deleted: one way for the admin and for the API."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from uuid import UUID

from django.conf import settings
from django.db import transaction

from connections.databases.fields import wrong_fields
from connections.models import (
    Audience,
    Database,
    Project,
    User,
    record_audit,
)
from connections.roles import Act, may
from connections.tasks import discover_database

# To whom the password is sent; a change of it asks for the password anew.
TARGET = ("engine", "host", "port", "database")
# What a test found holds for these only.
TESTED = (*TARGET, "user", "encryption", "certificate")
ANEW = (
    "Enter the password anew: the stored one is not sent to another server or database."
)
NO_SUPERUSERS = (
    "Whoever runs this installation does not allow superusers' logins "
    "(FABRIC_DATABASE_SUPERUSERS)."
)
IS_SUPERUSER = (
    "Its login may do everything on that server: give it one that only reads, and test "
    "it."
)
NOT_YOURS = "Choose an audience of the project that you belong to."


def may_change(user: User, project: Project) -> bool:
    """Return whether a user may make and change connections of a project."""
    return may(user, Act.MANAGE_CONNECTIONS, project.pk)


def public_audience(project: Project) -> Audience:
    """Return the audience of everybody in a project."""
    audience, _ = Audience.objects.get_or_create(
        tenant_id=project.tenant_id,
        project=project,
        kind=Audience.Kind.PUBLIC,
        key="",
    )
    return audience


def wrong_changes(
    after: Database, before: Database | None, *, by: User, has_password: bool
) -> dict[str, str]:
    """Return what speaks against `after`, by the field that says it.

    `has_password` says that a password was entered with the change.
    """
    return dict(_wrong(after, before, by, has_password))


def _wrong(
    after: Database, before: Database | None, by: User, has_password: bool
) -> Iterator[tuple[str, str]]:
    names = ("host", "database", "user", "certificate")
    yield from wrong_fields({name: getattr(after, name) for name in names}).items()
    is_moved = before is not None and _differs(after, before, TARGET)
    if before is not None and is_moved and before.password and not has_password:
        yield "password", ANEW
    allows = settings.FABRIC["DATABASE_SUPERUSERS"]
    if after.superuser_allowed and not allows:
        yield "superuser_allowed", NO_SUPERUSERS
    if after.enabled and _is_superuser_still(after, before, has_password):
        yield "enabled", IS_SUPERUSER
    others = Database.objects.filter(project_id=after.project_id, name=after.name)
    if others.exclude(pk=after.pk).exists():
        yield "name", "Another connection of the project has this name."
    if after.audience_id and not _may_use(after, before, by):
        yield "audience", NOT_YOURS


def _may_use(after: Database, before: Database | None, by: User) -> bool:
    if after.audience.project_id != after.project_id:
        return False
    if before is not None and before.audience_id == after.audience_id:
        return True
    return after.audience_id in Audience.objects.ids_of(by)


def _is_superuser_still(
    after: Database, before: Database | None, has_password: bool
) -> bool:
    """Return whether a test found a superuser's login that nothing has changed."""
    if before is None or not before.test_report.get("is_superuser"):
        return False
    is_allowed = after.superuser_allowed and settings.FABRIC["DATABASE_SUPERUSERS"]
    is_other = has_password or _differs(after, before, TESTED)
    return not is_allowed and not is_other


def _differs(after: Database, before: Database, names: Iterable[str]) -> bool:
    return any(getattr(after, name) != getattr(before, name) for name in names)


def keep_database(
    database: Database,
    before: Database | None,
    *,
    by: User | None,
    fields: Iterable[str],
    token_id: UUID | None = None,
) -> None:
    """Store a connection and audit the names of the fields that were set.

    What was known of another server or login is forgotten with the change, and a worker
    discovers what it holds.
    """
    fields = sorted(set(fields))
    is_other = before is None or (
        "password" in fields or _differs(database, before, TESTED)
    )
    if before is not None and is_other:
        _forget_test(database)
    with transaction.atomic():
        database.save()
        record_audit(
            "database.changed" if before else "database.created",
            target=database.name,
            project=database.project,
            actor=by,
            token_id=token_id,
            fields=list(fields),
        )
        if is_other and database.enabled:
            # Without a broker the row is stored all the same; each day it is tried anew.
            identity = str(database.pk)
            transaction.on_commit(
                lambda: discover_database.delay(identity), robust=True
            )


def _forget_test(database: Database) -> None:
    database.tested_at, database.test_report = None, {}
    database.flavour = database.version = database.default_schema = ""
    database.failures, database.paused_until = 0, None


def remove_database(
    database: Database, *, by: User | None, token_id: UUID | None = None
) -> None:
    """Delete a connection with what was discovered, and audit that it was there."""
    with transaction.atomic():
        record_audit(
            "database.deleted",
            target=database.name,
            project=database.project,
            actor=by,
            token_id=token_id,
        )
        database.delete()
