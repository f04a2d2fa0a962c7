"""Persons that a sentence names, as the project knows them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from django.db.models import Func, Q, Value
from django.db.models.functions import Left, Lower

from connections.models import Project, User
from graph.models import Node
from graph.models.node import UNNAMED_TYPES

MOST_PERSONS = 200


def persons_named(project: Project, user: User, names: Iterable[str]) -> dict[str, str]:
    """Return the full name of each of `names` that is a person's, whole or by the
    first word; where several bear it, it stays as it was said."""
    wanted = {" ".join(name.split()): name for name in names}
    if not wanted:
        return {}
    # As the index of names has it.
    first = Func(Lower(Left("title", 100)), Value(r"\w+"), function="substring")
    known = Node.objects.visible_to(user).of(project).current()
    titles = (
        known.filter(~Q(node_type__in=UNNAMED_TYPES), node_type="person")
        .annotate(first=first)
        .filter(first__in={name.split()[0].lower() for name in wanted})
        .values_list("title", flat=True)[:MOST_PERSONS]
    )
    bearers: dict[str, set[str]] = defaultdict(set)
    for title in titles:
        words = title.split()
        for length in range(1, len(words) + 1):
            bearers[" ".join(words[:length]).lower()].add(title)
    return {
        said: _one(bearers[name.lower()], said)
        for name, said in wanted.items()
        if name.lower() in bearers
    }


def _one(titles: set[str], said: str) -> str:
    return next(iter(titles)) if len(titles) == 1 else said
