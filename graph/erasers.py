"""What every layer removes when records are erased: a registry that all of them fill.

`graph` cannot import what stands above it; retrieval and memory add themselves in
`ready()`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from connections.models import Project
from connections.registry import Registry

Counts = Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Going:
    """Records that are about to go, in the transaction that removes them.

    `nodes` go with them; `changed` are nodes that others support too, and that will
    say less. Both are still there when an eraser is called.
    """

    project: Project
    records: Sequence[int]
    nodes: Sequence[int]
    changed: Sequence[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Eraser:
    """A layer's part: each step returns what it removed or changed, by table.

    `going` is called before nodes and records go, once a batch; `scrub` takes words
    out of what a layer keeps outside the project's own tables, by a pattern of
    PostgreSQL; `settle` derives anew what rests on the whole project. Each may be
    called again after a crash.
    """

    going: Callable[[Going], Counts]
    scrub: Callable[[Project, str], Counts]
    settle: Callable[[Project], Counts]


erasers: Registry[Eraser] = Registry("eraser")


def nothing(*_: object) -> Counts:
    """Remove nothing: for a layer that has nothing to do in a step."""
    return {}


def tell_going(going: Going) -> Counter[str]:
    """Let every layer remove what rests on what is going; return what went."""
    return _sum(eraser.going(going) for eraser in erasers.values())


def scrub_all(project: Project, pattern: str) -> Counter[str]:
    """Let every layer take words out of what it keeps; return what changed."""
    return _sum(eraser.scrub(project, pattern) for eraser in erasers.values())


def settle_all(project: Project) -> Counter[str]:
    """Let every layer derive anew what rests on the whole project."""
    return _sum(eraser.settle(project) for eraser in erasers.values())


def _sum(parts: Iterable[Counts]) -> Counter[str]:
    total: Counter[str] = Counter()
    for part in parts:
        total.update(part)
    return total
