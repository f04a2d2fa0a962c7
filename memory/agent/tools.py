"""What the agent may call: every tool reads, as the user who asks, and none writes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

from django.utils import timezone
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from connections.models import Project, User
from connections.providers.chat import Tool
from connections.records import JSON
from connections.refusals import Refused
from connections.registry import Registry, UnknownName
from graph.models import Node
from graph.querysets import NodeQuerySet
from graph.staleness import thresholds_of
from memory.agent.database import database
from memory.agent.sources import Source, Sources
from memory.answers import Call
from memory.sql.tables import ShownTable
from retrieval.results import SearchAnswer
from retrieval.search import visible_nodes

LONGEST_ARGUMENT = 400


def never() -> bool:
    return False


class ToolError(Refused):
    """A call that cannot be made; the message tells the model what to do instead."""

    code = "unusable_call"


@dataclass(slots=True)
class Reading:
    """Who asks, and what was read for the answer so far.

    `shown_in` names the answer where runs of statements are recorded; `stop` says
    whether nobody waits for it any more.
    """

    project: Project
    user: User | None
    question: str
    ignore: tuple[str, ...] = ()
    sources: Sources = field(default_factory=Sources)
    calls: list[Call] = field(default_factory=list)
    # How many each arm of the searches found, and how far was walked: for the effort.
    arms: dict[str, int] = field(default_factory=dict)
    # The first search: how the question was understood, and all that it found.
    first: SearchAnswer | None = None
    hops: int = 0
    tables: list[ShownTable] = field(default_factory=list)
    shown_in: str = ""
    stop: Callable[[], bool] = never
    _thresholds: Mapping[str, int | None] | None = None

    def add_nodes(self, nodes: Iterable[Node]) -> list[Source]:
        """Return `nodes` as sources, with their ages by the project's thresholds."""
        if self._thresholds is None:
            self._thresholds = thresholds_of(self.project)
        return self.sources.add_nodes(
            nodes, now=timezone.now(), thresholds=self._thresholds
        )

    def nodes(self) -> NodeQuerySet:
        """Return the nodes of the project that the asker may see now."""
        return visible_nodes(self.project, self.user, timezone.now())


@dataclass(frozen=True, slots=True)
class Told:
    """What a tool found: sources, and what it says of them besides their words.

    `answer` is an answer ready to be given, with the numbers of its sources.
    """

    sources: tuple[Source, ...] = ()
    notes: tuple[str, ...] = ()
    count: int = 0
    failure: Exception | None = None
    answer: str = ""


@dataclass(frozen=True, slots=True)
class AgentTool:
    """A tool with the function that answers its calls; it raises `Refused`.

    One that `asks_elsewhere` takes its turns at our own database itself: it waits for
    others most of its time.
    """

    tool: Tool
    run: Callable[[Reading, Mapping[str, Any]], Told]
    asks_elsewhere: bool = False


# By name; a layer that has something to be read registers its tool here.
tools: Registry[AgentTool] = Registry("tool")


def tool(
    name: str,
    description: str,
    properties: Mapping[str, Mapping[str, Any]],
    required: tuple[str, ...] = (),
    *,
    asks_elsewhere: bool = False,
) -> Callable[[Callable[[Reading, Mapping[str, Any]], Told]], AgentTool]:
    """Decorate the function of a tool to register it."""
    parameters = {
        "type": "object",
        "properties": {name: dict(of) for name, of in properties.items()},
        "required": list(required),
        "additionalProperties": False,
    }
    described = Tool(name, description, parameters)
    return lambda run: tools.add(name, AgentTool(described, run, asks_elsewhere))


def call_tool(
    reading: Reading, name: str, arguments: Mapping[str, Any] | None
) -> tuple[Call, Told]:
    """Call a tool, and record the call with its time, its count or what was wrong.

    A wrong name or wrong arguments are an error of the call, not of the answer.
    """
    started = time.perf_counter()
    told, error = Told(), ""
    try:
        wanted = tools[name]
        _check(wanted.tool, arguments)
        with nullcontext() if wanted.asks_elsewhere else database():
            told = wanted.run(reading, arguments or {})
    except (Refused, UnknownName) as wrong:
        told, error = Told(failure=wrong), str(wrong)
    call = Call(
        name=name[:LONGEST_ARGUMENT],
        arguments=_recorded(arguments),
        took_ms=round((time.perf_counter() - started) * 1000, 1),
        result_count=told.count,
        error=error,
    )
    reading.calls.append(call)
    return call, told


def _check(wanted: Tool, arguments: Mapping[str, Any] | None) -> None:
    if arguments is None:
        raise ToolError(f"The arguments of {wanted.name} are no JSON object.")
    wrong = best_match(
        Draft202012Validator(wanted.parameters).iter_errors(dict(arguments))
    )
    if wrong is not None:
        raise ToolError(
            f"{wanted.name}: {wrong.json_path.removeprefix('$.')}: "
            f"{wrong.message[:LONGEST_ARGUMENT]}"
        )


def _recorded(arguments: Mapping[str, Any] | None) -> dict[str, JSON]:
    """Return arguments as they are stored: bounded, and without NUL."""

    def bounded(value: Any) -> JSON:
        if isinstance(value, str):
            return value.replace("\x00", "\ufffd")[:4000]
        if isinstance(value, (bool, int, float)) or value is None:
            return value
        if isinstance(value, (list, tuple)):
            return [bounded(one) for one in value[:50]]
        return str(value)[:LONGEST_ARGUMENT]

    return {
        str(name)[:100].replace("\x00", ""): bounded(value)
        for name, value in list((arguments or {}).items())[:20]
    }
