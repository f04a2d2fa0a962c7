"""What a batch knows of the graph: nodes by key, and what changed records said."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from connections.records import clean_key
from graph import ingest_sql
from graph.copying import fetch
from graph.drafted import Drafted
from graph.edges import GraphScope


@dataclass(frozen=True, slots=True)
class Known:
    """A node that exists: who describes it, who sees it, the person it stands for."""

    id: int
    record_id: int | None
    audience_id: int
    person_id: int | None = None
    is_implied: bool = False


@dataclass(frozen=True, slots=True)
class Said:
    """Evidence a changed record has from before."""

    id: int
    node_id: int | None
    edge_id: int | None
    quote: str
    weight: float
    is_assertion: bool
    span: tuple[int | None, int | None]
    position: Decimal | None
    identity: tuple[Any, ...]


class Lookup:
    """Nodes by key, as far as a batch needs them, with those it made (`fresh`)."""

    def __init__(self, scope: GraphScope, aliases: Mapping[str, str]) -> None:
        self.scope = scope
        self.aliases = aliases
        self.known: dict[str, Known] = {}
        self.fresh: set[int] = set()
        self.said: dict[tuple[Any, ...], Said] = {}

    def key_of(self, key: str) -> str:
        """Return the key of the node that stands for `key`."""
        return self.aliases.get(key, key)

    def ids_of(self, keys: Iterable[str]) -> dict[str, int]:
        """Return the ids of the nodes with these keys."""
        wanted = list(keys)
        self.load(wanted)
        return {key: self.known[key].id for key in wanted if key in self.known}

    def load(self, keys: Iterable[str]) -> None:
        missing = [key for key in set(keys) if key not in self.known]
        for key, *rest in fetch(ingest_sql.NODES_BY_KEY, [*self.scope.key, missing]):
            self.known[key] = Known(*rest)

    def load_said(self, changed: Sequence[int]) -> None:
        for row in fetch(ingest_sql.SAID_BY_RECORDS, [*self.scope.key, list(changed)]):
            (
                evidence,
                record,
                node,
                edge,
                via_source,
                via_target,
                quote,
                weight,
                asserted,
                start,
                end,
                source,
                relation,
                target,
                position,
                valid_from,
            ) = row
            identity: tuple[Any, ...] = (record, node, via_target)
            if edge is not None:
                identity = (
                    record,
                    source,
                    relation,
                    target,
                    valid_from,
                    via_source,
                    via_target,
                )
            self.said[identity] = Said(
                evidence,
                node,
                edge,
                quote,
                weight,
                asserted,
                (start, end),
                position,
                identity,
            )

    def keep_part_keys(self, d: Drafted) -> Drafted:
        """Number the parts of a changed record as before where their words are the
        same; new words get new numbers, so that a key never changes its meaning."""
        if not any(draft.part for draft in d.nodes):
            return d
        rows = fetch(
            "SELECT n.key, n.title, n.content FROM graph_nodes n"
            " WHERE n.tenant_id = %s AND n.project_id = %s AND n.record_id = %s"
            "   AND n.key <> %s",
            [*self.scope.key, d.record_id, clean_key(d.record.key)],
        )
        stem = clean_key(d.record.key) + "#"
        before: dict[tuple[str, str], list[str]] = defaultdict(list)
        for _, key, title, content in sorted(
            # A key cut at its 512th byte has lost its number.
            ((_number(key, stem), key, *words) for key, *words in rows),
            reverse=True,
        ):
            before[title, content].append(key)
        taken = {row[0] for row in rows}
        following = 1 + max((_number(key, stem) for key in taken), default=-1)
        names = {}
        for draft in d.nodes:
            if not draft.part:
                continue
            if same := before.get((draft.title, draft.content)):
                names[draft.key] = same.pop()
                continue
            while (key := clean_key(f"{stem}{following}")) in taken:
                following += 1
            names[draft.key] = key
            taken.add(key)
        return d.renamed(names)


def _number(key: str, stem: str) -> int:
    tail = key[len(stem) :] if key.startswith(stem) else ""
    return int(tail) if tail.isdecimal() else -1
