"""What memory adds to the graph: the types of its nodes, the relations of its edges."""

from __future__ import annotations

from connections.records import node_type, relation

OBSERVATIONS = "fact|decision|commitment|risk|insight|pattern"

node_type(
    "fact", "Something that is so, as a conversation or a person said.", "fact_check"
)
node_type("commitment", "What somebody undertook: who, what, by when.", "handshake")
node_type("risk", "What may go wrong.", "warning")
node_type("insight", "What follows from several things that were said.", "lightbulb")
node_type("episode", "A conversation, as memory keeps it.", "history")

relation(
    "supported_by",
    OBSERVATIONS,
    "message|email|sentence|section|file|meeting|thread|channel|person|topic|agent|"
    f"technology|preference|blocker|{OBSERVATIONS}",
    "What an observation rests on: what was cited for it.",
    "'The audit failed' supported_by Ann's mail",
)
relation(
    "co_occurs",
    OBSERVATIONS,
    OBSERVATIONS,
    "Both were pulled into the same conversations, at least three of them.",
    "'The audit failed' co_occurs 'Acme is our supplier'",
)
