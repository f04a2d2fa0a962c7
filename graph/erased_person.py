"""What is left of a person once what they wrote is gone: identities, lists, mentions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

from connections.models import Project
from graph import erasing_sql
from graph.copying import execute, fetch
from graph.erased_views import forget_views_naming
from graph.erasers import Going, tell_changed, tell_going
from graph.locks import lock_project
from graph.scrubbing import ERASED, pattern_of, scrub


def forget_person(project: Project, asked: Mapping[str, Any]) -> Counter[str]:
    """Remove the identities of a person, and their names from what others wrote.

    Return rows removed or changed, by table. Call it in a transaction.
    """
    lock_project(project)
    params = {
        "tenant": project.tenant_id,
        "project": project.pk,
        "keys": asked["keys"],
        "persons": asked["persons"],
        "members": sorted(
            {name.lower() for name in (*asked["keys"], *asked["phrases"])}
        ),
        "erased": ERASED,
    }
    stay = asked.get("keep_messages")
    counts: Counter[str] = Counter() if stay else _unsay(project, params)
    counts += _forget_nodes(project, params)
    for table, statement in erasing_sql.FORGET_KEYS:
        counts[table] += execute(statement, params)
    names = [*asked["phrases"], *asked["keys"], *asked["persons"]]
    counts["saved_views"] += forget_views_naming(project, names)
    counts += scrub(project, asked["phrases"])
    counts += scrub(project, asked.get("first", ()), as_written=True)
    if names:
        counts["audit_details"] += execute(
            erasing_sql.DETAILS_MATCHING, params | {"pattern": pattern_of(names)}
        )
    return counts


def _unsay(project: Project, params: dict[str, Any]) -> Counter[str]:
    """Take their words out of records that others speak in too: of a meeting."""
    spoken: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for record, node, content in fetch(erasing_sql.SPOKEN, params):
        spoken[record].append((node, content))
    changed = [node for said in spoken.values() for node, _ in said]
    for record, said in spoken.items():
        for node, content in sorted(said, key=lambda each: -len(each[1])):
            own = {"record": record, "node": node, "said": content, "erased": ERASED}
            execute(erasing_sql.UNSAY, own)
            execute(erasing_sql.UNSAY_NODE, own)
    counts = tell_changed(project, changed)
    counts.update(graph_records=len(spoken), graph_nodes=len(changed))
    return counts


def _forget_nodes(project: Project, params: dict[str, Any]) -> Counter[str]:
    nodes = [row[0] for row in fetch(erasing_sql.IDENTITY_NODES, params)]
    nodes += [row[0] for row in fetch(erasing_sql.PERSONS, params)]
    going = Going(project=project, records=(), nodes=nodes, changed=())
    counts = tell_going(going)
    own = params | {"nodes": nodes}
    counts["audit_details"] += execute(erasing_sql.DETAILS_OF_REVIEW, own)
    counts["graph_review_items"] += execute(erasing_sql.REVIEW_OF, own)
    counts["graph_nodes"] += execute(erasing_sql.DELETE_NODES, own)
    return counts
