"""Statements that people keep: their own, shared ones, saved under a title once."""

from __future__ import annotations

from django.db import transaction
from django.db.models import Q, QuerySet

from connections.models import Database, User, record_audit
from connections.refusals import Refused
from memory.models import SavedQuery


class TitleTaken(Refused):
    """A title under which the person has already saved a statement."""

    code = "title_taken"
    status_code = 409


def saved_seen_by(user: User) -> QuerySet[SavedQuery]:
    """Return what `user` saved and what was shared, of databases open to them."""
    return SavedQuery.objects.filter(
        Q(user=user) | Q(is_shared=True),
        database__in=Database.objects.visible_to(user).filter(enabled=True),
    ).select_related("user", "database__project__tenant")


def save_query(
    database: Database,
    user: User,
    *,
    title: str,
    sql: str,
    is_shared: bool = False,
    instead_of: SavedQuery | None = None,
) -> SavedQuery:
    """Keep a statement, anew or in place of one of the user's own.

    Raises `TitleTaken` where another of theirs has that title.
    """
    if instead_of is not None and instead_of.user_id != user.pk:
        raise PermissionError("Only its owner changes a saved query.")
    row = instead_of or SavedQuery(database=database, user=user)
    with transaction.atomic():
        # Two that save at once: the second waits here, and then finds the first.
        User.objects.select_for_update(no_key=True).get(pk=user.pk)
        others = SavedQuery.objects.filter(database=database, user=user, title=title)
        if others.exclude(pk=row.pk).exists():
            raise TitleTaken(f"You have already saved a query as “{title}”.")
        row.title, row.sql, row.is_shared = title, sql, is_shared
        row.save()
        _record("saved_query.saved", row, user)
    return row


def delete_saved(row: SavedQuery, *, by: User) -> None:
    """Delete a saved statement of one's own."""
    if row.user_id != by.pk:
        raise PermissionError("Only its owner deletes a saved query.")
    with transaction.atomic():
        _record("saved_query.deleted", row, by)
        row.delete()


def _record(verb: str, row: SavedQuery, actor: User) -> None:
    record_audit(
        verb,
        target=str(row.pk),
        project=row.database.project,
        actor=actor,
        database=row.database.name,
        title=row.title,
        shared=row.is_shared,
    )
