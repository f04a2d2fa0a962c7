from memory.models.conversation import Citation, Conversation, Turn
from memory.models.edge_use import EdgeUse
from memory.models.observation import (
    Feedback,
    MemoryScope,
    Observation,
    Reference,
    ReferencedPair,
)
from memory.models.query import SavedQuery, TurnTable, VerifiedExample

__all__ = [
    "Citation",
    "Conversation",
    "EdgeUse",
    "Feedback",
    "MemoryScope",
    "Observation",
    "Reference",
    "ReferencedPair",
    "SavedQuery",
    "Turn",
    "TurnTable",
    "VerifiedExample",
]
