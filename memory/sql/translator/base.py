"""What the translator passes between its steps, and what it gives back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from connections.databases.base import Column, Table

Aggregate: TypeAlias = Literal["count", "sum", "avg", "min", "max"]
Operator: TypeAlias = Literal["=", "<>", "<", "<=", ">", ">="]
Match: TypeAlias = Literal["contains", "starts", "ends"]
Direction: TypeAlias = Literal["asc", "desc"]
Literals: TypeAlias = tuple[str | int | float, ...]


class NotUnderstood(Exception):
    """A question that is better left unanswered; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Translation:
    """A statement that answers the question as `reading` says, and how sure that is.

    `confidence` lies between 0 and 1; below `translate.LEAST` a question is declined.
    """

    sql: str
    reading: str
    assumptions: tuple[str, ...]
    tables: tuple[str, ...]
    confidence: float


@dataclass(frozen=True, slots=True)
class Declined:
    """No statement: what of the question was not understood."""

    reason: str


class Ref(NamedTuple):
    """A column with its table; equal where both are."""

    table: Table
    column: Column

    @property
    def shown(self) -> str:
        return f"{self.table.name}.{self.column.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """Days from `first` up to, and without, `end`; either may be open (ISO dates)."""

    first: str = ""
    end: str = ""
    said: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """A column to show, an aggregate of one, or a count of a table's rows."""

    ref: Ref | None = None
    table: Table | None = None
    aggregate: Aggregate | None = None
    distinct: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """A condition on one column; `average` compares with the column's own average.

    `place` is where in the question it was said.
    """

    ref: Ref
    operator: Operator = "="
    values: Literals = ()
    match: Match | None = None
    period: Period | None = None
    negated: bool = False
    average: bool = False
    is_null: bool = False
    place: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Having:
    """A condition on how many rows of `output` there are in a group."""

    output: Output
    operator: Operator
    number: int | float


@dataclass(frozen=True, slots=True, kw_only=True)
class Absent:
    """The rows for which `table` has none that fulfils `filters`."""

    table: Table
    filters: tuple[Filter, ...] = ()


@dataclass(frozen=True, slots=True)
class Order:
    output: Output
    direction: Direction = "asc"


@dataclass(slots=True)
class Plan:
    """A question as read: what to show of which rows, in which order."""

    outputs: list[Output] = field(default_factory=list)
    filters: list[Filter] = field(default_factory=list)
    both: list[Filter] = field(default_factory=list)
    groups: list[Ref] = field(default_factory=list)
    havings: list[Having] = field(default_factory=list)
    orders: list[Order] = field(default_factory=list)
    absent: list[Absent] = field(default_factory=list)
    present: list[Table] = field(default_factory=list)
    # Tables that only a verb hints at: "published", "ordered".
    implied: list[Table] = field(default_factory=list)
    limit: int | None = None
    distinct: bool = False
    # An order and limit that pick rows of another table than the one aggregated.
    picked: Order | None = None
    anchor: Table | None = None
    assumptions: list[str] = field(default_factory=list)
    confidence: float = 1.0

    def assume(self, text: str, factor: float = 1.0) -> None:
        """Note something that the question left open."""
        if text not in self.assumptions:
            self.assumptions.append(text)
            self.confidence *= factor
