"""Messages that stay when their author goes: theirs no longer, and without a name.

In what somebody wrote alone even a name is taken out that others bear too, and what
they were called by: there it can only be theirs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from connections.models import Project
from graph import erasing_sql
from graph.copying import execute, fetch
from graph.erasers import tell_changed
from graph.scrubbing import ERASED, pattern_of


def make_anonymous(
    project: Project, keys: Sequence[str], names: Sequence[str]
) -> Counter[str]:
    """Take `names` out of all that the identities `keys` wrote; return rows changed.

    Call it in a transaction that holds the project's graph, while the edges are there
    that say who wrote what.
    """
    counts: Counter[str] = Counter()
    scope: dict[str, Any] = {"tenant": project.tenant_id, "project": project.pk}
    records = [row[0] for row in fetch(erasing_sql.AUTHORED, scope | {"keys": keys})]
    nodes = [
        row[0]
        for row in fetch(
            erasing_sql.WRITTEN_BY, scope | {"keys": keys, "records": records}
        )
    ]
    if not names or not nodes:
        return counts
    own: dict[str, Any] = scope | {
        "records": records,
        "nodes": nodes,
        "pattern": pattern_of(names),
        "erased": ERASED,
    }
    for table, statement in erasing_sql.MAKE_ANONYMOUS:
        counts[table] += execute(statement, own)
    return counts + tell_changed(project, nodes)
