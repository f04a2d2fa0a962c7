"""Questions in words, answered by a test instead of by rules or a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from connections.models import Database, User

ASKERS = ("memory.sql.outcomes.ask_database", "memory.api.databases.ask_database")


def answer_with(
    monkeypatch: Any, answering: Callable[[Database, str, User, str], object]
) -> None:
    """Let questions in words be answered by `answering`, whoever asks them."""

    def ask(database: Database, question: str, **asked: Any) -> object:
        shown_in = asked.get("shown_in", "")
        return answering(database, question, asked["user"], shown_in)

    for asker in ASKERS:
        monkeypatch.setattr(asker, ask)
