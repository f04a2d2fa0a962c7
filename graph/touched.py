"""Which nodes a run took something from: an edge, or what it was said by.

What looks for the consequences after a run looks at these, not at the whole project.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_touched: ContextVar[set[int] | None] = ContextVar("touched", default=None)


@contextmanager
def remembering(*, is_known: bool = True) -> Iterator[None]:
    """Remember what is touched for as long as this is open, with what one around it
    remembers; not `is_known`: nothing, for something was touched that nobody noted."""
    before = _touched.get()
    kept = set[int]() if before is None else before
    token = _touched.set(kept if is_known else None)
    try:
        yield
    finally:
        _touched.reset(token)


def touch(nodes: Iterable[int | None]) -> None:
    """Note that an edge or a piece of evidence of `nodes` went."""
    found = _touched.get()
    if found is not None:
        found.update(node for node in nodes if node is not None)


def touched() -> frozenset[int] | None:
    """Return what was touched so far; None where nobody remembers it."""
    found = _touched.get()
    return None if found is None else frozenset(found)
