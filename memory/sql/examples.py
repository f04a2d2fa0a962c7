"""Questions with the statement that answers them: proposed, verified, tested again.

Only what a reviewer verified is ever shown to a model or taken as an answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.contrib.postgres.search import TrigramSimilarity
from django.db import transaction
from django.utils import timezone

from connections.databases.base import DatabaseError, GuardRefused
from connections.databases.guard import guard
from connections.databases.runner import explain
from connections.databases.snapshot import schema_of
from connections.models import Database, Membership, Role, User, record_audit
from connections.refusals import Refused
from memory.models import VerifiedExample
from memory.sql.answered import is_of_statement
from memory.sql.words import normalised

LIKE, LIKE_LEAST = 5, 0.2
# Of one database; more are not looked through for the same question.
EXAMPLES_MOST = 5000
_State = VerifiedExample.State


class ExampleRefused(Refused):
    """An example that cannot be kept or verified; the message says why."""

    code = "example_refused"


@dataclass(frozen=True, slots=True)
class Retested:
    """What testing all examples of a database came to; `untested` could not be."""

    kept: int = 0
    retired: int = 0
    untested: int = 0


def propose(
    database: Database, question: str, sql: str, *, by: User
) -> VerifiedExample:
    """Keep that `by` found `sql` to answer `question`; it waits to be verified.

    Proposed again, it is the same one: what was rejected stays rejected.
    """
    if not Database.objects.visible_to(by).filter(pk=database.pk).exists():
        raise ExampleRefused("There is no such database here that you may ask.")
    question, sql = " ".join(question.split()), sql.strip()
    if not question or not sql:
        raise ExampleRefused("An example needs a question and its statement.")
    with transaction.atomic():
        example, is_new = VerifiedExample.objects.get_or_create(
            database=database, question=question, sql=sql, defaults={"asked_by": by}
        )
        if not is_new and example.state == _State.RETIRED:
            example.state = _State.WAITING
            example.save(update_fields=["state"])
        if is_new or example.state == _State.WAITING:
            _record("example.proposed", example, by)
    return example


def verify(example: VerifiedExample, *, by: User) -> VerifiedExample:
    """Make an example one that is answered by; it must pass guard and server today.

    Raises `ExampleRefused` where `by` is no reviewer, or the statement does not pass.
    """
    _check_may_decide(example, by)
    if fault := _fault(example):
        raise ExampleRefused(f"It does not pass today: {fault}")
    now = timezone.now()
    return _decide(
        example,
        "example.verified",
        by,
        state=_State.ACTIVE,
        verified_by=by,
        verified_at=now,
        tested_at=now,
        test_error="",
    )


def reject(example: VerifiedExample, *, by: User) -> VerifiedExample:
    """Make an example one that is never used; raises as `verify` does."""
    _check_may_decide(example, by)
    return _decide(example, "example.rejected", by, state=_State.REJECTED)


def retest(database: Database) -> Retested:
    """Test every verified example; one that no longer passes is retired, with why.

    Where the database cannot be reached nothing is said against an example.
    """
    kept = retired = untested = 0
    active = VerifiedExample.objects.filter(database=database, state=_State.ACTIVE)
    for example in active.select_related("database__project__tenant"):
        try:
            fault = _fault(example)
        except DatabaseError:
            untested += 1
            continue
        _tested(example, fault)
        retired, kept = retired + bool(fault), kept + (not fault)
    return Retested(kept, retired, untested)


def databases_with_examples() -> list[UUID]:
    """Return the databases that have verified examples to test."""
    rows = VerifiedExample.objects.filter(state=_State.ACTIVE, database__enabled=True)
    return list(rows.order_by().values_list("database_id", flat=True).distinct())


def like(database: Database, question: str, limit: int = LIKE) -> list[VerifiedExample]:
    """Return the verified examples whose questions are most like this one."""
    rows = VerifiedExample.objects.filter(database=database, state=_State.ACTIVE)
    alike = TrigramSimilarity("question", question)
    near = rows.annotate(alike=alike).filter(alike__gte=LIKE_LEAST)
    return list(near.order_by("-alike", "-verified_at", "pk")[:limit])


def same(database: Database, question: str) -> VerifiedExample | None:
    """Return the verified example of the same words, whatever stands between them."""
    wanted = normalised(question)
    if not wanted:
        return None
    rows = VerifiedExample.objects.filter(database=database, state=_State.ACTIVE)
    latest = rows.order_by("-verified_at", "pk")[:EXAMPLES_MOST]
    return next((one for one in latest if normalised(one.question) == wanted), None)


def may_decide(database: Database, user: User) -> bool:
    """Return whether `user` verifies examples of `database`: its audience's reviewers."""
    if not Database.objects.visible_to(user).filter(pk=database.pk).exists():
        return False
    membership = Membership.objects.filter(
        user=user, project_id=database.project_id
    ).first()
    if membership is None:
        return False
    return user.is_superuser or membership.allows(Role.REVIEWER)


def _check_may_decide(example: VerifiedExample, by: User) -> None:
    if not may_decide(example.database, by):
        raise ExampleRefused(
            "Only reviewers and admins of the project who may ask the database "
            "decide on its examples."
        )


def _fault(example: VerifiedExample) -> str:
    """Return why the statement does not pass; raises where it cannot be tested."""
    database = example.database
    try:
        guarded = guard(example.sql, schema_of(database), limit=database.rows_most)
        explain(database, guarded)
    except GuardRefused as error:
        return f"{error.rule}: {error}"
    except DatabaseError as error:
        if not is_of_statement(error):
            raise
        return str(error)
    return ""


def _decide(
    example: VerifiedExample, verb: str, by: User, **fields: object
) -> VerifiedExample:
    with transaction.atomic():
        held = VerifiedExample.objects.select_for_update().get(pk=example.pk)
        for name, value in fields.items():
            setattr(held, name, value)
        held.save(update_fields=list(fields))
        _record(verb, held, by)
    return held


def _tested(example: VerifiedExample, fault: str) -> None:
    """Note a test; only what is still verified is retired, once."""
    active = VerifiedExample.objects.filter(pk=example.pk, state=_State.ACTIVE)
    now = timezone.now()
    with transaction.atomic():
        if not fault:
            active.update(tested_at=now, test_error="")
        elif active.update(tested_at=now, test_error=fault, state=_State.RETIRED):
            _record("example.retired", example, None, fault=fault)


def _record(
    verb: str, example: VerifiedExample, by: User | None, fault: str = ""
) -> None:
    record_audit(
        verb,
        target=str(example.pk),
        project=example.database.project,
        actor=by,
        database=example.database.name,
        question=example.question,
        sql=example.sql,
        fault=fault,
    )
