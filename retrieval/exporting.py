"""What retrieval gives to an export: communities, and an index of tags."""

from __future__ import annotations

from connections.models import Project
from graph.exporting.export import page_writers
from graph.exporting.folders import Writer, measure
from graph.exporting.pages import Shown
from graph.exporting.parts import Translated, add_part, leave_out
from graph.exporting.paths import page_of
from retrieval.models import (
    Community,
    CommunityMember,
    CommunityRun,
    Lexeme,
    LexemeCount,
)
from retrieval.tag_export import SHARDS, export_tags

_SUMMARY_OUT = """(
    SELECT coalesce(jsonb_agg((said.item - 'node_id')
                              || jsonb_build_object('node', c.address)
                              ORDER BY said.place), '[]')
      FROM jsonb_array_elements(t.summary) WITH ORDINALITY AS said (item, place)
      JOIN exported_nodes c ON c.id = (said.item ->> 'node_id')::bigint
)"""
_SUMMARY_BACK = """(
    SELECT coalesce(jsonb_agg((said.item - 'node')
                              || jsonb_build_object('node_id', c.id)
                              ORDER BY said.place), '[]')
      FROM jsonb_array_elements(s.doc -> 'summary')
           WITH ORDINALITY AS said (item, place)
      JOIN restored_nodes c ON c.address = said.item -> 'node'
)"""
_FIRST_MEMBER = (
    '(SELECT min(c.address::text COLLATE "C")::jsonb FROM retrieval_community_members m'
    " JOIN exported_nodes c ON c.id = m.node_id"
    " WHERE m.tenant_id = t.tenant_id AND m.project_id = t.project_id"
    " AND m.community_id = t.id)"
)

add_part(
    Community,
    "communities",
    "first",
    # Its own number is this installation's: the least key of its members names it.
    extra={"first": f"{_FIRST_MEMBER} #>> '{{}}'"},
    where=f"{_FIRST_MEMBER} IS NOT NULL",
    after=("nodes",),
    is_memory=True,  # their words may be
    left_out={
        "embedding": "made again by the next refresh",
        "embedding_model": "made again by the next refresh",
    },
    translated={"summary": Translated(out=_SUMMARY_OUT, back=_SUMMARY_BACK)},
)
add_part(CommunityMember, "community_members", "node", is_memory=True)
add_part(CommunityRun, "community_runs", is_memory=True)
leave_out(Lexeme, LexemeCount, why="counted again from the words after an import")


@page_writers.register("tags")
def write_tags(project: Project, shown: Shown, writer: Writer) -> None:
    """Write the index of tags, each with links to its nodes' pages."""
    export_tags(
        project,
        writer.folder,
        link=lambda node_type, key: f"../{page_of(node_type, key)}",
        with_memory=shown.with_memory,
        moment=shown.moment,
    )
    for name in SHARDS:
        path = f"tags/{name}.md"
        writer.note(path, measure(writer.folder / path).sha256)
