"""Work in the background: conversations that ended, memories that faded."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from connections.models import Database
from memory.endings import end_conversation, idle_conversations
from memory.fading import delete_left, scopes_with_due
from memory.fading import let_leave as let_go
from memory.models import VerifiedExample
from memory.sql.examples import databases_with_examples, retest
from memory.support import close_unsupported


@shared_task(ignore_result=True, expires=300)
def end_idle_conversations() -> None:
    """Count the conversations that nobody went on with, each in its own transaction."""
    for conversation in idle_conversations(timezone.now()):
        end_conversation(conversation)


@shared_task(ignore_result=True, expires=300)
def let_leave() -> None:
    """Let go of what has faded, in every memory where something is due."""
    for scope_id in scopes_with_due():
        let_go(scope_id)


@shared_task(ignore_result=True, expires=3600)
def close_unproven() -> None:
    """Close what rests on records that were erased."""
    close_unsupported()


@shared_task(ignore_result=True, expires=3600)
def delete_faded() -> None:
    """Delete what left memory more than 30 days ago."""
    delete_left()


@shared_task(ignore_result=True, expires=3600)
def retest_examples() -> None:
    """Test the verified examples of every database, each in a task of its own."""
    for pk in databases_with_examples():
        retest_examples_of.delay(str(pk))


def retest_soon(database: Database, _tables: list[int] | None) -> None:
    """Have the examples of a database tested whose schema or exposure has changed."""
    if VerifiedExample.objects.filter(
        database=database, state=VerifiedExample.State.ACTIVE
    ).exists():
        retest_examples_of.delay(str(database.pk))


@shared_task(ignore_result=True, expires=3600)
def retest_examples_of(database: str) -> None:
    """Test the verified examples of one database; a discovery that changed it asks so."""
    if row := Database.objects.filter(pk=database, enabled=True).first():
        retest(row)
