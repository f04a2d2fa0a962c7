"""The checks of a graph: each one named statement, and how its faults are mended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from connections.models import Project
from connections.registry import Registry
from graph import checks_sql as sql
from graph import repairs
from graph.identity import misplaced
from graph.review import orphans_sql


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A sort of fault: what it means, out of what it is counted, how it is mended.

    One that is `for_people` is no fault of the graph: it is shown, and queued.
    `faults` selects id and name; `found` finds names where no statement can.
    """

    name: str
    title: str
    of: str
    faults: str = ""
    found: Callable[[Project], Sequence[str]] | None = None
    repair: Callable[[Project, Sequence[int]], None] | None = None
    mended_by: str = ""
    for_people: bool = False


checks: Registry[Check] = Registry("check of the graph")


def _add(name: str, title: str, of: str, faults: str = "", **more: object) -> None:
    check = Check(name=name, title=title, of=of, faults=faults, **more)  # type: ignore[arg-type] # fields of Check
    checks.add(name, check)


_add(
    "dangling_ends",
    "Edges with an end that is not there",
    "edges",
    sql.DANGLING_ENDS,
    repair=repairs.delete_edges,
    mended_by="the edge goes; the record that said it stays",
)
_add(
    "evidence_without_record",
    "Evidence of records that are not there",
    "evidence",
    sql.EVIDENCE_WITHOUT_RECORD,
    repair=repairs.delete_evidence,
    mended_by="the evidence goes, and its edges are weighed anew",
)
_add(
    "weights",
    "Edges that do not weigh what their evidence does",
    "edges",
    sql.WEIGHTS,
    repair=repairs.weigh,
    mended_by="weighed anew",
)
_add(
    "nodes_without_evidence",
    "Nodes that nothing proves",
    "nodes",
    sql.NODES_UNPROVEN,
    repair=repairs.end_nodes,
    mended_by="ended, unless somebody wrote them by hand",
)
_add(
    "edges_without_evidence",
    "Edges that nothing proves",
    "edges",
    sql.EDGES_UNPROVEN,
    repair=repairs.end_edges,
    mended_by="ended",
)
_add(
    "wide_edges",
    "Edges shown to more people than their ends",
    "edges",
    sql.WIDE_EDGES,
    repair=repairs.narrow,
    mended_by="shown to those who see both ends",
)
_add(
    "forbidden_ends",
    "Edges between types that their relation does not join",
    "edges",
    sql.FORBIDDEN_ENDS,
)
_add(
    "persons",
    "Identities that are not with the person they add up to",
    "identities",
    found=misplaced,
    repair=repairs.persons,
    mended_by="persons are computed anew",
)
_add(
    "merged_alive",
    "Nodes that were merged and are there again",
    "merges",
    sql.MERGED_ALIVE,
    repair=repairs.merge_again,
    mended_by="merged again",
)
_add(
    "duplicate_names",
    "Names of one type that say the same",
    "nodes",
    sql.DUPLICATE_NAMES,
    repair=repairs.merge_names,
    mended_by="merged",
)
_add(
    "pruned_alive",
    "Nodes that were pruned for good and are there again",
    "tombstones",
    sql.PRUNED_ALIVE,
    repair=repairs.end_nodes,
    mended_by="ended, unless somebody wrote them by hand",
)
_add(
    "lost_names",
    "Names that stand for something that is not there",
    "aliases",
    sql.LOST_NAMES,
)
_add(
    "broken_sequences",
    "Items that do not follow the one before them",
    "edges",
    sql.BROKEN_SEQUENCES,
    repair=repairs.draw_sequences,
    mended_by="drawn anew",
)
_add(
    "records_without_nodes",
    "Records that left nothing in the graph",
    "records",
    sql.RECORDS_WITHOUT_NODES,
    repair=repairs.read_again,
    mended_by="read anew by the next run of their source",
)
_add(
    "search_vectors",
    "Nodes that no words find",
    "nodes",
    sql.SEARCH_VECTORS,
    repair=repairs.index_words,
    mended_by="their words are indexed",
)
_add(
    "embeddings",
    "Nodes without a vector of the active model",
    "nodes",
    sql.EMBEDDINGS,
    repair=repairs.embed_again,
    mended_by="embedded again",
)
_add(
    "orphans",
    "Nodes that nothing leads to and nobody says",
    "nodes",
    orphans_sql.NAMED_ORPHANS,
    repair=repairs.queue,
    mended_by="put into the review queue",
    for_people=True,
)
_add(
    "implied_ends",
    "Nodes made for an edge, not met in a source yet",
    "nodes",
    sql.IMPLIED_ENDS,
    for_people=True,
)
