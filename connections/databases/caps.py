"""How much of a result is kept: rows, bytes, and characters of a cell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from connections.databases.base import Cell
from connections.databases.masking import mask

CELL_CHARACTERS = 10_000
RESULT_BYTES = 16 * 2**20
# What the server may send for it: cells are cut here, not there, so that it may be
# more. It bounds the memory that one huge value takes before it can be cut.
WIRE_BYTES = 48 * 2**20
# A byte string is shown by its first bytes only: nobody reads more.
BINARY_SHOWN = 32
FIXED_BYTES = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """The most of a result that is kept, or waited for."""

    rows: int
    bytes: int = RESULT_BYTES
    characters: int = CELL_CHARACTERS
    wire: int = WIRE_BYTES


@dataclass(slots=True)
class Cutter:
    """Makes texts of raw cells, cut where they are long, and counts those it cut."""

    characters: int = CELL_CHARACTERS
    shortened: int = 0

    def text(self, raw: bytes | bytearray | memoryview) -> str:
        """Return the text; what is no UTF-8 in it shows as U+FFFD."""
        # Four bytes a character at most: the rest of a huge cell is not copied.
        most = 4 * self.characters
        text = bytes(raw[:most]).decode("utf-8", "replace")
        if len(raw) <= most and len(text) <= self.characters:
            return text
        self.shortened += 1
        return text[: self.characters]

    def binary(self, raw: bytes | bytearray | memoryview) -> str:
        """Return the first bytes in hexadecimal, and how many there are if more."""
        return self.hexadecimal(bytes(raw[:BINARY_SHOWN]).hex(), len(raw))

    def hexadecimal(self, digits: str, size: int) -> str:
        """Return the same of `size` bytes that begin with `digits`."""
        if size <= BINARY_SHOWN:
            return f"0x{digits}"
        self.shortened += 1
        return f"0x{digits}… ({size:,} bytes)"


@dataclass(slots=True)
class Collection:
    """What is kept of a result so far; good at any moment, whole or not."""

    caps: Caps
    masked: frozenset[int] = frozenset()
    rows: list[tuple[Cell, ...]] = field(default_factory=list)
    bytes: int = 0
    shortened: int = 0
    is_truncated: bool = False
    warnings: list[str] = field(default_factory=list)

    def take(self, rows: Iterable[tuple[Cell, ...]], cutter: Cutter) -> None:
        """Keep rows until a cap is reached; the row after it tells that there are more.

        A row is masked before it is kept: nothing else of it leaves this function.
        """
        for row in self._until_full(rows):
            self.rows.append(self._masked(row))
            self.shortened = cutter.shortened

    def _until_full(
        self, rows: Iterable[tuple[Cell, ...]]
    ) -> Iterator[tuple[Cell, ...]]:
        for row in rows:
            if len(self.rows) >= self.caps.rows:
                self.is_truncated = True
                return
            size = sum(map(size_of, row))
            if self.bytes + size > self.caps.bytes:
                self.is_truncated = True
                self.warn_of_bytes(self.caps.bytes)
                return
            self.bytes += size
            yield row

    def warn_of_bytes(self, most: int) -> None:
        """Say that the result was cut for its size."""
        self.warnings.append(
            f"The result is larger than {most // 2**20 or 1} MB: only its first "
            f"{len(self.rows):,} rows are here. Ask for fewer columns."
        )

    def _masked(self, row: tuple[Cell, ...]) -> tuple[Cell, ...]:
        if not self.masked:
            return row
        return tuple(
            mask(cell) if place in self.masked else cell
            for place, cell in enumerate(row)
        )


def size_of(cell: Cell) -> int:
    """Return about how many bytes a cell takes as text."""
    return len(cell) if isinstance(cell, str | bytes) else FIXED_BYTES
