"""Which of the columns that a word may mean is meant: by the tables said beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from connections.databases.base import Column, Table
from memory.sql.translator.base import NotUnderstood, Ref
from memory.sql.translator.language import Language
from memory.sql.translator.lexicon import key_columns, naming_columns
from memory.sql.translator.linking import Item
from memory.sql.translator.words import stem

CLOSE, SAID, TIE = 0.3, 0.2, 0.04


@dataclass
class Resolver:
    """Chooses columns and tables for the items of one question."""

    items: Sequence[Item]
    language: Language

    def table(self, item: Item) -> Table:
        """Return the table that an item means; raises where two are as likely."""
        ranked = sorted(item.tables, key=lambda found: -found[1])
        if not ranked:
            raise NotUnderstood(f"no table is called “{item.text}”")
        if len(ranked) > 1 and ranked[0][1] - ranked[1][1] < TIE:
            raise NotUnderstood(f"“{item.text}” may be several tables")
        return ranked[0][0]

    def tables(self) -> list[Table]:
        """Return the tables that the question names, without doubt."""
        found: dict[str, Table] = {}
        for item in self.items:
            if item.tables and item.kind in "t_f":
                try:
                    table = self.table(item)
                except NotUnderstood:
                    continue
                found.setdefault(table.path, table)
        return list(found.values())

    def nearest(self, item: Item) -> list[Table]:
        """Return the tables named, those nearest to an item first.

        What is said after a column ("name of the teacher") counts as nearer.
        """
        ranked: list[tuple[float, Table]] = []
        place = self.items.index(item)
        for other_place, other in enumerate(self.items):
            if not other.tables or other is item:
                continue
            try:
                table = self.table(other)
            except NotUnderstood:
                continue
            between = self.items[min(place, other_place) + 1 : max(place, other_place)]
            distance = float(sum(i.kind not in "p," for i in between))
            if other_place < place:
                distance += 0.6 if between else -0.5
            if any(i.value == "end" or i.kind == "w" for i in between):
                distance += 1.5
            if other.value == "verb":
                distance += 3
            if self._is_counted(other_place):
                distance += 3
            ranked.append((distance, table))
        ranked.sort(key=lambda pair: pair[0])
        return [table for _, table in ranked]

    def _is_counted(self, place: int) -> bool:
        """Whether a table is only counted, and its columns hardly asked for."""
        before = [i.kind for i in self.items[max(0, place - 2) : place]]
        return before[-1:] == ["#"] or before == ["#", "u"]

    def column(self, item: Item, *, among: Sequence[Table] = ()) -> Ref:
        """Return the column that an item means; raises where two are as likely."""
        near = self.nearest(item)
        general = self._general(item, near)
        if general:
            return general
        scored: list[tuple[float, Ref]] = []
        for ref, score in item.columns:
            bonus = 0.0
            for rank, table in enumerate(near):
                if table.path == ref.table.path:
                    bonus = max(bonus, SAID + CLOSE / (1 + rank))
            if any(table.path == ref.table.path for table in among):
                bonus = max(bonus, SAID)
            scored.append((score + bonus, ref))
        scored.sort(key=lambda pair: -pair[0])
        if not scored:
            raise NotUnderstood(f"no column is called “{item.text}”")
        best, ref = scored[0]
        rivals = [other for score, other in scored[1:] if best - score < TIE]
        if rivals:
            keyed = [r for r in (ref, *rivals) if r.column.is_key]
            same = {r.column.name.lower() for r in (ref, *rivals)}
            if len(keyed) == 1 and len(same) == 1:
                return keyed[0]
            names = ", ".join(r.shown for r in (ref, *rivals)[:3])
            raise NotUnderstood(f"“{item.text}” may be {names}")
        return ref

    def _general(self, item: Item, near: Sequence[Table]) -> Ref | None:
        """Return the naming or key column where just "name" or "id" is said."""
        word = stem(item.text)
        plain = {stem(name) for name in self.language.names}
        keys = {stem(name) for name in self.language.keys}
        if word not in plain | keys or not near:
            return None
        table = near[0]
        exact = [r for r, s in item.columns if r.table.path == table.path and s >= 1]
        if exact:
            return exact[0]
        own = [r for r, s in item.columns if r.table.path == table.path]
        columns = naming_columns(table) if word in plain else key_columns(table)
        if len(columns) == 1:
            return Ref(table, columns[0])
        if len(own) == 1:
            return own[0]
        if word in plain and len(columns) > 1:
            return Ref(table, columns[0])
        raise NotUnderstood(f"“{item.text}” of {table.name} is not clear")

    def value(self, item: Item, column: Item | None = None) -> tuple[Ref, str]:
        """Return the column that holds a value, and the value as it is written."""
        held = list(item.held)
        if column is not None:
            wanted = {id(ref.column) for ref, _ in column.columns}
            held = [pair for pair in held if id(pair[0].column) in wanted] or held
        near = self.nearest(item)
        ranks = {table.path: rank for rank, table in reversed(list(enumerate(near)))}
        ranked = sorted(held, key=lambda pair: ranks.get(pair[0].table.path, len(near)))
        best = ranks.get(ranked[0][0].table.path, len(near))
        level = [
            pair for pair in ranked if ranks.get(pair[0].table.path, len(near)) == best
        ]
        distinct = {(ref.table.path, ref.column.name) for ref, _ in level}
        if len(distinct) > 1:
            names = ", ".join(sorted(f"{path}.{name}" for path, name in distinct))
            raise NotUnderstood(f"“{item.text}” is a value of {names}")
        return level[0]


def shown_columns(table: Table) -> tuple[Column, ...]:
    """Return the columns by which a person knows a table's rows."""
    found = naming_columns(table) or key_columns(table)
    if not found:
        raise NotUnderstood(f"it is not clear what to show of {table.name}")
    return found
