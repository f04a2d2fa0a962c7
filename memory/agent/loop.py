"""The answer of a model: one bounded loop over the tools."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.utils import timezone

from connections.providers.chat import (
    ChatModel,
    Delta,
    Finished,
    Message,
    ToolCall,
)
from memory.agent import events, prompt
from memory.agent.draft import Draft
from memory.agent.events import Event
from memory.agent.hearing import heard
from memory.agent.offline import first_search
from memory.agent.problems import TooManySteps
from memory.agent.tools import tools

MOST_CALLS = 6
UNSUPPORTED = "Nothing in the sources that I read bears this out."
CUT = "The answer was cut here: it reached the longest length allowed."
AGAIN = "This was called before with the same arguments; its answer stands above."


@dataclass(slots=True)
class Bounds:
    """What one answer may take; each of them ends the calling of tools."""

    steps: int = field(default_factory=lambda: settings.FABRIC["AGENT_STEPS"])
    tokens: int = field(default_factory=lambda: settings.FABRIC["AGENT_TOKENS"])
    seconds: int = field(default_factory=lambda: settings.FABRIC["AGENT_SECONDS"])
    began: float = field(default_factory=time.monotonic)

    def is_last(self, step: int, spent: int) -> bool:
        """Return whether the model must answer now; a quarter of the time is for that."""
        late = time.monotonic() - self.began > 0.75 * self.seconds
        return step >= self.steps or spent > 0.75 * self.tokens or late

    def check(self) -> None:
        if time.monotonic() - self.began > self.seconds:
            raise TooManySteps(
                f"The answer took longer than {self.seconds} seconds "
                "(FABRIC_AGENT_SECONDS). Ask again, or ask for less."
            )


def answer_with(
    draft: Draft, model: ChatModel, before: Sequence[Message], fence: str
) -> Iterator[Event]:
    """Let the model read by tools and answer; then judge what it said.

    Raises a `ProviderError`, or `TooManySteps` where it only goes on calling.
    """
    yield from first_search(draft)
    told = prompt.told_to_model(fence, draft.told[1]) if draft.told else ""
    if draft.told:
        yield from draft.look_for_newer(draft.told[1])
        told = f"{told}\n{prompt.checks_to_model(draft.checks)}"
    question = prompt.question_message(fence, draft.reading.question, told)
    yield events.status("writing", "Asking the model")
    yield from _converse(draft, model, [*before, question], fence)
    yield from draft.end_text()
    is_grounded = draft.weigh()
    if not is_grounded and draft.text.strip():
        yield from draft.say(f"\n\n{UNSUPPORTED}")
    yield from draft.say_notes()


def _converse(
    draft: Draft, model: ChatModel, messages: list[Message], fence: str
) -> Iterator[Event]:
    bounds, called = Bounds(), set[str]()
    for step in range(1, bounds.steps + 1):
        spent = draft.tokens_read + draft.tokens_written
        is_last = bounds.is_last(step, spent)
        if is_last and step > 1:
            messages.append(Message("user", prompt.LAST_STEP))
        said, finished = yield from _step(draft, model, messages, fence, bounds)
        if not finished.calls or is_last:
            break
        messages.append(Message("assistant", said, calls=finished.calls))
        if said.strip():
            yield from draft.say("\n\n")
            draft.narrated = len(draft.text)
        for call in finished.calls:
            answered = yield from _answer(draft, call, called, fence)
            messages.append(Message("tool", answered, call_id=call.id))
    if finished.reason == "length":
        yield from draft.say(f"\n\n{CUT}")
    elif finished.calls and not said.strip():
        raise TooManySteps(
            f"The model went on calling tools and gave no answer (after {step} steps). "
            "Ask again, or ask more narrowly."
        )


def _step(
    draft: Draft,
    model: ChatModel,
    messages: Sequence[Message],
    fence: str,
    bounds: Bounds,
) -> Any:
    """Tell the words of one request as they come; return them and how it ended."""
    system = prompt.system_prompt(fence, timezone.localtime())
    offered = [one.tool for _, one in sorted(tools.items())]
    most: int = settings.FABRIC["AGENT_ANSWER_TOKENS"]
    words: list[str] = []
    for said in heard(lambda: model.stream(system, messages, offered, max_tokens=most)):
        draft.check()
        bounds.check()
        if isinstance(said, Delta):
            words.append(said.text)
            yield from draft.say(said.text)
        elif isinstance(said, Finished):
            draft.tokens_read += said.usage.read
            draft.tokens_written += said.usage.written
            return "".join(words), said
    raise AssertionError("What is heard ends with how it finished.")


def _answer(draft: Draft, call: ToolCall, called: set[str], fence: str) -> Any:
    """Call a tool for the model; return what it is told. A repeated call is not made."""
    same = json.dumps([call.name, call.arguments], sort_keys=True, default=str)
    if same in called or len(called) >= MOST_CALLS * settings.FABRIC["AGENT_STEPS"]:
        return AGAIN
    called.add(same)
    yield from draft.call(call.name, call.arguments)
    if draft.told is None:
        return ""
    made, told = draft.told
    answer = prompt.told_to_model(fence, told, made.error)
    if not made.error:
        before = len(draft.checks)
        yield from draft.look_for_newer(told)
        answer = f"{answer}\n{prompt.checks_to_model(draft.checks[before:])}".strip()
    return answer
