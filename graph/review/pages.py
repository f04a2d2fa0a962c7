"""A project's nodes a page at a time, with what a finder says of each."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from connections.models import Project
from graph.copying import fetch
from graph.review import finding_sql

PAGE = 2_000


def pages(
    statement: str, project: Project, now: datetime, **values: Any
) -> Iterator[list[tuple[Any, ...]]]:
    """Yield the rows of `statement`, which begin with a node's id, page by page.

    Nothing stays open between two pages: what is found may be written meanwhile.
    """
    values |= {
        "tenant": project.tenant_id,
        "project": project.pk,
        "now": now,
        "most": PAGE,
    }
    after = 0
    while rows := fetch(statement, {**values, "after": after}):
        yield rows
        after = rows[-1][0]


def evidence_of(project: Project, nodes: Sequence[int]) -> dict[int, str]:
    """Return of each of `nodes` what stands for all that it rests on."""
    rows = fetch(finding_sql.EVIDENCE, [project.tenant_id, project.pk, list(nodes)])
    return {node: f"{count}:{words}" for node, count, words in rows}


def fingerprint(*parts: object) -> str:
    """Return what stands for `parts`, as 64 hex digits."""
    said = "\x01".join(map(str, parts))
    return hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()


def about(*keys: str) -> str:
    """Return the subject of an item about nodes of those keys, in any order."""
    named = "|".join(sorted(keys))
    subject = f"node:{named}"
    return subject if len(subject) <= 600 else f"node:{fingerprint(named)}"


def one_line(text: str, most: int = 80) -> str:
    """Return the beginning of `text` on one line."""
    plain = " ".join(text.split())
    return plain if len(plain) <= most else f"{plain[: most - 1].rstrip()}\u2026"
