"""Memory's kinds of review items: contradictions, and complaints about answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from connections.models import User
from connections.records import JSON
from graph.models import Node, ReviewItem
from graph.models.node import MEMORY
from graph.review import acts, acts_duplicate
from graph.review.errors import NotDecidable
from graph.review.kinds import (
    Decision,
    ReviewKind,
    Verb,
    finders,
    review_kinds,
)
from graph.review.reading import explainers
from memory import review_reliances  # noqa: F401 - it registers itself
from memory.changes import correct
from memory.feedback import close_open, open_again
from memory.models import Feedback, Observation
from memory.review_feedback import KIND, find_complaints
from memory.shown import shown

WITHHELD = "Withheld: it rests on a source that is closed to you."


def settle(item: ReviewItem, decision: Decision) -> Mapping[str, JSON]:
    """Resolve the complaint."""
    feedback = _feedback(item)
    if feedback is None or not close_open(feedback, decision.by, decision.reason):
        raise NotDecidable("Its reader took it back, or it was resolved before.")
    return {"feedback": feedback.pk}


def unsettle(item: ReviewItem, before: Mapping[str, Any], by: User) -> None:
    """Open the complaint again."""
    feedback = Feedback.objects.filter(pk=before.get("feedback", 0)).first()
    feedback = feedback or _feedback(item)
    if feedback is None or not open_again(feedback, by):
        raise NotDecidable("Its reader took it back since.")


def told(item: ReviewItem, reader: User) -> Sequence[tuple[str, str]]:
    """Return the question, its answer and what was said of it, as `reader` may see
    them: who complains shows the question."""
    feedback = _feedback(item)
    if feedback is None:
        return ()
    seen = shown(feedback.turn, reader)
    answer = WITHHELD if seen.is_withheld else seen.answer.answer
    return (
        ("question", feedback.turn.question),
        ("answer", answer),
        ("said of it", feedback.get_verdict_display()),
        ("note", feedback.note),
    )


def _feedback(item: ReviewItem) -> Feedback | None:
    rows = Feedback.objects.select_related("turn__conversation__project__tenant")
    of_project = rows.filter(turn__conversation__project_id=item.project_id)
    return of_project.filter(pk=item.detail.get("feedback")).first()


def rewrite(node: Node, decision: Decision) -> Mapping[str, JSON]:
    """Correct what is remembered, as its reader would on their own page."""
    if decision.text is None or not decision.text.strip():
        raise NotDecidable("What is remembered has a text and no title; give that.")
    observation = _observation(node)
    before = observation.node.content
    correct(observation, decision.text, by=decision.by)
    return {"text": before}


def rewrite_back(node: Node, before: Mapping[str, Any], by: User) -> None:
    """Give what is remembered its former words."""
    correct(_observation(node), before["text"], by=by)


def _observation(node: Node) -> Observation:
    rows = Observation.objects.select_related("node", "owner", "project__tenant")
    found = rows.filter(pk=node.pk).first()
    if found is None:
        raise NotDecidable("It is not remembered any more.")
    return found


KINDS = (
    ReviewKind(
        name="contradiction",
        title="Contradiction",
        icon="compare_arrows",
        meaning="Two things are held that cannot both be so. Prune the one that does "
        "not hold; keep both if they are no contradiction.",
        acts={
            Verb.KEEP: acts_duplicate.hold_apart,
            Verb.PRUNE: acts.put_away,
            Verb.EDIT: acts.edit,
        },
        undos={
            Verb.KEEP: acts_duplicate.unhold,
            Verb.PRUNE: acts.take_back_prune,
            Verb.EDIT: acts.unedit,
        },
        labels={Verb.KEEP: "Keep both", Verb.PRUNE: "Prune one"},
        why_kept="Why both hold",
    ),
    ReviewKind(
        name=KIND,
        title="Answer feedback",
        icon="feedback",
        meaning="A reader complained about an answer. Say that it was looked into; "
        "the reader sees so beside the answer.",
        acts={Verb.KEEP: settle},
        undos={Verb.KEEP: unsettle},
        labels={Verb.KEEP: "Looked into"},
        why_kept="What was found",
    ),
)


def register() -> None:
    """Register them; called once, when the app is ready."""
    for kind in KINDS:
        review_kinds.add(kind.name, kind)
    finders.add(KIND, find_complaints)
    explainers.add(KIND, told)
    acts.rewriters.add(MEMORY, (rewrite, rewrite_back))
