"""Chat models of the tests: one that follows a script, one that obeys what it reads."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from connections.providers.chat import (
    Delta,
    Finished,
    Message,
    Structured,
    Tool,
    ToolCall,
    Usage,
)

USAGE = Usage(100, 20)


def says(text: str, *, size: int = 3) -> list[Delta | Finished]:
    parts = [text[i : i + size] for i in range(0, len(text), size)]
    return [*map(Delta, parts), Finished("end", (), USAGE)]


def calls(name: str, arguments, *, said: str = "") -> list[Delta | Finished]:
    call = ToolCall("call-1", name, arguments)
    told = [Delta(said)] if said else []
    return [*told, Finished("tools", (call,), USAGE)]


@dataclass
class ScriptedModel:
    """Plays one script a request, the last again and again; an exception is raised,
    a number is a silence of so many seconds."""

    scripts: Sequence[Sequence[object]]
    name: str = "scripted"
    model: str = "scripted-1"
    summary: str = "What was said before."
    asked: list[list[Message]] = field(default_factory=list)
    offered: list[Sequence[Tool]] = field(default_factory=list)
    systems: list[str] = field(default_factory=list)
    summarised: list[str] = field(default_factory=list)

    def structured(self, system, user, schema, *, max_tokens) -> Structured:
        self.summarised.append(user)
        return Structured({"summary": self.summary}, USAGE)

    def stream(
        self, system, messages, tools=(), *, max_tokens
    ) -> Iterator[Delta | Finished]:
        script = self.scripts[min(len(self.asked), len(self.scripts) - 1)]
        self.asked.append(list(messages))
        self.offered.append(tools)
        self.systems.append(system)
        for said in script:
            if isinstance(said, Exception):
                raise said
            if isinstance(said, (int, float)):
                time.sleep(said)
            else:
                yield said


@dataclass
class ObedientModel:
    """Does whatever a text tells it to; `act` makes of all it read what it answers."""

    act: Callable[[str, int], Sequence[object]]
    name: str = "obedient"
    model: str = "obedient-1"
    requests: int = 0
    read: str = ""

    def structured(self, system, user, schema, *, max_tokens) -> Structured:
        return Structured({"summary": user}, USAGE)

    def stream(
        self, system, messages, tools=(), *, max_tokens
    ) -> Iterator[Delta | Finished]:
        self.requests += 1
        self.read = "\n".join(message.text for message in messages)
        yield from self.act(self.read, self.requests)  # type: ignore[misc]
