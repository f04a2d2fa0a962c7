"""What was pruned and stays so: ingest and extraction ask here before they write.

A pruned node comes back when its source says something else of it, and by nothing
else; a pruned edge, when other words say it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from django.db.models import Exists, OuterRef, Q, QuerySet, TextField, Value
from django.db.models.functions import StrIndex, Substr

from connections.models import Project
from connections.records import NodeDraft, clean_key
from graph import pruned_sql
from graph.copying import execute, fetch
from graph.drafted import Drafted
from graph.models import Evidence, Node

# By these relations of its own a node stands on others, and goes with them.
STANDS_BY = ["part_of", "supported_by"]
# A statement that an edge is, by its ends and its relation, and the words of it.
Said = tuple[int, str, int, str]


def hash_of_words(title: str, content: str) -> str:
    """Return what a node that is no record's own is known by in its tombstone."""
    return hashlib.sha256(f"{title}\x01{content}".encode()).hexdigest()


def edge_tombstone(source: str, relation: str, target: str, quote: str) -> str:
    """Return the key under which an edge stays pruned, as far as `quote` says it."""
    edge = hashlib.sha256(f"{source}\x01{relation}\x01{target}".encode()).hexdigest()
    words = " ".join(quote.split()).casefold()
    return f"edge:{edge[:32]}:{hashlib.sha256(words.encode()).hexdigest()[:32]}"


def pruned_edges(scope: tuple[int, int], said: Collection[Said]) -> set[Said]:
    """Return those of `said` that were pruned, by the same words."""
    if not said:
        return set()
    values = {"tenant": scope[0], "project": scope[1]}
    ends = {end for source, _, target, _ in said for end in (source, target)}
    keys = dict(fetch(pruned_sql.KEYS_OF_NODES, values | {"nodes": list(ends)}))
    by_key = {
        one: edge_tombstone(keys[one[0]], one[1], keys[one[2]], one[3])
        for one in said
        if one[0] in keys and one[2] in keys
    }
    wanted = list(set(by_key.values()))
    rows = fetch(pruned_sql.TOMBSTONES_AMONG, values | {"keys": wanted})
    pruned = {row[0] for row in rows}
    return {one for one, key in by_key.items() if key in pruned}


def without_pruned(scope: tuple[int, int], drafted: Sequence[Drafted]) -> list[Drafted]:
    """Return `drafted` less the nodes that are gone for good and not changed.

    What is still in the trash is written on, unseen, so that it can be put back as it
    would be; what its source says otherwise now comes out of it.
    """
    hashes = {_hash_of(d, node) for d in drafted for node in d.nodes}
    values = {"tenant": scope[0], "project": scope[1]}
    rows = fetch(pruned_sql.TOMBSTONES_OF, values | {"hashes": list(hashes)})
    if not rows:
        return list(drafted)
    stones = set(rows)
    there = _there(values, {node.key for d in drafted for node in d.nodes})
    return [_less(d, stones, there) for d in drafted]


def _hash_of(d: Drafted, node: NodeDraft) -> str:
    if node.key == clean_key(d.record.key):
        return d.record.content_hash
    return hash_of_words(node.title, node.content)


def _there(values: Mapping[str, int], keys: Iterable[str]) -> set[str]:
    rows = fetch(pruned_sql.KEYS_THERE, {**values, "keys": list(keys)})
    return {row[0] for row in rows}


def _less(d: Drafted, stones: set[tuple[str, str]], there: set[str]) -> Drafted:
    stem = clean_key(d.record.key) + "#"
    of_parts = {said for key, said in stones if key.startswith(stem)}
    gone = {
        node.key
        for node in d.nodes
        if node.key not in there
        and (
            (node.key, _hash_of(d, node)) in stones
            # The parts of a changed record may be numbered anew.
            or (node.key.startswith(stem) and _hash_of(d, node) in of_parts)
        )
    }
    if not gone:
        return d
    return replace(
        d,
        nodes=tuple(node for node in d.nodes if node.key not in gone),
        edges=tuple(
            e for e in d.edges if e.source not in gone and e.target not in gone
        ),
    )


def bring_back_changed(project: Project, drafted: Sequence[Drafted]) -> None:
    """Take out of the trash what its changed record says otherwise now, with all that
    went along, and forget the tombstones of what is written again."""
    said = [(node.key, _hash_of(d, node)) for d in drafted for node in d.nodes]
    values = {
        "tenant": project.tenant_id,
        "project": project.pk,
        "keys": [key for key, _ in said],
    }
    changed = [d.record_id for d in drafted if not d.new]
    if changed:
        more = {"hashes": [one for _, one in said], "records": changed}
        rows = fetch(pruned_sql.CHANGED_IN_TRASH, values | more)
        if rows:
            take_out(project, [row[0] for row in rows])
    execute(pruned_sql.FORGET_TOMBSTONES, values)


def take_out(project: Project, chosen: Sequence[int]) -> list[int]:
    """Take `chosen` out of the trash with all that went along; return what came back.

    Nodes, edges and what was remembered are what they were: being in the trash only
    hid them.
    """
    values = {"tenant": project.tenant_id, "project": project.pk}
    found = fetch(pruned_sql.IN_TRASH_WITH, values | {"chosen": list(chosen)})
    nodes = [row[0] for row in found]
    fresh = nodes
    while fresh:
        rows = fetch(pruned_sql.RESCUED, values | {"nodes": nodes, "ties": STANDS_BY})
        fresh = [row[0] for row in rows]
        nodes += fresh
    back = fetch(pruned_sql.RESTORE_NODES, values | {"nodes": nodes})
    execute(pruned_sql.DROP_TOMBSTONES, values | {"keys": [row[1] for row in back]})
    execute(pruned_sql.LEAVE_TRASH, values | {"nodes": nodes})
    return nodes


def out_of_trash(rows: QuerySet[Evidence]) -> QuerySet[Evidence]:
    """Keep the evidence whose text is not in the trash: neither the record's own node
    nor the part of it that was read."""
    after = StrIndex("part", Value(":")) + 1
    rows = rows.annotate(said_in=Substr("part", after, output_field=TextField()))
    pruned = Node.objects.filter(
        Q(key=OuterRef("record__key")) | Q(key=OuterRef("said_in")),
        tenant_id=OuterRef("tenant_id"),
        project_id=OuterRef("project_id"),
        record_id=OuterRef("record_id"),
        trashed_at__isnull=False,
    )
    return rows.filter(~Exists(pruned))
