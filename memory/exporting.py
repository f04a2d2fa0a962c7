"""What memory gives to an export: conversations, observations, questions to databases.

All of it is people's own; `--without-memory` leaves it out.
"""

from __future__ import annotations

from graph.exporting import graph_parts  # noqa: F401 - what memory refers to
from graph.exporting.parts import Translated, add_part
from memory.models import (
    Citation,
    Conversation,
    EdgeUse,
    Feedback,
    MemoryScope,
    Observation,
    Reference,
    ReferencedPair,
    SavedQuery,
    Turn,
    TurnTable,
    VerifiedExample,
)

_ALSO_READ_OUT = """(
    SELECT coalesce(jsonb_agg(c.address ORDER BY one.place), '[]')
      FROM jsonb_array_elements(t.also_read) WITH ORDINALITY AS one (item, place)
      JOIN exported_nodes c ON c.id = (one.item #>> '{}')::bigint
)"""
_ALSO_READ_BACK = """(
    SELECT coalesce(jsonb_agg(c.id ORDER BY one.place), '[]')
      FROM jsonb_array_elements(s.doc -> 'also_read')
           WITH ORDINALITY AS one (item, place)
      JOIN restored_nodes c ON c.address = one.item
)"""


def _add_conversations() -> None:
    add_part(
        Conversation,
        "conversations",
        "user",
        "created_at",
        is_numbered=True,
        is_memory=True,
        left_out={
            "summary": "made again from the turns",
            "summarized_to": "an id of this installation",
        },
    )
    add_part(
        Turn,
        "turns",
        "conversation",
        "created_at",
        is_numbered=True,
        within="conversation",
        after=("nodes",),
        is_memory=True,
        translated={"also_read": Translated(out=_ALSO_READ_OUT, back=_ALSO_READ_BACK)},
    )
    add_part(Citation, "citations", "turn", "n", within="turn", is_memory=True)
    add_part(
        TurnTable,
        "turn_tables",
        "turn",
        "place",
        within="turn",
        is_memory=True,
        left_out={"query": "the log of statements stays where they ran"},
    )
    add_part(Feedback, "feedback", "turn", "user", within="turn", is_memory=True)


def _add_observations() -> None:
    add_part(MemoryScope, "memory_scopes", "user", is_memory=True)
    add_part(Observation, "observations", "node", is_memory=True)
    add_part(
        Reference,
        "references",
        "observation",
        "conversation",
        within="observation",
        is_memory=True,
    )
    add_part(
        ReferencedPair,
        "referenced_pairs",
        "one",
        "other",
        within="one",
        unordered=("one", "other"),
        is_memory=True,
    )
    add_part(EdgeUse, "edge_uses", "edge", is_memory=True)


def _add_questions() -> None:
    add_part(
        SavedQuery,
        "saved_queries",
        "database",
        "user",
        "title",
        within="database",
        is_memory=True,
    )
    add_part(
        VerifiedExample,
        "verified_examples",
        "database",
        "question",
        "sql",
        within="database",
        is_memory=True,
    )


_add_conversations()
_add_observations()
_add_questions()
