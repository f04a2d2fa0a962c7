"""What an export consists of: a file a table, filled in by every layer.

A row is named by its *address*, words that mean the same in every installation: a node
by its key, a record by its source and key. Where a row refers to another, the file has
that one's address in place of its id.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from typing import Any

from django.db.models import Field, ForeignKey, Model

from connections.models import Project
from connections.registry import Registry
from graph.exporting.errors import ExportingError

Row = Mapping[str, Any]
# Of a row: what is wrong with it, or nothing.
Check = Callable[[Row], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Translated:
    """A field that holds ids inside: SQL that gives addresses for them, and back.

    `out` reads the row `t`, `back` the staged row `s` (its `doc`).
    """

    out: str
    back: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A table of the export.

    `address` names the fields that name a row; with `is_numbered`, rows that have it in
    common are told apart by `n`, in their order. `left_out`: fields that are not
    written, and why; `fixed` what they are given by an import, where that is not their
    default. `within` is the field that leads to the project where the table has none
    of its own. `extra`: columns of the file that no field has, by SQL that reads the
    row `t`. `unordered`: two fields of which the lesser id stands first.
    """

    name: str
    model: type[Model]
    address: tuple[str, ...]
    is_numbered: bool = False
    left_out: Mapping[str, str] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    within: str = ""
    # Parts that its own SQL reads.
    after: tuple[str, ...] = ()
    where: str = ""
    where_without_memory: str = ""
    is_memory: bool = False
    extra: Mapping[str, str] = field(default_factory=dict)
    translated: Mapping[str, Translated] = field(default_factory=dict)
    unordered: tuple[str, str] | None = None
    checks: tuple[Check, ...] = ()
    # Makes the table of addresses where SQL alone cannot.
    prepare: Callable[[Project], None] | None = None
    # Names a row of the file where its fields alone do not.
    address_of: Callable[[Row], Any] | None = None
    # Called when its rows are in.
    restored: Callable[[Project], None] | None = None

    @property
    def table(self) -> str:
        return self.model._meta.db_table

    @property
    def file(self) -> str:
        return f"data/{self.name}.jsonl"

    @property
    def is_scoped(self) -> bool:
        return {"tenant", "project"} <= {f.name for f in concrete(self.model)}

    @property
    def fields(self) -> tuple[Field[Any, Any], ...]:
        """Return the fields that are written: its address first."""
        skipped = {"tenant", "project", *self.left_out}
        own = [
            f
            for f in concrete(self.model)
            if f.name not in skipped and not (f.primary_key and f.remote_field is None)
        ]
        by_name = {f.name: f for f in own}
        first = [by_name[name] for name in self.address if name in by_name]
        return (*first, *(f for f in own if f.name not in self.address))

    @property
    def is_plain(self) -> bool:
        """Say whether an address is one value, not a list of several."""
        by_name = {f.name: f for f in self.fields}
        is_one = len(self.address) == 1 and not self.is_numbered
        return is_one and not getattr(by_name.get(self.address[0]), "null", False)

    def name_of(self, row: Row) -> Any:
        """Return the address of a row of its file."""
        if self.address_of is not None:
            return self.address_of(row)
        names = (*self.address, "n") if self.is_numbered else self.address
        return row[names[0]] if self.is_plain else [row[name] for name in names]


parts: Registry[Part] = Registry("part of an export")
# Models that no export holds, by label, and why.
left_out_models: Registry[str] = Registry("model that is left out of exports")


def add_part(model: type[Model], name: str, *address: str, **options: Any) -> Part:
    """Register a table; those that it refers to must be there."""
    return parts.add(name, Part(name=name, model=model, address=address, **options))


def leave_out(*models: type[Model], why: str) -> None:
    for model in models:
        left_out_models.add(model._meta.label, why)


def part_of(model: type[Model]) -> Part:
    """Return the part that holds the rows of `model`."""
    for part in parts.values():
        if part.model is model:
            return part
    raise ExportingError(f"{model._meta.label} is in no part of an export.")


def concrete(model: type[Model]) -> tuple[Field[Any, Any], ...]:
    return tuple(model._meta.concrete_fields)


def target_of(column: Field[Any, Any]) -> type[Model] | None:
    """Return the model that a field refers to."""
    if not isinstance(column, ForeignKey):
        return None
    return column.remote_field.model


def ordered_parts() -> list[Part]:
    """Return all parts, each after those that it refers to."""
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for name in sorted(parts):
        targets = {target_of(f) for f in parts[name].fields} - {parts[name].model}
        before = {p.name for p in parts.values() if p.model in targets}
        sorter.add(name, *sorted(before.union(parts[name].after)))
    return [parts[name] for name in sorter.static_order()]


def referred_to() -> frozenset[str]:
    """Return the names of the parts that others refer to."""
    targets = {target_of(f) for part in parts.values() for f in part.fields}
    return frozenset(p.name for p in parts.values() if p.model in targets)
