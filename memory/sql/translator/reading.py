"""The state of reading one question: what is left of it, and the plan so far."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from connections.databases.base import Table
from memory.sql.translator.base import NotUnderstood, Plan, Ref
from memory.sql.translator.language import Hinted, Kind, Language
from memory.sql.translator.lexicon import Lexicon
from memory.sql.translator.linking import Item
from memory.sql.translator.periods import YEARS
from memory.sql.translator.resolving import Resolver
from memory.sql.translator.words import parts_of, roots, stem

Handler = Callable[[re.Match[str]], bool]
YEAR_WORDS = frozenset(("year", "jahr"))
CREATED = ("created", "create", "date", "datum", "time", "timestamp", "on", "at")


@dataclass
class Reading:
    """The items of a question that no rule has read yet, and what was read of it."""

    items: list[Item]
    lexicon: Lexicon
    language: Language
    light: Sequence[Item] = ()
    plan: Plan = field(default_factory=Plan)

    def __post_init__(self) -> None:
        self.resolver = Resolver(list(self.items), self.language)

    @property
    def codes(self) -> str:
        return "".join(item.kind for item in self.items)

    def each(self, pattern: str, handler: Handler) -> None:
        """Let `handler` read all places that look like `pattern`, from the left.

        It says whether it did; where it did not, the next place is tried.
        """
        start = 0
        while True:
            match = re.compile(pattern).search(self.codes, start)
            if match is None:
                return
            if not handler(match):
                start = match.start() + 1

    def of(self, match: re.Match[str], name: str) -> Item:
        """Return the first item that a group of a pattern matched."""
        return self.items[match.start(name)]

    def all_of(self, match: re.Match[str], name: str, kinds: str) -> list[Item]:
        """Return the items of some kinds that a group of a pattern matched."""
        some = self.items[match.start(name) : match.end(name)]
        return [item for item in some if item.kind in kinds]

    def done(self, first: int, end: int, kind: Kind = "f") -> None:
        """Put one item of `kind` in the place of those read."""
        read = self.items[first:end]
        tables = next((item.tables for item in read if item.kind == "t"), ())
        text = " ".join(item.text for item in read)
        place = read[0].place if read else 0
        self.items[first:end] = [Item(kind, text, place, tables=tables)]

    def tables(self) -> list[Table]:
        return self.resolver.tables()

    def year_column(self, item: Item) -> Ref | None:
        """Return the column of years nearest to an item, if one table has just one."""
        for table in self.resolver.nearest(item):
            found = [
                Ref(table, column)
                for column in table.columns
                if YEAR_WORDS & {stem(part) for part in parts_of(column.name)}
                and column.family in ("number", "text")
            ]
            if len(found) == 1:
                return found[0]
            if found:
                exact = [r for r in found if stem(r.column.name) in YEAR_WORDS]
                return exact[0] if len(exact) == 1 else None
        return None

    def date_column(self, item: Item) -> Ref:
        """Return the column of days that an item is about; raises where it is unclear.

        A verb that a column is called after tells it; else the nearest table's.
        """
        named = self._named_by_verb(item)
        if named is not None:
            return named
        for table in self.resolver.nearest(item):
            dated = [
                Ref(table, column)
                for column in table.columns
                if column.family in ("date", "timestamp")
            ]
            if not dated:
                continue
            if len(dated) == 1:
                return dated[0]
            return self._told_by_verb(item, dated)
        raise NotUnderstood(f"no column tells the time of “{item.text}”")

    def _named_by_verb(self, item: Item) -> Ref | None:
        said = [light for light in self.light if light.place < item.place]
        for light in reversed(said):
            wanted = roots(light.text)
            found = [
                Ref(table, column)
                for table in self.lexicon.schema.tables
                for column in table.columns
                if column.family in ("date", "timestamp")
                and any(wanted & roots(part) for part in parts_of(column.name))
            ]
            if len(found) == 1:
                return found[0]
        return None

    def _told_by_verb(self, item: Item, dated: Sequence[Ref]) -> Ref:
        """Choose among columns of days by the verb said beside, else by convention."""
        said = [light for light in self.light if light.place < item.place]
        for word in reversed([light.text for light in said]):
            wanted = roots(word)
            for texts in (lambda r: r.column.name, lambda r: r.column.comment):
                found = [
                    ref
                    for ref in dated
                    if any(wanted & roots(part) for part in parts_of(texts(ref)))
                ]
                if len(found) == 1:
                    return found[0]
        own = roots(parts_of(dated[0].table.name)[-1])
        alike = [
            ref
            for ref in dated
            if any(own & roots(part) for part in parts_of(ref.column.name))
        ]
        if len(alike) == 1:
            self.plan.assume(f"“{item.text}” read as {alike[0].shown}", 0.9)
            return alike[0]
        for name in CREATED:
            found = [
                ref
                for ref in dated
                if stem(name) in {stem(part) for part in parts_of(ref.column.name)}
            ]
            if len(found) == 1:
                self.plan.assume(f"“{item.text}” read as {found[0].shown}", 0.9)
                return found[0]
        names = ", ".join(ref.shown for ref in dated[:3])
        raise NotUnderstood(f"“{item.text}” may be of {names}")

    def hinted(self, hinted: Hinted, tables: Sequence[Table]) -> tuple[Ref, str] | None:
        """Return the column that a word such as "oldest" is about, and the direction."""
        for table in tables:
            for name, way in hinted.hints:
                found = self._hint(table, name)
                if len(found) == 1:
                    if name != "*date":
                        ref = found[0]
                        self.plan.assume(f"{ref.shown} decides which", 0.95)
                    return found[0], way
        return None

    def _hint(self, table: Table, name: str) -> list[Ref]:
        refs = [Ref(table, column) for column in table.columns]
        if name == "*date":
            dated = [r for r in refs if r.column.family in ("date", "timestamp")]
            years = [
                r
                for r in refs
                if {"year", "jahr", "date", "datum"}
                & {stem(part) for part in parts_of(r.column.name)}
            ]
            return dated or years
        wanted = stem(name)
        exact = [r for r in refs if stem(r.column.name) == wanted]
        if exact:
            return exact
        return [
            r
            for r in refs
            if any(stem(part).startswith(wanted) for part in parts_of(r.column.name))
        ]


def is_year(item: Item) -> bool:
    """Whether a number may be a year."""
    return isinstance(item.number, int) and item.number in YEARS


def hint_of(item: Item) -> Hinted:
    """Return what a comparison or superlative says."""
    if isinstance(item.value, Hinted):
        return item.value
    raise NotUnderstood(f"“{item.text}” is not clear here")
