from memory.models.conversation import Citation, Conversation, Turn
from memory.models.observation import (
    Feedback,
    MemoryScope,
    Observation,
    Reference,
    ReferencedPair,
)

__all__ = [
    "Citation",
    "Conversation",
    "Feedback",
    "MemoryScope",
    "Observation",
    "Reference",
    "ReferencedPair",
    "Turn",
]
