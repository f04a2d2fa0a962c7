"""Decisions that were made outside of Fabric, carried out by the queue's own rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time

from django.core.exceptions import PermissionDenied
from django.db import transaction

from connections.models import Project, User, record_audit
from connections.refusals import Refused
from graph.models import ReviewItem
from graph.review.deciding import consequences_of, decide
from graph.review.kinds import Decision, Verb
from graph.review.report_files import Filled, ReportError

VERBS = (Verb.KEEP, Verb.PRUNE, Verb.SNOOZE)
# Above so many, prunes are confirmed a second time.
AT_ONCE = 50


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a filled row, or would: `refused` says why nothing did.

    `along` is how many nodes a prune takes with the one that was chosen.
    """

    line: int
    item: int
    verb: str
    key: str = ""
    along: int = 0
    refused: str = ""


def carry_out(
    project: Project,
    rows: Sequence[Filled],
    by: User,
    *,
    dry_run: bool = True,
    prunes: int | None = None,
) -> list[Outcome]:
    """Carry the decisions of a report out in the name of `by`; say what became of each.

    A row whose item has changed since the report was written is refused; the others are
    decided, each whole. With `dry_run` nothing is. More than `AT_ONCE` prunes must be
    confirmed by their number.
    """
    if not dry_run:
        _confirm(rows, prunes)
    outcomes = [_carried(project, row, by, dry_run=dry_run) for row in rows]
    if not dry_run:
        record_audit(
            "import.review",
            target=project.path,
            project=project,
            actor=by,
            decided=sum(not o.refused for o in outcomes),
            refused=sum(bool(o.refused) for o in outcomes),
        )
    return outcomes


def _confirm(rows: Sequence[Filled], prunes: int | None) -> None:
    count = sum(row.decision == Verb.PRUNE for row in rows)
    if count > AT_ONCE and prunes != count:
        raise ReportError(
            f"{count} items would be pruned, more than {AT_ONCE}: say --prunes {count} "
            "to confirm it. Nothing was decided."
        )


def _carried(project: Project, row: Filled, by: User, *, dry_run: bool) -> Outcome:
    outcome = Outcome(row.line, row.item, row.decision)
    try:
        with transaction.atomic():
            item = _item(project, row, by)
            outcome = replace(outcome, key=item.node.key if item.node else item.subject)
            decision = _decision(row, by)
            if decision.verb == Verb.PRUNE:
                found = consequences_of([item.pk], by)
                decision = replace(decision, token=found.token)
                outcome = replace(outcome, along=len(found.along))
            decide(item.pk, decision, version=row.version)
            if dry_run:
                transaction.set_rollback(True)
    except (Refused, PermissionDenied) as error:
        return replace(outcome, refused=str(error))
    return outcome


def _item(project: Project, row: Filled, by: User) -> ReviewItem:
    rows = ReviewItem.objects.visible_to(by).of(project).select_related("node")
    item = rows.filter(pk=row.item).first()
    if item is None:
        raise ReportError("there is no such item in this project that you may see")
    if item.version != row.version:
        raise ReportError(
            f"it has changed since the report was written (version {item.version}, "
            f"{item.get_state_display()}): look at it again"
        )
    return item


def _decision(row: Filled, by: User) -> Decision:
    if row.decision not in VERBS:
        names = ", ".join(VERBS)
        raise ReportError(f"{row.decision!r:.40} is none of {names}")
    until = _until(row.until) if row.decision == Verb.SNOOZE else None
    return Decision(verb=Verb(row.decision), by=by, reason=row.reason, until=until)


def _until(text: str) -> datetime:
    try:
        return datetime.combine(date.fromisoformat(text), time(), tzinfo=UTC)
    except ValueError:
        raise ReportError(
            f"a snooze needs a day such as 2027-01-31 in until, not {text!r:.40}"
        ) from None


def refused(outcomes: Sequence[Outcome]) -> Iterator[Outcome]:
    """Yield those that were refused."""
    return (outcome for outcome in outcomes if outcome.refused)
