"""The admin of memory: one's conversations, what was remembered, and examples."""

from memory.admin.conversations import ConversationAdmin
from memory.admin.examples import VerifiedExampleAdmin
from memory.admin.observations import ObservationAdmin

__all__ = ["ConversationAdmin", "ObservationAdmin", "VerifiedExampleAdmin"]
