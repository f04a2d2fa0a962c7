"""What of memory goes with erased records: answers that rest on them, observations.

An answer is withheld whole, for a model may have said in its own words what it read;
so is every later answer of that conversation, which was written with the first in
view. The questions stay: they are their reader's own words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from connections.models import Project
from graph.copying import execute, fetch
from graph.erasers import Counts, Eraser, Going, erasers
from memory import erasing_sql
from memory.changes import delete_nodes
from memory.models import Citation, Conversation, Feedback, Turn, TurnTable
from memory.support import check_support

WITHHELD = "This answer was removed: what it rested on was erased."


def answers_from(going: Going) -> list[int]:
    """Return every answer that was given from what goes, and those after it."""
    params = _scope(going.project) | {"nodes": list(going.nodes)}
    return [row[0] for row in fetch(erasing_sql.TURNS_FROM, params)]


def forget_unsaid(project: Project, nodes: Sequence[int]) -> Counts:
    """Take back every answer that quotes what `nodes` no longer say."""
    params = _scope(project) | {"nodes": list(nodes)}
    turns = [row[0] for row in fetch(erasing_sql.TURNS_UNSAID, params)]
    return withhold(project, turns)


def withhold(project: Project, turns: Sequence[int]) -> Counter[str]:
    """Take the answers of `turns` back, with all they left behind; count the rows."""
    counts: Counter[str] = Counter()
    if not turns:
        return counts
    talks = Turn.objects.filter(pk__in=turns).values("conversation_id")
    counts["citations"] = Citation.objects.filter(turn__in=turns).delete()[0]
    counts["turn_tables"] = TurnTable.objects.filter(turn__in=turns).delete()[0]
    counts["conversations"] = (
        Conversation.objects.filter(pk__in=talks)
        .exclude(summary="")
        .update(summary="", summarized_to=0)
    )
    counts["turns"] = Turn.objects.filter(pk__in=turns).update(
        answer=WITHHELD,
        grounded=False,
        calls=[],
        parsed={},
        support=[],
        also_read=[],
        followups=[],
        error="",
    )
    # What was said of it may quote it.
    complaints = Feedback.objects.filter(turn__in=turns)
    counts["turn_feedback"] = complaints.exclude(note="").update(note="")
    params = _scope(project) | {"turns": list(turns)}
    counts["audit_details"] = execute(
        erasing_sql.DETAILS_OF, params | {"targets": [str(turn) for turn in turns]}
    )
    counts["graph_review_items"] = execute(erasing_sql.REVIEW_OF_TURNS, params)
    return counts


def _scope(project: Project) -> dict[str, Any]:
    return {"tenant": project.tenant_id, "project": project.pk}


def forget_observations(going: Going, turns: Sequence[int]) -> Counter[str]:
    """Delete observations that nothing but `going` supports, whoever holds them, and
    those that were taken from answers of `turns` and nothing else supports."""
    params = _scope(going.project) | {
        "nodes": [*going.nodes, *going.changed],
        "gone": list(going.nodes),
        "records": list(going.records),
        "turns": list(turns),
    }
    found = [row[0] for row in fetch(erasing_sql.UNSUPPORTED_BY, params)]
    if not found:
        return Counter()
    targets = [f"memory:{node}" for node in found]
    details = execute(erasing_sql.DETAILS_OF, params | {"targets": targets})
    delete_nodes(found)
    return Counter({"observations": len(found), "audit_details": details})


def forget_going(going: Going) -> Counts:
    """Remove what memory holds of records that go; return rows by table."""
    turns = answers_from(going)
    return forget_observations(going, turns) + withhold(going.project, turns)


def settle(project: Project) -> Counts:
    """Close what lost its last proof, and show the rest to whom it may be shown."""
    check_support(project)
    return {}


erasers.add("memory", Eraser(going=forget_going, changed=forget_unsaid, settle=settle))
