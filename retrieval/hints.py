"""Entity hints: the things of the graph that a question names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from connections.models import Project
from graph.querysets import NodeQuerySet
from retrieval import hints_sql
from retrieval.allowed import rows_among
from retrieval.dictionaries import is_word
from retrieval.known_names import by_plain_name
from retrieval.results import Hint
from retrieval.times import EVENT_KINDS, EventPhrase
from retrieval.wording import (
    AUXILIARIES,
    EVERYDAY,
    FILLER,
    SAYING,
    WORDS,
    Word,
    plain,
    words_of,
)

LONGEST, HINTS_MOST = 4, 8
# An operator binds: `from:ann` means every Ann.
NAMESAKES_MOST = 200
# A first name stands for a person as a partial name does elsewhere (REFERENCE.md).
PARTIAL = 0.8
MISSPELT_LETTERS, MISSPELT_LEAST = 5, 0.5
UNKNOWN_MOST, ALIKE_MOST = 4, 50
# Most people go by the first or last of two names.
LONG_NAME = 3
EVENT_LEAST = 0.6


@dataclass(frozen=True, slots=True)
class Gram:
    """Up to four words in a row, from word `first` to before word `after`."""

    text: str
    first: int
    after: int


@dataclass(frozen=True, slots=True)
class Named:
    """A hint, and which of the question's words it stands for."""

    hint: Hint
    gram: Gram


@dataclass(frozen=True, slots=True)
class Found:
    """The hints of a question, best first, the people that operators name, and words
    that no text has, a few."""

    named: tuple[Named, ...] = ()
    people: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


def find_hints(
    project: Project,
    nodes: NodeQuerySet,
    text: str,
    *,
    people: Sequence[str] = (),
    ignore: frozenset[str] = frozenset(),
) -> Found:
    """Return what `text` names among `nodes` and the known names.

    One statement, a second where a word is unknown to the project's texts. `people`
    are looked up by whole, first or last name; those nobody bears stay as they are.
    Names in `ignore` (in lower case) are passed over.
    """
    words = words_of(text)[:WORDS]
    grams = _grams(text, words)
    rows, unknown = _rows(project, nodes, grams, people)
    named = [
        Named(_hint(row), gram)
        for gram in grams
        for row in rows.get(gram.text, ())
        if _is_meant(row, gram, words, text, project.language)
    ]
    named += _known(grams, {n.gram.text for n in named if n.hint.similarity == 1})
    kept = [n for n in named if n.hint.name.lower() not in ignore]
    return Found(_without_overlaps(kept), _people(people, rows), unknown)


def find_event(
    project: Project, nodes: NodeQuerySet, phrase: EventPhrase, now: datetime
) -> tuple[datetime, int] | None:
    """Return when the meeting of that name was, and where in the text its name ends."""
    values = {
        "names": [name for name, _, _ in phrase.names],
        "words": [said for _, said, _ in phrase.names],
        "kinds": rf"\m({EVENT_KINDS})\M",
        "least": EVENT_LEAST,
        "now": now,
    }
    for place, at in rows_among(nodes, project, hints_sql.EVENT, values):
        return at, phrase.names[place - 1][2]
    return None


@dataclass(frozen=True, slots=True)
class _Row:
    said: str
    node_id: int | None
    key: str
    node_type: str
    title: str
    similarity: float


def _rows(
    project: Project, nodes: NodeQuerySet, grams: Sequence[Gram], people: Sequence[str]
) -> tuple[dict[str, list[_Row]], tuple[str, ...]]:
    """Return what each text names, the best first, and words that no text has."""
    said = list(dict.fromkeys([*(gram.text for gram in grams), *people]))
    if not any(map(plain, said)):
        return {}, ()
    near = [
        (word, gram.text)
        for gram in grams
        for word in gram.text.split()
        if len(word) >= MISSPELT_LETTERS and word.isalpha()
    ]
    values = {
        "grams": said,
        "words": list(dict.fromkeys(word for word, _ in near)),
        "partial": PARTIAL,
        "unknown_most": UNKNOWN_MOST,
        "each_most": NAMESAKES_MOST,
    }
    found = rows_among(nodes, project, hints_sql.NAMED, values, prepared=True)
    rows = [_Row(*row) for row in found]
    named = [row for row in rows if row.node_id is not None]
    known = {word for row in named for word in row.said.split()}
    unknown = {row.said for row in rows if row.node_id is None} - known
    by_text: dict[str, list[_Row]] = {}
    for row in (*named, *_misspelt(project, nodes, near, unknown)):
        by_text.setdefault(row.said, []).append(row)
    return by_text, tuple(sorted(unknown))


def _misspelt(
    project: Project,
    nodes: NodeQuerySet,
    near: Sequence[tuple[str, str]],
    unknown: set[str],
) -> list[_Row]:
    pairs = [pair for pair in near if pair[0] in unknown]
    if not pairs:
        return []
    values = {
        "near_words": [word for word, _ in pairs],
        "near_grams": [gram for _, gram in pairs],
        "least": MISSPELT_LEAST,
        "alike_most": ALIKE_MOST,
    }
    return [
        _Row(*row) for row in rows_among(nodes, project, hints_sql.MISSPELT, values)
    ]


def _grams(text: str, words: Sequence[Word]) -> list[Gram]:
    """Return the words in a row that may be a name, the longest first.

    None begins or ends in a filler word, or reaches over punctuation.
    """
    found = []
    for length in range(LONGEST, 0, -1):
        for first in range(len(words) - length + 1):
            run = words[first : first + length]
            ends = (run[0], run[-1])
            if any(w.lower in FILLER for w in ends) and not (
                length == 1 and _may_be_name(words, first)
            ):
                continue
            if not _is_unbroken(text, run) or not plain(run[0].text):
                continue
            joined = " ".join(word.text for word in run)
            if len(plain(joined)) > 1:
                found.append(Gram(joined, first, first + length))
    return found


def _may_be_name(words: Sequence[Word], place: int) -> bool:
    """Say whether a filler word is somebody all the same: Will, "what did may say"."""
    word = words[place]
    return word.lower in EVERYDAY and (
        word.is_capitalised or _is_asked_of(words, place)
    )


def _is_asked_of(words: Sequence[Word], place: int) -> bool:
    """Say whether a word stands where only somebody can: "did ... say"."""
    before = words[place - 1].lower if place else ""
    after = words[place + 1].lower if place + 1 < len(words) else ""
    return before in AUXILIARIES and after in SAYING


def _is_unbroken(text: str, run: Sequence[Word]) -> bool:
    pairs = pairwise(run)
    return all(
        not text[a.begin + len(a.text) : b.begin].strip(" -'\u2019") for a, b in pairs
    )


def _is_meant(
    row: _Row, gram: Gram, words: Sequence[Word], text: str, language: str
) -> bool:
    """Say whether the words are the name, where they could be plain English too."""
    word = words[gram.first]
    is_one = gram.after - gram.first == 1
    if not is_one:
        return True
    if row.node_type == "channel":
        return _is_channel(gram, words, text)
    if row.node_type == "file":
        return row.similarity == 1 or "." in gram.text
    if row.node_type == "pattern" and row.similarity == PARTIAL:
        return len(gram.text) >= MISSPELT_LETTERS
    if row.node_type in ("person", "technology") and (
        word.lower in EVERYDAY or _is_part_of_long(row, word, language)
    ):
        return _is_proper(gram, words)
    return True


def _is_part_of_long(row: _Row, word: Word, language: str) -> bool:
    """Say whether a plain word is one of several of a name, as senders have it that are
    nobody: "support" of "Acme Pay Support"."""
    is_long = len(row.title.split()) >= LONG_NAME and row.similarity == PARTIAL
    return is_long and is_word(word.lower, [language])


def _is_channel(gram: Gram, words: Sequence[Word], text: str) -> bool:
    """Say whether one word is marked as a channel: `#support`, "the support channel"."""
    beside = [*words[gram.after : gram.after + 1]]
    beside += words[gram.first - 1 : gram.first] if gram.first else []
    return (
        gram.text.startswith("#")
        or any(word.lower == "channel" for word in beside)
        or "-" in gram.text
        or "_" in gram.text
    )


def _is_proper(gram: Gram, words: Sequence[Word]) -> bool:
    """Say whether an everyday word is a name here: "did mark say", "did Mark find"."""
    word = words[gram.first]
    follows = words[gram.after].lower if gram.after < len(words) else ""
    if _is_asked_of(words, gram.first):
        return True
    if gram.first == 0:
        return word.is_capitalised and follows in SAYING - AUXILIARIES
    is_telling = any(word.text[0].islower() for word in words)
    return word.is_capitalised and is_telling


def _hint(row: _Row) -> Hint:
    return Hint(
        said=row.said,
        name=row.title,
        node_type=row.node_type,
        key=row.key,
        node_id=row.node_id,
        similarity=round(row.similarity, 3),
    )


def _known(grams: Sequence[Gram], in_graph: set[str]) -> list[Named]:
    names = by_plain_name()
    found = []
    for gram in grams:
        if gram.text not in in_graph and (known := names.get(plain(gram.text))):
            name, node_type = known
            found.append(
                Named(Hint(said=gram.text, name=name, node_type=node_type), gram)
            )
    return found


def _without_overlaps(named: Sequence[Named]) -> tuple[Named, ...]:
    """Keep the exact before the similar and the longer before the shorter.

    What stands for words that a better hint already stands for is dropped, unless it
    is as good: several nodes may bear one name.
    """
    best: dict[int, tuple[float, int]] = {}
    kept: list[Named] = []
    for one in sorted(named, key=_goodness, reverse=True):
        mine = (one.hint.similarity, one.gram.after - one.gram.first)
        places = range(one.gram.first, one.gram.after)
        if all(best.get(place, mine) == mine for place in places):
            best |= dict.fromkeys(places, mine)
            kept.append(one)
    nodes = {one.hint.node_id or one.hint.name: one for one in reversed(kept)}
    unique = [one for one in kept if nodes[one.hint.node_id or one.hint.name] is one]
    return tuple(unique[:HINTS_MOST])


def _goodness(named: Named) -> tuple[bool, int, float]:
    length = named.gram.after - named.gram.first
    return named.hint.similarity == 1, length, named.hint.similarity


def _people(asked: Sequence[str], rows: dict[str, list[_Row]]) -> tuple[str, ...]:
    names: list[str] = []
    for person in asked:
        found = [row for row in rows.get(person, ()) if row.node_type == "person"]
        exact = [row for row in found if row.similarity >= PARTIAL]
        names += [row.title for row in exact] or [person]
    return tuple(dict.fromkeys(names))
