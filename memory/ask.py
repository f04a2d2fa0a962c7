"""A question answered at once, with its sources."""

from __future__ import annotations

from connections.models import Project, User
from memory.agent.run import Asked, answered
from memory.answers import ChatAnswer
from memory.models import Conversation


def ask(
    project: Project,
    question: str,
    *,
    user: User | None,
    conversation: Conversation | None = None,
    save: bool = True,
    ignore: tuple[str, ...] = (),
) -> ChatAnswer:
    """Answer `question` from what `user` may see, every sentence with its source.

    Without a model the answer quotes the best passages. Saved with its citations in
    `conversation` (a new one where none is given) unless `save` is false or nobody
    asks. Raises what went wrong; what had come is then kept in the failed turn.
    """
    return answered(
        Asked(
            project=project,
            user=user,
            question=question,
            conversation=conversation,
            ignore=ignore,
            save=save,
        )
    )
