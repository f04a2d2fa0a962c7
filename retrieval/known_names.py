"""Names that a question may use although no node bears them yet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from connections.registry import Registry
from graph.vocabulary import Use, listed_names, partial_names
from retrieval.wording import plain

# Node type by name.
Names = Mapping[str, str]
NamesOf = Callable[[], Names]
known_names: Registry[NamesOf] = Registry("list of known names")


@known_names.register("extraction's list")
def listed() -> Names:
    """Return what extraction knows without a project, also by part of a name."""
    whole = {
        spelling: name.type
        for name in listed_names()
        if name.use is Use.ALWAYS
        for spelling in (name.name, *name.spellings)
    }
    parts = {word: names[0].type for word, names in partial_names().items() if names}
    return {**parts, **whole}


def by_plain_name() -> Mapping[str, tuple[str, str]]:
    """Return (name, node type) of every known name, by the name in plain letters."""
    return _by_plain_name(tuple(known_names.values()))


@cache
def _by_plain_name(lists: tuple[NamesOf, ...]) -> Mapping[str, tuple[str, str]]:
    return {
        plain(name): (name, node_type)
        for names in lists
        for name, node_type in names().items()
    }
