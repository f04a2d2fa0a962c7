"""Slips in a question: a word that no text has, a letter away from one that a text has."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import partial

from connections.models import Project
from graph.querysets import NodeQuerySet
from retrieval import slips_sql
from retrieval.allowed import rows_among
from retrieval.dictionaries import is_word
from retrieval.frequencies import languages_of
from retrieval.results import Slip

# Of the stems a letter away so many of the likeliest are looked for among the texts.
LIKELIEST = 3
# What is longer is no word, and has too many beside it.
LONGEST = 30


def find_slips(
    project: Project, nodes: NodeQuerySet, words: Sequence[str]
) -> tuple[Slip, ...]:
    """Return which of `words`, none in a counted text, was meant to be a word of `nodes`.

    What a dictionary has is none: nobody wrote of it here. The first letter stands. A
    capital may be the name of somebody unknown, whom another letter would make somebody
    else: there only neighbours that changed places, and a letter that is doubled or
    should be, are a slip.
    """
    words = [word for word in words if len(word) <= LONGEST]
    languages = languages_of(project) if words else []
    said = {low: word for word in words if not is_word(low := word.lower(), languages)}
    if not said:
        return ()
    values = {
        "words": list(said),
        "are_names": [word[:1].isupper() for word in said.values()],
        "likeliest": LIKELIEST,
    }
    likely: dict[str, list[str]] = defaultdict(list)
    rows = rows_among(nodes, project, slips_sql.MEANT, values, prepared=True)
    for low, spellings in rows:
        likely[low] += spellings
    return tuple(
        Slip(said=word, meant=_cased(_best(likely[low], languages), word))
        for low, word in said.items()
        if low in likely
    )


def without_slips(text: str, slips: Iterable[Slip]) -> str:
    """Return `text` as it was meant."""
    for slip in slips:
        said = re.compile(rf"(?<![\w#@]){re.escape(slip.said)}(?!\w)", re.IGNORECASE)
        text = said.sub(partial(_as_meant, slip), text)
    return text


def _as_meant(slip: Slip, found: re.Match[str]) -> str:
    return _cased(slip.meant.lower(), found[0])


def _best(spellings: Sequence[str], languages: Sequence[str]) -> str:
    """Return the first that is a word, or else the first: it may be a name."""
    words = (each for each in spellings if is_word(each, languages))
    return next(words, spellings[0])


def _cased(meant: str, said: str) -> str:
    if said.isupper():
        return meant.upper()
    return meant[:1].upper() + meant[1:] if said[:1].isupper() else meant
