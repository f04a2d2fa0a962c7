"""What a dashboard is made of: numbers, charts and lists, each with where it leads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlencode

from fabric_site.admin_site import address_of

Kind = Literal["lines", "bars", "stacked"]


@dataclass(frozen=True, slots=True)
class Cell:
    """A number as it is drawn and as it is read, and the list of what it counts."""

    value: float | None
    link: str = ""

    @property
    def text(self) -> str:
        return said(self.value)


@dataclass(frozen=True, slots=True)
class Head:
    """The name of a line, a bar or a column, and the list behind it."""

    text: str
    link: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One place of a chart's axis with a number for each of its columns."""

    head: Head
    cells: Sequence[Cell]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A picture and the table that says the same; `says` is the picture in a sentence.

    `unit` is what the numbers count; large and small ones side by side need a
    `logarithmic` scale.
    """

    title: str
    kind: Kind
    says: str
    axis: str
    heads: Sequence[Head]
    rows: Sequence[Row]
    unit: str = ""
    note: str = ""
    link: str = ""
    empty: str = "Nothing was counted yet."
    logarithmic: bool = False

    @property
    def is_empty(self) -> bool:
        return not any(cell.value for row in self.rows for cell in row.cells)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """One number that matters, with what it means and the list behind it."""

    title: str
    value: str
    link: str = ""
    note: str = ""
    tone: Literal["", "good", "bad"] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """How one source, database or check is: in a word, since when, and what is wrong."""

    name: str
    link: str
    state: str
    tone: Literal["", "good", "bad"]
    when: str = ""
    counts: str = ""
    error: str = ""
    fix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """Rows of health under a title, with where all of them are."""

    title: str
    rows: Sequence[Health]
    link: str
    empty: str


@dataclass(frozen=True, slots=True)
class Dashboard:
    """All that the first page shows of a project to one reader; a bare one has no
    node, so that there is nothing to draw."""

    tiles: Sequence[Tile] = ()
    charts: Sequence[Chart] = ()
    listings: Sequence[Listing] = field(default_factory=tuple)
    is_bare: bool = False


def said(value: float | None) -> str:
    """Return a number as people write it."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"


def listed(model: type, **query: object) -> str:
    """Return the address of a model's list, filtered."""
    return f"{address_of(model)}?{urlencode(query)}" if query else address_of(model)
