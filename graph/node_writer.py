"""Nodes of a batch: made, described, widened, ended, with their evidence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from psycopg.types.json import Jsonb

from connections.records import NodeDraft, clean_key
from graph import ingest_sql
from graph.context import RunContext
from graph.copying import copy_rows, execute, fetch, new_ids
from graph.drafted import Drafted
from graph.embedded_text import embedded_text
from graph.known import Known, Lookup
from graph.merged import describe
from graph.node_rows import (
    IDENTITY_COLUMNS,
    NODE_COLUMNS,
    NODE_EVIDENCE_COLUMNS,
    span_of,
)
from graph.parts import sane
from graph.person_rows import write_proof
from graph.touched import touch

ByKey: TypeAlias = Mapping[str, list[tuple[Drafted, NodeDraft]]]


class NodeWriter:
    """Writes what the drafted records say of nodes; one instance a batch.

    `shared` are nodes that more than one record describes.
    """

    def __init__(self, context: RunContext, lookup: Lookup) -> None:
        self.context = context
        self.scope = context.scope
        self.lookup = lookup
        self.shared: set[int] = set()
        self.revived: set[int] = set()

    def write(self, drafted: Sequence[Drafted]) -> None:
        by_key: dict[str, list[tuple[Drafted, NodeDraft]]] = defaultdict(list)
        for d in drafted:
            for draft in d.nodes:
                by_key[self.lookup.key_of(draft.key)].append((d, draft))
        self._insert_nodes(
            {key: s[0] for key, s in by_key.items() if key not in self.lookup.known}
        )
        self._update_nodes(by_key)
        self._write_node_evidence(by_key)

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
                    ids[key],
                    *self.scope.key,
                    persons[key],
                    key,
                    draft.identity.side,
                    draft.identity.address.lower(),
                    [],
                    Jsonb([]),
                    True,
                )
                for key, (_, draft) in identities.items()
                if draft.identity
            ),
        )
        write_proof(
            self.scope,
            [
                (d.record_id, persons[key], "identity", key)
                for key, (d, _) in identities.items()
            ],
        )
        for key, (d, _) in new.items():
            self.lookup.known[key] = Known(
                ids[key], d.record_id, d.audience_id, persons.get(key)
            )
        self.lookup.fresh.update(ids.values(), persons.values())

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
            node,
            *self.scope.key,
            d.audience_id,
            key,
            draft.node_type,
            title,
            draft.content,
            draft.context,
            self._language(d, draft),
            list(draft.tags),
            Jsonb(dict(draft.metadata)),
            self.context.source.kind,
            "source",
            d.record_id,
            draft.precedence,
            draft.occurred_at,
            draft.occurred_at or sane(d.record.occurred_at),
            self.scope.now,
            self.scope.now,
            vector,
            self._model(draft),
        )

    def _model(self, draft: NodeDraft) -> int | None:
        """Return the model of its vector, also where it has no words to embed."""
        is_done = self.context.embed is not None or not embedded_text(draft)
        return self.context.model_id if is_done else None

    def _person_row(
        self, node: int, key: str, d: Drafted, draft: NodeDraft
    ) -> tuple[Any, ...]:
        return (
            node,
            *self.scope.key,
            d.audience_id,
            clean_key(f"identity:{key}"),
            "person",
            draft.title or key,
            "",
            "",
            self.scope.project.language,
            [],
            Jsonb({}),
            self.context.source.kind,
            "identity",
            None,
            0.0,
            None,
            None,
            self.scope.now,
            self.scope.now,
            None,
            self.context.model_id,
        )

    def _language(self, d: Drafted, draft: NodeDraft) -> str:
        """Return the language declared, else detected, else the project's."""
        for language in (draft.language, d.language):
            if language in self.context.languages:
                return language
        return self.scope.project.language

    def _update_nodes(
        self, by_key: Mapping[str, list[tuple[Drafted, NodeDraft]]]
    ) -> None:
        wider: dict[int, set[int]] = defaultdict(set)
        met: dict[int, set[int]] = defaultdict(set)
        for key, drafts in by_key.items():
            known = self.lookup.known[key]
            for d, draft in drafts:
                if known.record_id == d.record_id and not d.new:
                    self._describe_again(known.id, d, draft)
                elif known.is_implied:
                    met[known.id].add(d.audience_id)
                elif known.audience_id != d.audience_id:
                    wider[known.id] |= {known.audience_id, d.audience_id}
                if known.record_id != d.record_id and draft.identity is None:
                    self.shared.add(known.id)
        for node, audiences in met.items():
            # Who may see it is its own record's to say, not the edge's it was made for.
            shared = self.scope.audiences.any_of(audiences)
            execute(ingest_sql.MEET_IMPLIED, [shared, node])
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
            ingest_sql.UPDATE_NODE,
            {
                "id": node,
                "node_type": draft.node_type,
                "title": draft.title,
                "content": draft.content,
                "context": draft.context,
                "language": self._language(d, draft),
                "tags": list(draft.tags),
                "metadata": Jsonb(dict(draft.metadata)),
                "occurred_at": draft.occurred_at,
                "precedence": draft.precedence,
                "audience": d.audience_id,
            },
        )

    def _write_node_evidence(
        self, by_key: Mapping[str, list[tuple[Drafted, NodeDraft]]]
    ) -> None:
        execute(
            ingest_sql.KEEP_ASSERTIONS, [list(self.shared)]
        ) if self.shared else None
        rows, stale = [], []
        for key, drafts in by_key.items():
            node = self.lookup.known[key].id
            for d, draft in drafts:
                via = draft.key if draft.key != key else ""
                quote = "\n".join(draft.identity.names) if draft.identity else ""
                known = self.lookup.said.pop((d.record_id, node, via), None)
                if known and known.is_assertion:
                    self.shared.add(node)
                if draft.identity and not (known and known.quote == quote):
                    stale.append(node)
                span = span_of(d.record.body, draft.content)
                is_same = known and (known.quote, known.span) == (quote, span)
                if known and is_same and not known.is_assertion:
                    continue
                rows.append((node, d, draft, via, quote, known, span))
        replaced = [row[5].id for row in rows if row[5]]
        execute("DELETE FROM graph_evidence WHERE id = ANY(%s)", [replaced])
        ids = new_ids("graph_evidence", len(rows))
        copy_rows(
            "graph_evidence",
            NODE_EVIDENCE_COLUMNS,
            (
                (
                    i,
                    *self.scope.key,
                    d.record_id,
                    node,
                    "said",
                    "",
                    *span,
                    quote,
                    1.0,
                    "",
                    via,
                    self._assertion(d, draft) if node in self.shared else None,
                )
                for i, (node, d, draft, via, quote, _, span) in zip(
                    ids, rows, strict=True
                )
            ),
        )
        if met := [row[0] for row in rows if row[0] not in self.lookup.fresh]:
            self.revived = {row[0] for row in fetch(ingest_sql.REVIVE_NODES, [met])}
        if self.shared:
            describe(self.scope.project, self.shared)
        if stale:
            execute(ingest_sql.RENAME_IDENTITIES, [stale])

    def _assertion(self, d: Drafted, draft: NodeDraft) -> Jsonb:
        occurred = draft.occurred_at.isoformat() if draft.occurred_at else None
        return Jsonb(
            {
                "node_type": draft.node_type,
                "title": draft.title,
                "content": draft.content,
                "context": draft.context,
                "language": self._language(d, draft),
                "tags": list(draft.tags),
                "metadata": dict(draft.metadata),
                "occurred_at": occurred,
                "precedence": draft.precedence,
            }
        )

    def end_unsaid(self) -> set[int]:
        """End the nodes that changed records no longer speak of; return those."""
        unsaid = [s for s in self.lookup.said.values() if s.node_id is not None]
        if not unsaid:
            return set()
        nodes = [n for n in {s.node_id for s in unsaid} if n is not None]
        execute(
            "DELETE FROM graph_evidence WHERE id = ANY(%s)", [[s.id for s in unsaid]]
        )
        bare = [
            row[0]
            for row in fetch(
                ingest_sql.NODES_WITHOUT_EVIDENCE, [nodes, *self.scope.key]
            )
        ]
        touch(nodes)
        execute(ingest_sql.END_NODES, [bare])
        execute(ingest_sql.RENAME_IDENTITIES, [nodes])
        describe(self.scope.project, nodes)
        return {s.node_id for s in unsaid if s.node_id is not None}

    def settle_audiences(self, drafted: Sequence[Drafted], unsaid: set[int]) -> None:
        """Show what changed records speak of, and what came back, to those who may see
        a record that speaks of it."""
        nodes = (
            unsaid
            | self.revived
            | {
                self.lookup.known[self.lookup.key_of(draft.key)].id
                for d in drafted
                if not d.new
                for draft in d.nodes
            }
        )
        changed = [d.record_id for d in drafted if not d.new]
        for table, rows in (
            ("graph_nodes", fetch(ingest_sql.AUDIENCES_OF_NODES, [list(nodes)])),
            (
                "graph_edges",
                fetch(ingest_sql.AUDIENCES_OF_EDGES, [*self.scope.key, changed]),
            ),
        ):
            statement = f"UPDATE {table} SET audience_id = %s WHERE id = %s"  # noqa: S608
            for row, audience, found in rows:
                if (shared := self.scope.audiences.any_of(found)) != audience:
                    execute(statement, [shared, row])
        execute(ingest_sql.OPEN_FOLLOWS, [*self.scope.key, list(nodes)])
