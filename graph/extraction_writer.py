"""Nodes, edges and evidence of what a chunk of texts says."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from connections.records import clean_key
from graph import extraction_sql
from graph.copying import copy_rows, execute, fetch, new_ids
from graph.edges import EdgeClaim, GraphScope, Places, settle_edges, write_edges
from graph.extract import Entity, Extraction
from graph.extraction_proofs import Proof, Proven, Text, part_of, wanted_of
from graph.merged import resolved
from graph.models import EmbeddingModel
from graph.models.node import EXTRACTION
from graph.node_rows import NODE_COLUMNS, NODE_EVIDENCE_COLUMNS
from graph.pruned import pruned_edges
from graph.touched import touch
from graph.vocabulary import same_name


@dataclass(slots=True)
class Met:
    """Who names a node in this chunk: their audiences, and when they did."""

    audiences: set[int] = field(default_factory=set)
    moments: list[datetime] = field(default_factory=list)

    def join(self, other: Met) -> None:
        self.audiences |= other.audiences
        self.moments += other.moments


class ExtractionWriter:
    """Writes what a chunk of texts says; one instance a transaction.

    `own` gives the key of a name that the project itself brought, by type and name.
    """

    def __init__(self, scope: GraphScope, own: dict[tuple[str, str], str]) -> None:
        self.scope = scope
        self.own = own
        self.fresh: set[int] = set()

    def write(self, texts: Sequence[Text], found: Sequence[Extraction]) -> None:
        """Give the texts the evidence of what was found in them, and no other."""
        said = list(zip(texts, found, strict=True))
        nodes = self._nodes(said)
        before, wrong = self._before(texts)
        offsets = self._offsets([text for text, what in said if what])
        resettled: list[tuple[Proven, Proof]] = []
        missing: list[tuple[Text, Proven, Proof]] = []
        for text, what in said:
            wanted = wanted_of(text, what, nodes, offsets.get(text.node_id))
            standing = before.get(text.part, {})
            for proven, proof in standing.items():
                new = wanted.get(proven)
                if new is None or (new.quote, new.span) != (proof.quote, proof.span):
                    wrong.append((proven, proof))
                else:
                    del wanted[proven]
                    if text.audience_id != text.was_audience:
                        resettled.append((proven, proof))
            missing += [(text, proven, proof) for proven, proof in wanted.items()]
        self._delete(wrong)
        self._add(missing)
        self._settle([*wrong, *resettled])

    def take_back(self, texts: Sequence[tuple[str, int]]) -> None:
        """Take back what texts said, each its key and the record it was read from."""
        rows = self._evidence(
            [record for _, record in texts], [part_of(key) for key, _ in texts]
        )
        wrong = [(proven, proof) for _, proven, proof in rows]
        self._delete(wrong)
        self._settle(wrong)

    # --- nodes ------------------------------------------------------------------------

    def _nodes(self, said: Sequence[tuple[Text, Extraction]]) -> dict[Entity, int]:
        """Return the node of each entity, made or met; what was pruned has none."""
        met: dict[Entity, Met] = defaultdict(Met)
        languages: dict[Entity, str] = {}
        for text, what in said:
            for entity in what.entities:
                met[entity].audiences.add(text.audience_id)
                if text.occurred_at:
                    met[entity].moments.append(text.occurred_at)
                languages.setdefault(entity, text.language)
        known, free = self._look_up(met)
        # Spellings of one claim are one node, which all of them are met with.
        there: dict[int, tuple[Entity, Met]] = {}
        for entity, node in known.items():
            there.setdefault(node, (entity, Met()))[1].join(met[entity])
        self._meet(there)
        first: dict[str, Entity] = {}
        for entity, key in free.items():
            if first.setdefault(key, entity) is not entity:
                met[first[key]].join(met[entity])
        ids = dict(zip(first, new_ids("graph_nodes", len(first)), strict=True))
        model = self._model() if ids else None
        copy_rows(
            "graph_nodes",
            NODE_COLUMNS,
            (
                self._node_row(node, key, e, met[e], languages[e], model)
                for (key, node), e in zip(ids.items(), first.values(), strict=True)
            ),
        )
        self.fresh.update(ids.values())
        return known | {entity: ids[key] for entity, key in free.items()}

    def _look_up(
        self, entities: Iterable[Entity]
    ) -> tuple[dict[Entity, int], dict[Entity, str]]:
        """Return the nodes that are there, and the keys of those to make.

        A key that stands for something of another type leaves `TYPE:NAME`.
        """
        keys = {entity: self._keys(entity) for entity in entities}
        wanted = sorted({key for both in keys.values() for key in both})
        merged = resolved(self.scope.project, wanted)
        stands = {key: merged.get(key, key) for key in wanted}
        named = [*self.scope.key, list(set(stands.values()))]
        rows = {row[0]: row for row in fetch(extraction_sql.NODES_NAMED, named)}
        there = {
            k: (rows[at][1], rows[at][2]) for k, at in stands.items() if at in rows
        }
        bare = {row[0] for row in fetch(extraction_sql.PRUNED, named)}
        pruned = {key for key, at in stands.items() if at in bare}
        known, free = {}, {}
        taken: dict[str, str] = {key: kind for key, (_, kind) in there.items()}
        for entity, both in sorted(keys.items(), key=lambda item: item[1]):
            key = next(
                (k for k in both if taken.get(k, entity.type) == entity.type), ""
            )
            # What is in the trash is proven on, unseen, so that it can come back.
            if not key or (key in pruned and key not in there):
                continue
            taken[key] = entity.type
            if key in there:
                known[entity] = there[key][0]
            else:
                free[entity] = stands[key]
        return known, free

    def _keys(self, entity: Entity) -> tuple[str, str]:
        if entity.is_claim:
            same = same_name(entity.name)
            digest = hashlib.sha256(same.encode()).hexdigest()[:32]
            return (f"{entity.type}:{digest}", f"{entity.type}:{digest}")
        own = self.own.get((entity.type, entity.name))
        return clean_key(own or entity.name), clean_key(f"{entity.type}:{entity.name}")

    def _meet(self, nodes: dict[int, tuple[Entity, Met]]) -> None:
        if not nodes:
            return
        audiences = dict(fetch(extraction_sql.AUDIENCES_OF_NAMED, [list(nodes)]))
        rows = [
            (
                node,
                self.scope.audiences.any_of(
                    met.audiences | ({audiences[node]} - {None})
                ),
                min(met.moments, default=None),
                max(met.moments, default=None),
                entity.is_claim,
            )
            for node, (entity, met) in nodes.items()
            if node in audiences
        ]
        if rows:
            columns = [list(column) for column in zip(*rows, strict=True)]
            execute(extraction_sql.MEET_NODES, columns)

    def _model(self) -> int:
        """Return the active model: it has no vector to make for these nodes."""
        return EmbeddingModel.objects.get(is_active=True).pk

    def _node_row(
        self,
        node: int,
        key: str,
        entity: Entity,
        met: Met,
        language: str,
        model: int | None,
    ) -> tuple[Any, ...]:
        first, latest = min(met.moments, default=None), max(met.moments, default=None)
        return (
            node,
            *self.scope.key,
            self.scope.audiences.any_of(met.audiences),
            key,
            entity.type,
            "" if entity.is_claim else entity.name,
            entity.name if entity.is_claim else "",
            "",
            language if entity.is_claim else self.scope.project.language,
            [],
            Jsonb({}),
            "",
            EXTRACTION,
            None,
            0.0,
            first if entity.is_claim else None,
            latest,
            self.scope.now,
            self.scope.now,
            None,
            model,
        )

    # --- evidence ---------------------------------------------------------------------

    def _before(
        self, texts: Sequence[Text]
    ) -> tuple[dict[str, dict[Proven, Proof]], list[tuple[Proven, Proof]]]:
        """Return by its mark what was read out of each text before, and what was read
        out of it as another record had it: that is said anew."""
        read = [text for text in texts if text.was_record is not None]
        moved = {t.part for t in read if t.was_record != t.record_id}
        before: dict[str, dict[Proven, Proof]] = defaultdict(dict)
        others = []
        for part, proven, proof in self._evidence(
            [t.was_record for t in read if t.was_record], [t.part for t in read]
        ):
            if part in moved:
                others.append((proven, proof))
            else:
                before[part][proven] = proof
        return before, others

    def _evidence(
        self, records: Iterable[int], parts: Sequence[str]
    ) -> list[tuple[str, Proven, Proof]]:
        if not parts:
            return []
        rows = fetch(
            extraction_sql.EVIDENCE_OF_TEXTS,
            [*self.scope.key, list(set(records)), list(parts)],
        )
        return [
            (
                part,
                (node,) if node is not None else (source, relation, target),
                Proof(quote, (start, end), evidence, edge),
            )
            for evidence, part, node, edge, source, relation, target, quote, start, end in rows
        ]

    def _offsets(self, texts: Sequence[Text]) -> dict[int, int]:
        if not texts:
            return {}
        rows = fetch(
            extraction_sql.PLACES_OF_TEXTS,
            [
                *self.scope.key,
                list({text.record_id for text in texts}),
                [text.node_id for text in texts],
            ],
        )
        return dict(rows)

    def _delete(self, wrong: Sequence[tuple[Proven, Proof]]) -> None:
        if wrong:
            execute(
                "DELETE FROM graph_evidence WHERE id = ANY(%s)",
                [[proof.id for _, proof in wrong]],
            )
            # Nodes by themselves, and both ends of edges.
            touch(proven[0] for proven, _ in wrong)
            touch(proven[2] for proven, _ in wrong if len(proven) == 3)

    def _add(self, missing: Sequence[tuple[Text, Proven, Proof]]) -> None:
        of_nodes = [(t, p[0], proof) for t, p, proof in missing if len(p) == 1]
        ids = new_ids("graph_evidence", len(of_nodes))
        copy_rows(
            "graph_evidence",
            NODE_EVIDENCE_COLUMNS,
            (
                (
                    evidence,
                    *self.scope.key,
                    text.record_id,
                    node,
                    "derived",
                    text.part,
                    *proof.span,
                    proof.quote,
                    1.0,
                    "",
                    "",
                    None,
                )
                for evidence, (text, node, proof) in zip(ids, of_nodes, strict=True)
            ),
        )
        said = {
            (*proven, proof.quote) for _, proven, proof in missing if len(proven) == 3
        }
        pruned = pruned_edges(self.scope.key, said)
        claims = [
            EdgeClaim(
                record_id=text.record_id,
                source_id=proven[0],
                relation=proven[1],
                target_id=proven[2],
                audience_id=text.audience_id,
                occurred_at=text.occurred_at,
                quote=proof.quote,
                span=proof.span,
                kind="derived",
                part=text.part,
                origin=EXTRACTION,
            )
            for text, proven, proof in missing
            if len(proven) == 3 and (*proven, proof.quote) not in pruned
        ]
        write_edges(self.scope, claims, Places(), frozenset(self.fresh))

    def _settle(self, touched: Sequence[tuple[Proven, Proof]]) -> None:
        """Weigh, show and end anew what lost evidence, or is seen by others now."""
        edges = [proof.edge_id for _, proof in touched if proof.edge_id is not None]
        settle_edges(self.scope, edges, Places(), forget=False)
        nodes = list({proven[0] for proven, _ in touched if len(proven) == 1})
        bare, rows = [], []
        found = fetch(extraction_sql.SETTLE_NODES, [nodes]) if nodes else []
        for node, pieces, latest, first, audiences in found:
            if not pieces:
                bare.append(node)
            else:
                shared = self.scope.audiences.any_of(audiences)
                rows.append((node, shared, first, latest))
        if rows:
            columns = [list(column) for column in zip(*rows, strict=True)]
            execute(extraction_sql.DESCRIBE_NODES, columns)
        execute(extraction_sql.END_NODES_NAMED, [bare])
