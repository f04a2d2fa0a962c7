"""Profiles cut down to some of their arms, and what one arm finds by itself."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from unittest.mock import patch

from django.utils import timezone

from connections.models import Project
from graph.embed import embed_question
from retrieval import words
from retrieval.arms.base import Plan, arms
from retrieval.filters import narrowed
from retrieval.fusion import RRF_K, fuse
from retrieval.profiles import Profile, profiles
from retrieval.results import Parsed
from retrieval.running import run_arms
from retrieval.search import NO_FILTERS, Question, search, understood, visible_nodes

TEXT_ARMS = ("keyword", "vector")
JOINED = 20  # hits of an arm that is joined to a profile
EVERY = 200  # results: what two arms of a hundred can bring


@dataclass(frozen=True, slots=True)
class Ranker:
    """A profile to ask, by the name shown; of `arm` alone only its own hits count."""

    name: str
    profile: Profile
    arm: str = ""

    def ask(self, project: Project, query: str, limit: int) -> list[str]:
        """Return the keys found, the best first."""
        answer = search(
            project, query, user=None, limit=limit, profile=self.profile.name
        )
        return [
            result.key
            for result in answer.results
            if not self.arm or self.arm in result.contributions
        ]


def rankers() -> list[Ranker]:
    """Return every profile, each arm of the default alone, the default without each of
    them or of reading slips, and with each other arm."""
    default = profiles["default"]
    names = arms_of(default)
    found = [Ranker(name, profile) for name, profile in profiles.items()]
    found += [Ranker(f"{arm} alone", alone(default, arm), arm) for arm in names]
    found += ablations()
    others = [arm for arm in arms if arm not in names]
    found += [Ranker(f"default with {arm}", joined(default, arm)) for arm in others]
    return found


def ablations() -> list[Ranker]:
    """Return the default without each of its arms, where it has several, and as it is
    where nobody's spelling is doubted."""
    default = profiles["default"]
    names = arms_of(default)
    found = [
        Ranker(f"default without {arm}", without(default, arm))
        for arm in names
        if len(names) > 1
    ]
    typed = replace(default, name="default without spelling", spelling=False)
    return [*found, Ranker(typed.name, typed)] if default.spelling else found


@contextmanager
def registered(profile: Profile) -> Iterator[str]:
    """Let `search` know a profile, whose name this is, for as long as this is open."""
    with patch.dict(profiles, {profile.name: profile}):
        yield profile.name


def arms_of(profile: Profile) -> tuple[str, ...]:
    return tuple(dict(profile.arms))


def weights_of(profile: Profile) -> tuple[float, ...]:
    """Return the weights of `arms_of`, in that order."""
    return tuple(plan.weight for plan in dict(profile.arms).values())


def alone(profile: Profile, arm: str) -> Profile:
    """Return `profile` with one arm; those it starts from find, but weigh nothing."""
    plans = dict(profile.arms)
    before = {name: _weightless(plans[name]) for name in _before(arm) if name in plans}
    return _with(profile, f"{arm} alone", {**before, arm: plans[arm]})


def without(profile: Profile, arm: str) -> Profile:
    plans = {name: plan for name, plan in dict(profile.arms).items() if name != arm}
    return _with(profile, f"{profile.name} without {arm}", plans)


def joined(profile: Profile, arm: str) -> Profile:
    """Return `profile` with one arm more, of the keyword arm's weight."""
    plans = {**profile.arms, arm: Plan(weight=1.0, pool=JOINED)}
    return _with(profile, f"{profile.name} with {arm}", plans)


def only(profile: Profile, kept: Collection[str]) -> Profile:
    """Return `profile` with the arms of `kept` that it has."""
    plans = {name: plan for name, plan in dict(profile.arms).items() if name in kept}
    return _with(profile, f"{profile.name}: {' + '.join(kept)}", plans)


def hits_of(arm: str, project: Project, question: str, limit: int) -> list[str]:
    """Return the keys of the first `limit` nodes that one arm finds by itself."""
    vector, model_id = embed_question(question)
    ask = _asked(project, question, profiles["default"])
    found = arms[arm].find(ask.ask(ask.words(), vector, model_id), Plan())
    return [hit.key for hit in found][:limit]


def two_arms(
    project: Project, question: str, vector: str | None, model_id: int, limit: int
) -> list[str]:
    """Rank by keyword, vector and their fusion alone: nothing parsed, nothing shown."""
    recipe = only(profiles["default"], TEXT_ARMS)
    now = timezone.now()
    nodes = visible_nodes(project, None, now)
    nodes = narrowed(nodes, project, None, NO_FILTERS)
    parsed = Parsed(query=question, asked=question)
    asked = Question(project, parsed, NO_FILTERS, nodes, nodes, now)
    found = run_arms(asked.ask(asked.words(), vector, model_id), recipe.arms)
    ranked = fuse(found.hits, recipe.weights, recipe.k or RRF_K, limit)
    return [hit.key for hit in ranked]


def _asked(project: Project, question: str, recipe: Profile) -> Question:
    return understood(project, question, None, NO_FILTERS, recipe)


@contextmanager
def unlimited() -> Iterator[None]:
    """Let the keyword arm rank every match of any word."""
    with patch.object(words, "ANY_WORD_BELOW", 10**9):
        yield


def contributed(
    arm: str, project: Project, question: str, *, profile: str = "default"
) -> list[str]:
    """Return the keys that an arm put into an answer, in its own order."""
    answer = search(project, question, user=None, limit=EVERY, profile=profile)
    found = [
        (result.contributions[arm].rank, result.key)
        for result in answer.results
        if arm in result.contributions
    ]
    return [key for _, key in sorted(found)]


def _before(arm: str) -> Sequence[str]:
    if arm not in arms:
        return ()
    found: list[str] = []
    for name in arms[arm].after:
        found += [*_before(name), name]
    return found


def _with(profile: Profile, name: str, plans: dict[str, Plan]) -> Profile:
    return replace(profile, name=name, arms=plans)


def _weightless(plan: Plan) -> Plan:
    return replace(plan, weight=0.0)
