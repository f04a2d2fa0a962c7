"""Searches as data: which arms, at what weight, fused how, and what comes after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from connections.registry import Registry
from retrieval.arms.base import Plan
from retrieval.fusion import RRF_K


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A named search: its arms, the constant of their fusion (None: it has one arm,
    whose own scores are the relevance), and the steps after it.

    `spelling` reads a word that no text has as one that is a letter away. `entities`
    finds also what was read out of texts. `cap` keeps so many of each store
    as MEMORY_FABRIC_MAX_RESULTS says, `merge` makes one of near-duplicates of at least
    `merge_words` words, `cross_reference` tells which things of the graph a text names,
    `boost` favours what names one, `rerank` asks for the reranker that is configured,
    or else the one it names, and `weigh` for the published score of recency, relevance
    and authority in place of relevance alone.
    """

    name: str
    arms: Mapping[str, Plan]
    k: float | None = RRF_K
    spelling: bool = False
    entities: bool = False
    cap: bool = False
    merge: bool = False
    merge_words: int = 0
    cross_reference: bool = False
    boost: bool = False
    rerank: str = ""
    weigh: bool = False

    @property
    def weights(self) -> dict[str, float]:
        return {name: plan.weight for name, plan in self.arms.items()}


profiles: Registry[Profile] = Registry("profile")

_ALL_WORDS = {"match": "all"}

FABRIC = profiles.add(
    "fabric",
    Profile(
        name="fabric",
        arms={
            "keyword": Plan(options=_ALL_WORDS),
            "vector": Plan(options={"similarity": 0.2}),
        },
    ),
)
profiles.add(
    "engram",
    Profile(
        name="engram",
        arms={
            "keyword": Plan(options={**_ALL_WORDS, "metadata": True}),
            "vector": Plan(),
            "graph": Plan(),
        },
        entities=True,
    ),
)
profiles.add(
    "athena",
    Profile(
        name="athena",
        arms={
            "vector": Plan(weight=0.30),
            "tags": Plan(weight=0.25),
            "community": Plan(weight=0.25),
            "filename": Plan(weight=0.20),
        },
        rerank="rules",
    ),
)
profiles.add(
    "memory-fabric",
    Profile(
        name="memory-fabric",
        arms={"graph": Plan(options={"depth": 2})},
        k=None,
        entities=True,
        cap=True,
        merge=True,
        cross_reference=True,
        boost=True,
        weigh=True,
    ),
)
# Fitted on the development sets, each conversation or meeting left out in turn
# (docs/benchmarks.md): the walk has the words of the text arms and what lies around
# them; these order what it leaves equal.
DEFAULT = profiles.add(
    "default",
    Profile(
        name="default",
        arms={
            "keyword": Plan(weight=1.0, pool=60),
            "vector": Plan(weight=0.25, pool=60),
            "walk": Plan(weight=10.0),
        },
        k=10,
        spelling=True,
        # Short texts are alike ("Thanks!") without one being a copy of the other.
        merge=True,
        merge_words=8,
        cross_reference=True,
    ),
)
