"""A search answer as the page shows it: results with why each of them is there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from connections.models import Audience, Project, User
from connections.records import node_types
from graph.models import Node
from retrieval.asked import Asked
from retrieval.facets import (
    Choice,
    Facet,
    facets_of,
    names_of,
    periods_of,
    source_labels,
    ties_of,
)
from retrieval.passages import TITLE, Piece, matching_words, passage
from retrieval.profiles import profiles
from retrieval.results import (
    Contribution,
    GraphRelation,
    Result,
    SearchAnswer,
)
from retrieval.slips import without_slips
from retrieval.understood import Chip, chips_of

SHARED_WORDS = 12


@dataclass(frozen=True, slots=True)
class Badge:
    """Something to know before relying on a result; `kind` is its colour."""

    label: str
    explained: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class ArmShare:
    """What an arm gave to a result: its rank and score there, and how much of the
    fused score came of it, in percent."""

    arm: str
    rank: int
    score: float
    share: int


@dataclass(frozen=True, slots=True)
class ArmWork:
    """What an arm did for an answer; `dropped` says why it had no part in it."""

    arm: str
    found: int | None
    took_ms: float | None
    dropped: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownResult:
    """A result, ready for a template; `n` counts from 1."""

    n: int
    result: Result
    icon: str
    kind: str
    source: str
    title: tuple[Piece, ...]
    where: str
    passage: tuple[Piece, ...]
    badges: tuple[Badge, ...]
    arms: tuple[ArmShare, ...]
    shared: tuple[str, ...]
    relations: tuple[GraphRelation, ...]
    best_part: str
    best_part_id: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A whole answer: the results asked for out of those `counted` in the facets.

    With `is_open_ended` there may be more than were counted.
    """

    results: tuple[ShownResult, ...]
    counted: int
    is_open_ended: bool
    chips: tuple[Chip, ...]
    facets: tuple[Facet, ...]
    periods: tuple[Choice, ...]
    arms: tuple[ArmWork, ...]
    took_ms: float
    effort: int
    is_recent: bool

    @property
    def dropped(self) -> tuple[ArmWork, ...]:
        return tuple(work for work in self.arms if work.dropped)

    @property
    def has_more(self) -> bool:
        return len(self.results) < self.counted or self.is_open_ended


def shown(
    answer: SearchAnswer, asked: Asked, user: User, project: Project, *, wanted: int
) -> Shown:
    """Return `answer`, which was asked for `wanted` results, as `user` may see it."""
    found = answer.results
    ties = ties_of(user, project, found)
    names = names_of(user, project, (*asked.person, *asked.channel))
    best = found[: asked.limit]
    return Shown(
        results=_results(best, answer, user, project),
        counted=len(found),
        is_open_ended=len(found) >= wanted,
        chips=chips_of(asked, answer.parsed, {**names, **source_labels()}),
        facets=facets_of(asked, found, ties, names),
        periods=periods_of(asked, found),
        arms=_arms(answer),
        took_ms=answer.took_ms,
        effort=answer.effort,
        is_recent=not asked.q.strip(),
    )


def _arms(answer: SearchAnswer) -> tuple[ArmWork, ...]:
    """Return what each arm did; those that were dropped last, with their reasons."""
    timings, dropped = answer.timings, answer.dropped
    worked = [
        ArmWork(arm, found, timings.get(arm))
        for arm, found in answer.arms.items()
        if arm not in dropped
    ]
    missing = [
        ArmWork(arm, None, timings.get(arm), str(reason))
        for arm, reason in dropped.items()
    ]
    return (*worked, *missing)


def _results(
    results: Sequence[Result], answer: SearchAnswer, user: User, project: Project
) -> tuple[ShownResult, ...]:
    texts = [text for each in results for text in (each.title, each.text)]
    question = without_slips(answer.query.replace("\x00", " "), answer.parsed.slips)
    words = matching_words(project, question, texts)
    closed = _closed(user, [result.node_id for result in results])
    return tuple(
        _result(n, result, answer.profile, words, closed.get(result.node_id, ""))
        for n, result in enumerate(results, start=1)
    )


def _closed(user: User, ids: Sequence[int]) -> dict[int, str]:
    """Return the kind of audience of the nodes that not every member may see."""
    nodes = Node.objects.visible_to(user).filter(pk__in=ids)
    closed = nodes.exclude(audience__kind=Audience.Kind.PUBLIC)
    return dict(closed.values_list("pk", "audience__kind"))


def _result(
    n: int, result: Result, profile: str, words: frozenset[str], audience: str
) -> ShownResult:
    kind = node_types.get(result.node_type)
    title = passage(result.title or result.context or result.key, words, TITLE)
    said = passage(result.text, words)
    marked = (piece.text.lower() for piece in (*title, *said) if piece.is_marked)
    part_id = result.metadata.get("part_node_id")
    return ShownResult(
        n=n,
        result=result,
        icon=kind.icon if kind else "circle",
        kind=result.node_type.replace("_", " "),
        source=source_labels().get(result.source_kind, result.source_kind),
        title=title,
        where=result.context if result.title else "",
        passage=said,
        badges=tuple(_badges(result, audience)),
        arms=shares(result.contributions, profile),
        shared=tuple(dict.fromkeys(marked))[:SHARED_WORDS],
        relations=result.graph_relations,
        best_part=str(result.metadata.get("part_title") or ""),
        best_part_id=part_id if isinstance(part_id, int) else None,
    )


def _badges(result: Result, audience: str) -> list[Badge]:
    found = []
    if result.stale.told:
        found.append(
            Badge(
                f"{result.stale.told} old",
                f"Nothing has confirmed it for {result.stale.days} days; what is of "
                f"this type is looked at again after {result.stale.threshold}.",
                "warn",
            )
        )
    if result.is_gone:
        found.append(Badge("gone at its source", "It is not there any more.", "bad"))
    if audience == Audience.Kind.PRIVATE:
        found.append(Badge("only you", "Nobody else may see it.", "closed"))
    elif audience:
        explained = "Only some members of the project may see it; you are one."
        found.append(Badge("closed group", explained, "closed"))
    if result.cross_validated:
        explained = "More than one source says so; they are shown as one result."
        found.append(Badge("said in several places", explained, "good"))
    if result.cross_referenced:
        explained = "Its text names things that the graph knows."
        found.append(Badge("names known things", explained, "good"))
    return found


def shares(
    contributions: Mapping[str, Contribution], profile: str
) -> tuple[ArmShare, ...]:
    """Return each arm's part in a fused score, the largest first.

    By reciprocal rank fusion an arm gives its weight / (k + its rank).
    """
    recipe = profiles[profile]
    given = {
        arm: recipe.weights.get(arm, 1.0) / ((recipe.k or 0) + each.rank)
        for arm, each in contributions.items()
    }
    whole = sum(given.values()) or 1.0
    return tuple(
        ArmShare(
            arm,
            contributions[arm].rank,
            contributions[arm].score,
            round(100 * given[arm] / whole),
        )
        for arm in sorted(given, key=lambda arm: (-given[arm], arm))
    )
