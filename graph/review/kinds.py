"""Kinds of review items by name, and who relies on a node: filled by every layer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db import models

from connections.models import Project, User
from connections.records import JSON
from connections.registry import Registry
from graph.models import ReviewItem


class Verb(models.TextChoices):
    """What can be decided of an item; a kind names those that make sense for it."""

    KEEP = "keep", "Keep"
    PRUNE = "prune", "Prune"
    SNOOZE = "snooze", "Snooze"
    MERGE = "merge", "Merge"
    EDIT = "edit", "Edit"
    ASSIGN = "assign", "Assign"


@dataclass(frozen=True, slots=True, kw_only=True)
class Flagged:
    """What a finder found: one item of its kind.

    `fingerprint` must change exactly when the evidence changes on which the thing was
    flagged. `audience_id` is of those who may see all that the item shows.
    """

    subject: str
    fingerprint: str
    why: str
    audience_id: int
    node_id: int | None = None
    other_id: int | None = None
    detail: Mapping[str, JSON] = field(default_factory=dict)
    age_days: int | None = None
    threshold: int | None = None
    uses: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A person's word on an item: what the verb of its kind is carried out with.

    `text` and `title` are an edit's new words; `into` the node a merge keeps; `token`
    confirms the consequences of a prune.
    """

    verb: Verb
    by: User
    reason: str = ""
    until: datetime | None = None
    assignee: User | None = None
    title: str | None = None
    text: str | None = None
    into: int | None = None
    token: str = ""


# Carries a verb out, in the transaction of the decision; returns what an undo needs.
Act = Callable[[ReviewItem, Decision], Mapping[str, JSON]]
# Takes a decision back, by what its act returned.
Undo = Callable[[ReviewItem, Mapping[str, JSON], User], None]
# Finds all items of a kind in a project, as they are at a moment; may stream them.
Find = Callable[[Project, datetime], Iterable[Flagged]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewKind:
    """A kind of item: what it means, what can be decided, and how that is done.

    `snooze` and `assign` are the queue's own and need no act. A verb without an undo
    says so on its page before it is carried out. `labels` name verbs whose plain word
    would say too little; `why_kept` asks for the reason of a keep.
    """

    name: str
    title: str
    icon: str
    meaning: str
    acts: Mapping[Verb, Act]
    undos: Mapping[Verb, Undo] = field(default_factory=dict)
    labels: Mapping[Verb, str] = field(default_factory=dict)
    why_kept: str = "Why it holds"

    def label(self, verb: Verb) -> str:
        """Return what a verb is called for items of this kind."""
        return self.labels.get(verb, str(verb.label))

    @property
    def verbs(self) -> tuple[Verb, ...]:
        own = (Verb.SNOOZE, Verb.ASSIGN)
        return tuple(verb for verb in Verb if verb in self.acts or verb in own)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reliance:
    """What relies on a node, of one sort: so many, with a few by name and address.

    `hidden` are those that the reader may not see, beside the `count` they may; `one`
    is the name of a single one.
    """

    name: str
    count: int
    examples: Sequence[tuple[str, str]] = ()
    hidden: int = 0
    one: str = ""

    @property
    def called(self) -> str:
        """The name that fits the count."""
        return self.one if self.count == 1 and self.one else self.name


# What relies on nodes, as far as a reader may see it: (project, nodes, reader).
Dependants = Callable[[Project, Sequence[int], User], Sequence[Reliance]]

# How often nodes are used, of one sort: (project, nodes) -> counts of those that are.
UsageCounts = Callable[[Project, Sequence[int]], Mapping[int, int]]

review_kinds: Registry[ReviewKind] = Registry("kind of review")
# By the name of the kind whose items they find.
finders: Registry[Find] = Registry("finder of review items")
dependants: Registry[Dependants] = Registry("sort of reliance")
usage_counts: Registry[UsageCounts] = Registry("count of uses")
