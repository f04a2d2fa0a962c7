from memory.models.conversation import Citation, Conversation, Turn

__all__ = ["Citation", "Conversation", "Turn"]
