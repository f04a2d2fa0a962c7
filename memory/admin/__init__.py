"""The admin of memory: one's conversations, and what was remembered."""

from memory.admin.conversations import ConversationAdmin
from memory.admin.observations import ObservationAdmin

__all__ = ["ConversationAdmin", "ObservationAdmin"]
