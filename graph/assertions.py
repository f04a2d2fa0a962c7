"""What the records of a batch assert: nodes, edges, and the evidence of both."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from psycopg.types.json import Jsonb

from connections.records import EdgeDraft, NodeDraft, Record, clean_key, node_types
from graph import sql
from graph.context import RunContext
from graph.copying import copy_rows, execute, fetch, new_ids
from graph.edges import EdgeClaim, Places, settle_edges, write_edges
from graph.parts import prepare, sane

NODE_COLUMNS = (
    "id", "tenant_id", "project_id", "audience_id", "key", "node_type", "title",
    "content", "context", "language", "tags", "metadata", "source_kind", "origin",
    "record_id", "precedence", "occurred_at", "last_evidence_at", "created_at",
    "updated_at", "embedding", "embedding_model_id",
)
NODE_EVIDENCE_COLUMNS = (
    "id", "tenant_id", "project_id", "record_id", "node_id", "kind", "part", "start",
    "\"end\"", "quote", "weight", "via_source", "via_target", "assertion",
)
IDENTITY_COLUMNS = (
    "node_id", "tenant_id", "project_id", "person_id", "key", "side", "address",
    "names", "reasons", "names_stale",
)
PENDING_COLUMNS = (
    "id", "tenant_id", "project_id", "record_id", "source_key", "relation",
    "target_key", "draft",
)


@dataclass(frozen=True, slots=True)
class Drafted:
    """A stored record with its drafts, cleaned and cut."""

    record_id: int
    record: Record
    audience_id: int
    new: bool
    nodes: tuple[NodeDraft, ...]
    edges: tuple[EdgeDraft, ...]

    @classmethod
    def of(
        cls, record_id: int, record: Record, audience_id: int, *, new: bool
    ) -> Drafted:
        nodes, edges = prepare(record)
        merged: dict[str, NodeDraft] = {}
        for node in nodes:
            merged[node.key] = _united(merged[node.key], node) if node.key in merged else node
        return cls(
            record_id, record, audience_id, new, tuple(merged.values()),
            _summed(edges),
        )

    def keys(self) -> Iterable[str]:
        yield from (node.key for node in self.nodes)
        for edge in self.edges:
            yield edge.source
            yield edge.target

    def renamed(self, names: Mapping[str, str]) -> Drafted:
        """Return it with the keys of nodes as `names` has them."""
        return replace(
            self,
            nodes=tuple(
                replace(n, key=names[n.key]) if n.key in names else n
                for n in self.nodes
            ),
            edges=tuple(
                replace(
                    e,
                    source=names.get(e.source, e.source),
                    target=names.get(e.target, e.target),
                )
                for e in self.edges
            ),
        )


def _united(first: NodeDraft, second: NodeDraft) -> NodeDraft:
    if first.identity is None or second.identity is None:
        return first
    names = (*first.identity.names, *second.identity.names)
    united = replace(first.identity, names=tuple(dict.fromkeys(names)))
    return replace(first, identity=united)


def _summed(edges: Iterable[EdgeDraft]) -> tuple[EdgeDraft, ...]:
    merged: dict[tuple[str, str, str, datetime | None], EdgeDraft] = {}
    for edge in edges:
        key = (edge.source, edge.relation, edge.target, edge.valid_from)
        if key in merged:
            known = merged[key]
            merged[key] = replace(
                known,
                weight=known.weight + edge.weight,
                quote=known.quote or edge.quote,
            )
        else:
            merged[key] = edge
    return tuple(merged.values())


@dataclass(frozen=True, slots=True)
class Known:
    """A node that exists: who describes it, who sees it, the person it stands for."""

    id: int
    record_id: int | None
    audience_id: int
    person_id: int | None = None


@dataclass(frozen=True, slots=True)
class Said:
    """Evidence a changed record has from before."""

    id: int
    node_id: int | None
    edge_id: int | None
    quote: str
    weight: float
    is_assertion: bool
    position: Decimal | None
    identity: tuple[Any, ...]


class Assertions:
    """Writes what the drafted records assert; one instance a batch."""

    def __init__(
        self,
        context: RunContext,
        drafted: Sequence[Drafted],
        aliases: Mapping[str, str],
        places: Places,
    ) -> None:
        self.context = context
        self.scope = context.scope
        self.aliases = aliases
        self.places = places
        self.known: dict[str, Known] = {}
        self.fresh: set[int] = set()
        self.shared: set[int] = set()
        self.said: dict[tuple[Any, ...], Said] = {}
        self.drafted = drafted

    def key_of(self, key: str) -> str:
        return self.aliases.get(key, key)

    def ids_of(self, keys: Iterable[str]) -> dict[str, int]:
        """Return the ids of the nodes with these keys."""
        self._load(keys)
        return {key: self.known[key].id for key in keys if key in self.known}

    def write(self, changed: Sequence[int]) -> None:
        if changed:
            self._load_said(changed)
            self.drafted = [d if d.new else self._keep_part_keys(d) for d in self.drafted]
        self._load({self.key_of(key) for d in self.drafted for key in d.keys()})
        by_key: dict[str, list[tuple[Drafted, NodeDraft]]] = defaultdict(list)
        for d in self.drafted:
            for draft in d.nodes:
                by_key[self.key_of(draft.key)].append((d, draft))
        self._insert_nodes(
            {key: said[0] for key, said in by_key.items() if key not in self.known}
        )
        self._update_nodes(by_key)
        self._write_node_evidence(by_key)
        self._write_edges(changed)
        self._end_unsaid()

    # --- what is there ---------------------------------------------------------------

    def _load(self, keys: Iterable[str]) -> None:
        missing = [key for key in set(keys) if key not in self.known]
        for key, *rest in fetch(sql.NODES_BY_KEY, [*self.scope.key, missing]):
            self.known[key] = Known(*rest)

    def _load_said(self, changed: Sequence[int]) -> None:
        for row in fetch(sql.SAID_BY_RECORDS, [*self.scope.key, list(changed)]):
            (evidence, record, node, edge, via_source, via_target, quote, weight,
             asserted, source, relation, target, position, valid_from) = row
            identity: tuple[Any, ...] = (record, node, via_target)
            if edge is not None:
                identity = (
                    record, source, relation, target, valid_from, via_source, via_target,
                )
            self.said[identity] = Said(
                evidence, node, edge, quote, weight, asserted, position, identity
            )

    def _keep_part_keys(self, d: Drafted) -> Drafted:
        """Number the parts of a changed record as before where their words are the
        same; new words get new numbers, so that a key never changes its meaning."""
        if not any(draft.part for draft in d.nodes):
            return d
        rows = fetch(
            "SELECT n.key, n.title, n.content FROM graph_nodes n"
            " WHERE n.tenant_id = %s AND n.project_id = %s AND n.record_id = %s",
            [*self.scope.key, d.record_id],
        )
        stem = clean_key(d.record.key) + "#"
        numbered = [
            (int(key[len(stem):]), key, title, content)
            for key, title, content in rows
            if key.startswith(stem) and key[len(stem):].isdecimal()
        ]
        before: dict[tuple[str, str], list[str]] = defaultdict(list)
        for _, key, title, content in sorted(numbered, reverse=True):
            before[title, content].append(key)
        following = 1 + max((number for number, *_ in numbered), default=-1)
        names = {}
        for draft in d.nodes:
            if not draft.part:
                continue
            if same := before.get((draft.title, draft.content)):
                names[draft.key] = same.pop()
            else:
                names[draft.key] = f"{stem}{following}"
                following += 1
        return d.renamed(names)

    # --- nodes -----------------------------------------------------------------------

    def _insert_nodes(self, new: Mapping[str, tuple[Drafted, NodeDraft]]) -> None:
        ids = dict(zip(new, new_ids("graph_nodes", len(new)), strict=True))
        identities = {k: d for k, d in new.items() if d[1].identity is not None}
        persons = dict(
            zip(identities, new_ids("graph_nodes", len(identities)), strict=True)
        )
        vectors = self._vectors([draft for _, draft in new.values()])
        rows = [
            self._node_row(ids[key], key, d, draft, vector)
            for (key, (d, draft)), vector in zip(new.items(), vectors, strict=True)
        ]
        rows += [
            self._person_row(persons[key], key, d, draft)
            for key, (d, draft) in identities.items()
        ]
        copy_rows("graph_nodes", NODE_COLUMNS, rows)
        copy_rows(
            "graph_identities",
            IDENTITY_COLUMNS,
            (
                (
                    ids[key], *self.scope.key, persons[key], key,
                    draft.identity.side, draft.identity.address.lower(), [],
                    Jsonb([]), True,
                )
                for key, (_, draft) in identities.items()
                if draft.identity
            ),
        )
        self._evidence_of_persons(identities, persons)
        for key, (d, _) in new.items():
            self.known[key] = Known(
                ids[key], d.record_id, d.audience_id, persons.get(key)
            )
        self.fresh.update(ids.values(), persons.values())

    def _vectors(self, drafts: Sequence[NodeDraft]) -> list[str | None]:
        if self.context.embed is None:
            return [None] * len(drafts)
        return self.context.embed([embedded_text(draft) for draft in drafts])

    def _node_row(
        self, node: int, key: str, d: Drafted, draft: NodeDraft, vector: str | None
    ) -> tuple[Any, ...]:
        title = draft.title
        if draft.identity and draft is not d.nodes[0]:
            title = draft.identity.address or title
        return (
            node, *self.scope.key, d.audience_id, key, draft.node_type, title,
            draft.content, draft.context, self._language(draft), list(draft.tags),
            Jsonb(dict(draft.metadata)), self.context.source.kind, "source",
            d.record_id, draft.precedence, draft.occurred_at,
            draft.occurred_at or sane(d.record.occurred_at), self.scope.now, self.scope.now, vector, self._model(draft),
        )

    def _model(self, draft: NodeDraft) -> int | None:
        """Return the model of its vector, also where it has no words to embed."""
        is_done = self.context.embed is not None or not embedded_text(draft)
        return self.context.model_id if is_done else None

    def _person_row(
        self, node: int, key: str, d: Drafted, draft: NodeDraft
    ) -> tuple[Any, ...]:
        return (
            node, *self.scope.key, d.audience_id, clean_key(f"identity:{key}"),
            "person", draft.title or key, "", "", self.scope.project.language, [],
            Jsonb({}), self.context.source.kind, "identity", None, 0.0, None,
            None, self.scope.now, self.scope.now, None, self.context.model_id,
        )

    def _language(self, draft: NodeDraft) -> str:
        known = draft.language in self.context.languages
        return draft.language if known else self.scope.project.language

    def _evidence_of_persons(
        self,
        identities: Mapping[str, tuple[Drafted, NodeDraft]],
        persons: Mapping[str, int],
    ) -> None:
        ids = new_ids("graph_evidence", len(identities))
        copy_rows(
            "graph_evidence",
            NODE_EVIDENCE_COLUMNS,
            (
                (
                    i, *self.scope.key, d.record_id, persons[key], "derived",
                    "identity", None, None, "", 1.0, "", key, None,
                )
                for i, (key, (d, _)) in zip(ids, identities.items(), strict=True)
            ),
        )

    def _update_nodes(
        self, by_key: Mapping[str, list[tuple[Drafted, NodeDraft]]]
    ) -> None:
        wider: dict[int, set[int]] = defaultdict(set)
        for key, drafts in by_key.items():
            known = self.known[key]
            for d, draft in drafts:
                if known.record_id == d.record_id and not d.new:
                    self._describe_again(known.id, d, draft)
                elif known.audience_id != d.audience_id:
                    wider[known.id] |= {known.audience_id, d.audience_id}
                if known.record_id != d.record_id and draft.identity is None:
                    self.shared.add(known.id)
        for node, audiences in wider.items():
            execute(
                "UPDATE graph_nodes SET audience_id = %s"
                " WHERE id = %s AND audience_id <> %s",
                [shared := self.scope.audiences.any_of(audiences), node, shared],
            )

    def _describe_again(self, node: int, d: Drafted, draft: NodeDraft) -> None:
        if draft.identity and draft is not d.nodes[0]:
            return
        execute(
            sql.UPDATE_NODE,
            {
                "id": node, "node_type": draft.node_type, "title": draft.title,
                "content": draft.content, "context": draft.context,
                "language": self._language(draft), "tags": list(draft.tags),
                "metadata": Jsonb(dict(draft.metadata)),
                "occurred_at": draft.occurred_at, "precedence": draft.precedence,
                "audience": d.audience_id,
            },
        )

    def _write_node_evidence(
        self, by_key: Mapping[str, list[tuple[Drafted, NodeDraft]]]
    ) -> None:
        execute(sql.KEEP_ASSERTIONS, [list(self.shared)]) if self.shared else None
        rows, stale = [], []
        for key, drafts in by_key.items():
            node = self.known[key].id
            for d, draft in drafts:
                via = draft.key if draft.key != key else ""
                quote = "\n".join(draft.identity.names) if draft.identity else ""
                known = self.said.pop((d.record_id, node, via), None)
                if known and known.is_assertion:
                    self.shared.add(node)
                if draft.identity and not (known and known.quote == quote):
                    stale.append(node)
                if known and not known.is_assertion and known.quote == quote:
                    continue
                rows.append((node, d, draft, via, quote, known))
        replaced = [row[5].id for row in rows if row[5]]
        execute("DELETE FROM graph_evidence WHERE id = ANY(%s)", [replaced])
        ids = new_ids("graph_evidence", len(rows))
        copy_rows(
            "graph_evidence",
            NODE_EVIDENCE_COLUMNS,
            (
                (
                    i, *self.scope.key, d.record_id, node, "said", "",
                    *_span(d.record.body, draft.content), quote, 1.0, "", via,
                    self._assertion(draft) if node in self.shared else None,
                )
                for i, (node, d, draft, via, quote, _) in zip(ids, rows, strict=True)
            ),
        )
        if self.shared:
            execute(sql.DESCRIBE, [*self.scope.key, list(self.shared)])
        if stale:
            execute(
                "UPDATE graph_identities SET names_stale = true"
                " WHERE node_id = ANY(%s) AND NOT names_stale",
                [stale],
            )

    def _assertion(self, draft: NodeDraft) -> Jsonb:
        occurred = draft.occurred_at.isoformat() if draft.occurred_at else None
        return Jsonb(
            {
                "node_type": draft.node_type, "title": draft.title,
                "content": draft.content, "context": draft.context,
                "language": self._language(draft), "tags": list(draft.tags),
                "metadata": dict(draft.metadata), "occurred_at": occurred,
                "precedence": draft.precedence,
            }
        )

    # --- edges -----------------------------------------------------------------------

    def _write_edges(self, changed: Sequence[int]) -> None:
        if changed:
            execute(
                "DELETE FROM graph_pending_edges WHERE tenant_id = %s"
                " AND project_id = %s AND record_id = ANY(%s)",
                [*self.scope.key, list(changed)],
            )
        claims, waiting = [], []
        for d in self.drafted:
            for draft in d.edges:
                claim = self._claim(d.record_id, d.audience_id, draft)
                if claim is None:
                    waiting.append((d.record_id, draft))
                elif not self._is_said(claim):
                    claims.append(claim)
        claims += self._arrived()
        self._end_unsaid_edges(changed)
        write_edges(self.scope, claims, self.places, frozenset(self.fresh))
        ids = new_ids("graph_pending_edges", len(waiting))
        copy_rows(
            "graph_pending_edges",
            PENDING_COLUMNS,
            (
                (
                    i, *self.scope.key, record, draft.source, draft.relation,
                    draft.target, Jsonb(_edge_json(draft)),
                )
                for i, (record, draft) in zip(ids, waiting, strict=True)
            ),
        )

    def _claim(self, record: int, audience: int, draft: EdgeDraft) -> EdgeClaim | None:
        source = self.known.get(self.key_of(draft.source))
        target = self.known.get(self.key_of(draft.target))
        if source is None or target is None:
            return None
        source_id, via_source = self._end(source, draft.source)
        target_id, via_target = self._end(target, draft.target)
        return EdgeClaim(
            record_id=record, source_id=source_id, relation=draft.relation,
            target_id=target_id, audience_id=audience, weight=draft.weight,
            occurred_at=draft.occurred_at, position=draft.position,
            valid_from=draft.valid_from, quote=draft.quote,
            via_source=via_source, via_target=via_target,
        )

    def _end(self, known: Known, drafted: str) -> tuple[int, str]:
        if known.person_id is not None:
            return known.person_id, drafted
        return known.id, drafted if self.key_of(drafted) != drafted else ""

    def _is_said(self, claim: EdgeClaim) -> bool:
        identity = (
            claim.record_id, claim.source_id, claim.relation, claim.target_id,
            claim.valid_from, claim.via_source, claim.via_target,
        )
        known = self.said.get(identity)
        same = known is not None and (known.quote, known.weight, known.position) == (
            claim.quote, claim.weight, claim.position,
        )
        if same:
            del self.said[identity]
        return same

    def _arrived(self) -> list[EdgeClaim]:
        """Take the waiting edges whose ends are both here now."""
        keys = [key for key, known in self.known.items() if known.id in self.fresh]
        if not keys:
            return []
        rows = fetch(
            "SELECT p.id, p.record_id, r.audience_id, p.source_key, p.relation,"
            "       p.target_key, p.draft::text"
            "  FROM graph_pending_edges p JOIN graph_records r ON r.id = p.record_id"
            " WHERE p.tenant_id = %s AND p.project_id = %s"
            "   AND (p.source_key = ANY(%s) OR p.target_key = ANY(%s))",
            [*self.scope.key, keys, keys],
        )
        self._load({key for row in rows for key in (row[3], row[5])})
        claims, done = [], []
        for pending, record, audience, source, relation, target, said in rows:
            draft = _edge_from_json(source, relation, target, said)
            if claim := self._claim(record, audience, draft):
                claims.append(claim)
                done.append(pending)
        execute("DELETE FROM graph_pending_edges WHERE id = ANY(%s)", [done])
        return claims

    def _end_unsaid_edges(self, changed: Sequence[int]) -> None:
        unsaid = [s for s in self.said.values() if s.edge_id is not None]
        execute(
            "DELETE FROM graph_evidence WHERE id = ANY(%s)", [[s.id for s in unsaid]]
        ) if unsaid else None
        edges = {s.edge_id for s in unsaid if s.edge_id is not None}
        settle_edges(self.scope, edges, self.places, forget=False)

    def _end_unsaid(self) -> None:
        """End the nodes that changed records no longer speak of, and see who may see
        what they still do."""
        unsaid = [s for s in self.said.values() if s.node_id is not None]
        if not unsaid:
            return
        nodes = list({s.node_id for s in unsaid})
        execute("DELETE FROM graph_evidence WHERE id = ANY(%s)", [[s.id for s in unsaid]])
        bare = [
            row[0] for row in fetch(sql.NODES_WITHOUT_EVIDENCE, [nodes, *self.scope.key])
        ]
        execute(sql.END_NODES, [bare])
        execute(sql.DESCRIBE, [*self.scope.key, nodes])


def embedded_text(draft: NodeDraft) -> str:
    """Return the text a node's vector is made of; empty for structure."""
    kind = node_types.get(draft.node_type)
    if kind is not None and kind.structure:
        return ""
    said = draft.content or draft.title
    if not said.strip():
        return ""
    return "\n".join(text for text in (draft.context, draft.title, draft.content) if text)


def _span(body: str, content: str) -> tuple[int | None, int | None]:
    start = body.find(content) if content else -1
    return (start, start + len(content)) if start >= 0 else (None, None)


def _edge_json(draft: EdgeDraft) -> dict[str, Any]:
    return {
        "weight": draft.weight,
        "quote": draft.quote,
        "position": str(draft.position) if draft.position is not None else None,
        "occurred_at": draft.occurred_at.isoformat() if draft.occurred_at else None,
        "valid_from": draft.valid_from.isoformat() if draft.valid_from else None,
    }


def _edge_from_json(source: str, relation: str, target: str, said: str) -> EdgeDraft:
    values = json.loads(said)

    def moment(name: str) -> datetime | None:
        return datetime.fromisoformat(values[name]) if values[name] else None

    position = values["position"]
    return EdgeDraft(
        source=source, relation=relation, target=target, weight=values["weight"],
        quote=values["quote"], position=Decimal(position) if position else None,
        occurred_at=moment("occurred_at"), valid_from=moment("valid_from"),
    )
