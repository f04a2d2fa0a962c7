"""What an engine offers to a run: one connection, one statement, then the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from connections.databases.base import Cell, ResultColumn
from connections.databases.caps import Cutter
from connections.databases.wire import Wire

# Waiting for a lock of somebody else's is never worth the whole time there is.
LOCK_SECONDS = 3
# The server's own limit comes after ours: it is for processes of ours that died.
SERVER_LATER_SECONDS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a server expects of a statement; `cost` in its own unit, where it says."""

    cost: float | None
    rows: int


class Session(Protocol):
    """A connection for one statement, which can only read; then it is thrown away.

    All methods are called by one thread, but for `interrupt` and those of `wire`.
    """

    @property
    def wire(self) -> Wire: ...

    def seal(self, seconds: float) -> bool:
        """Make it read only, bounded in time; return whether its login may do all."""

    def rows(
        self, sql: str, values: Sequence[Cell], cutter: Cutter, most: int
    ) -> tuple[tuple[ResultColumn, ...], Iterator[tuple[Cell, ...]]]:
        """Return the columns, and at most `most` rows as the server sends them.

        Raises `RunFailed` with the server's words, or `Lost`; so does the iterator.
        """

    def plan(self, sql: str, values: Sequence[Cell]) -> Plan:
        """Return what the server expects of a statement, which is not run."""

    def interrupt(self, seconds: float) -> None:
        """Ask the server to end the statement, from another thread."""

    def end(self) -> None:
        """Roll back and close; never raises, whatever state it is in."""
