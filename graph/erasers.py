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

    `nodes` go with them; `changed` are nodes that others support too. All of them are
    still there, as they were, when an eraser is called.
    """

    project: Project
    records: Sequence[int]
    nodes: Sequence[int]
    changed: Sequence[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Eraser:
    """A layer's part: each step returns what it removed or changed, by table.

    `going` is called before nodes and records go, once a batch, `changed` once nodes
    that others support too say what is left of them, and `settle` derives anew
    what rests on the whole project. Each may be called again after a crash. Words that
    somebody erased left in others' texts are no layer's: `graph.scrubbing` reads all.
    """

    going: Callable[[Going], Counts]
    changed: Callable[[Project, Sequence[int]], Counts]
    settle: Callable[[Project], Counts]


erasers: Registry[Eraser] = Registry("eraser")


def tell_going(going: Going) -> Counter[str]:
    """Let every layer remove what rests on what is going; return what went."""
    return _sum(eraser.going(going) for eraser in erasers.values())


def tell_changed(project: Project, nodes: Sequence[int]) -> Counter[str]:
    """Let every layer take back what rests on words that `nodes` no longer say."""
    return _sum(eraser.changed(project, nodes) for eraser in erasers.values())


def settle_all(project: Project) -> Counter[str]:
    """Let every layer derive anew what rests on the whole project."""
    return _sum(eraser.settle(project) for eraser in erasers.values())


def _sum(parts: Iterable[Counts]) -> Counter[str]:
    total: Counter[str] = Counter()
    for part in parts:
        total.update(part)
    return total
