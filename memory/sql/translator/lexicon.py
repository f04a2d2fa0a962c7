"""The names of a schema as people say them: which words mean which table or column."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from connections.databases.base import Column, Schema, Table
from memory.sql.translator.base import Ref
from memory.sql.translator.synonyms import SYNONYMS
from memory.sql.translator.word_lists import word_list
from memory.sql.translator.words import parts_of, roots, stem

# Words of identifiers that say nothing of what a table holds.
FILLERS = frozenset(
    stem(word)
    for word in word_list(
        "data datum daten list liste info detail table tbl dim fact record ref"
        " reference master"
    )
)
# Last words of columns that people leave out.
HEADS = frozenset(word_list("id name code key number no nr type text value"))
ABBREVIATED = range(3, 6)
# How sure a way of naming is; FULL ones outrank what else a word may mean.
FULL, WITHOUT_TABLE, PART, LOOSE, DISTANT = 1.0, 0.95, 0.7, 0.6, 0.5
SAME_ROOT, SYNONYM = 0.85, 0.8
LEAST_COMPOUND = 4


@dataclass(frozen=True, slots=True)
class Named:
    """The tables and columns that a few words may mean, each with how surely."""

    tables: tuple[tuple[Table, float], ...] = ()
    columns: tuple[tuple[Ref, float], ...] = ()

    @property
    def best(self) -> float:
        return max((score for _, score in (*self.tables, *self.columns)), default=0.0)


@dataclass
class Lexicon:
    """An index of a schema's names and of the values it is known to hold."""

    schema: Schema
    tables: dict[str, dict[str, tuple[Table, float]]] = field(default_factory=dict)
    columns: dict[str, dict[tuple[str, str], tuple[Ref, float]]] = field(
        default_factory=dict
    )
    values: dict[str, list[tuple[Ref, str]]] = field(default_factory=dict)
    words: set[str] = field(default_factory=set)
    by_root: dict[str, set[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        strip = _common_prefix([parts_of(t.name) for t in self.schema.tables])
        for table in self.schema.tables:
            said = tuple(stem(word) for word in parts_of(table.name)[strip:])
            self._add_table(table, said)
            parts = [parts_of(column.name) for column in table.columns]
            cut = _common_prefix(parts)
            for column, words in zip(table.columns, parts, strict=True):
                stems = tuple(stem(word) for word in words)
                self._add_column(Ref(table, column), stems, said)
                if cut:
                    self._add_column(Ref(table, column), stems[cut:], said)
                self._add_values(Ref(table, column))
        for word in self.words:
            for root in roots(word):
                self.by_root.setdefault(root, set()).add(word)

    def named(self, stems: Sequence[str]) -> Named:
        """Return what words may mean, by their stems in order."""
        key = "".join(stems)
        return Named(
            tuple(self.tables.get(key, {}).values()),
            tuple(self.columns.get(key, {}).values()),
        )

    def meant(self, word: str) -> Iterable[tuple[str, float]]:
        """Yield words of the schema that another word may stand for, surest first."""
        plain = stem(word)
        for root in sorted(roots(word)):
            for known in sorted(self.by_root.get(root, ())):
                yield known, SAME_ROOT
        for root in sorted({plain, *roots(word)}):
            for other in sorted(SYNONYMS.get(root, ())):
                if other in self.words:
                    yield other, SYNONYM
        if len(plain) > max(ABBREVIATED):
            for length in reversed(ABBREVIATED):
                if plain[:length] in self.words:
                    yield plain[:length], SYNONYM

    def _add_table(self, table: Table, words: tuple[str, ...]) -> None:
        core = tuple(word for word in words if word not in FILLERS) or words
        self._table(table, words, FULL)
        self._table(table, core, WITHOUT_TABLE)
        if len(core) > 1:
            self._table(table, core[-1:], PART)
        self.words.update(words)

    def _table(self, table: Table, words: tuple[str, ...], score: float) -> None:
        found = self.tables.setdefault("".join(words), {})
        if score > found.get(table.path, (table, 0.0))[1]:
            found[table.path] = table, score

    def _add_column(
        self, ref: Ref, words: tuple[str, ...], table: tuple[str, ...]
    ) -> None:
        self._column(ref, words, FULL)
        bare = tuple(word for word in words if word not in table)
        if bare and len(bare) < len(words):
            self._column(ref, bare, WITHOUT_TABLE)
        if len(words) > 1:
            if words[-1] in HEADS and words[:-1] != table:
                self._column(ref, words[:-1], DISTANT if ref.column.is_key else PART)
            for first in range(len(words)):
                for last in range(first + 1, len(words) + 1):
                    some = words[first:last]
                    telling = set(some) - HEADS - {*table}
                    if len(some) < len(words) and any(len(w) > 2 for w in telling):
                        self._column(ref, some, LOOSE)
        self.words.update(words)

    def _column(self, ref: Ref, words: tuple[str, ...], score: float) -> None:
        found = self.columns.setdefault("".join(words), {})
        key = (ref.table.path, ref.column.name)
        if words and score > found.get(key, (ref, 0.0))[1]:
            found[key] = ref, score

    def _add_values(self, ref: Ref) -> None:
        if ref.column.exposure != "visible":
            return
        for value in ref.column.values:
            plain = value.strip().lower()
            if plain:
                self.values.setdefault(plain, []).append((ref, value))

    def split(self, word: str) -> tuple[str, ...] | None:
        """Return the two known words that a compound is made of."""
        plain = stem(word)
        for place in range(LEAST_COMPOUND, len(plain) - LEAST_COMPOUND + 1):
            first, second = plain[:place], plain[place:]
            if not self._known(second):
                continue
            for joint in ("", "s", "n", "en", "es"):
                if first.endswith(joint):
                    head = self._known(first[: len(first) - len(joint)] or first)
                    if head:
                        return head, str(self._known(second))
        return None

    def ending(self, word: str) -> list[str]:
        """Return compounds of the schema that end with a word, or begin with it."""
        plain = stem(word)
        if len(plain) < LEAST_COMPOUND:
            return []
        ends = [known for known in sorted(self.words) if known.endswith(plain)]
        return [known for known in ends if len(known) > len(plain)]

    def _known(self, word: str) -> str | None:
        if word in self.words:
            return word
        return next(
            (w for r in sorted(roots(word)) for w in sorted(self.by_root.get(r, ()))),
            None,
        )


def _common_prefix(names: Sequence[tuple[str, ...]]) -> int:
    """Return how many leading words nearly all of several names share."""
    if len(names) < 3:
        return 0
    length = 0
    while True:
        heads = Counter(name[: length + 1] for name in names if len(name) > length + 1)
        shared = max(heads.values(), default=0)
        if shared < len(names):
            return length
        length += 1


def is_name_like(words: Sequence[str]) -> bool:
    return bool(words) and words[-1] in ("name", "title", "titel", "bezeichnung")


def naming_columns(table: Table) -> tuple[Column, ...]:
    """Return the columns that name a table's rows for a person; none where unclear."""
    by_words: dict[tuple[str, ...], Column] = {}
    for column in table.columns:
        by_words.setdefault(tuple(stem(p) for p in parts_of(column.name)), column)
    own = tuple(stem(part) for part in parts_of(table.name))
    cores = {own, own[-1:], tuple(w for w in own if w not in FILLERS), own[1:]}
    for noun in ("name", "title", "titel", "bezeichnung"):
        for words in ((noun,), *((*core, noun) for core in cores if core)):
            if words in by_words:
                return (by_words[words],)
        for core in cores:
            for words, column in by_words.items():
                if core and "".join(words) == "".join((*core, noun)):
                    return (column,)
    pairs = (("first", "last"), ("vor", "nach"), ("given", "family"), ("f", "l"))
    for first, last in pairs:
        found = [
            next((c for w, c in by_words.items() if "".join(w) == f"{part}name"), None)
            for part in (first, last)
        ]
        if found[0] and found[1]:
            return (found[0], found[1])
    for core in cores:
        if core in by_words:
            return (by_words[core],)
    named = [c for w, c in by_words.items() if is_name_like(w) or w[-1:] == ("name",)]
    if not named:
        named = [c for w, c in by_words.items() if w and w[-1].endswith("name")]
    if len(named) == 1 and named[0].family == "text":
        return (named[0],)
    return ()


def key_columns(table: Table) -> tuple[Column, ...]:
    """Return the columns of a table's key; else the one that convention calls so."""
    keys = tuple(column for column in table.columns if column.is_key)
    if keys:
        return keys
    own = [stem(part) for part in parts_of(table.name)]
    grouped: dict[str, list[Column]] = defaultdict(list)
    for column in table.columns:
        grouped["".join(stem(p) for p in parts_of(column.name))].append(column)
    for name in ("id", "".join((*own, "id")), f"{own[-1]}id" if own else "id"):
        if len(grouped[name]) == 1:
            return (grouped[name][0],)
    return ()
