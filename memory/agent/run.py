"""A question answered, event by event, and stored whatever happens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass

from connections.models import Project, User
from connections.providers.chat import ChatModel
from connections.providers.choice import model_for
from connections.records import JSON
from memory.agent import (  # noqa: F401 - the tools register themselves
    events,
    graph_tools,
    reading_tools,
    storing,
)
from memory.agent.compaction import context
from memory.agent.database import database
from memory.agent.draft import Draft, Stopped
from memory.agent.events import Event
from memory.agent.followups import followups
from memory.agent.loop import answer_with
from memory.agent.offline import MODEL, answer_offline
from memory.agent.problems import can_retry, clear, problem_of
from memory.agent.prompt import new_fence
from memory.agent.tools import Reading
from memory.agent.understood import chips_of
from memory.answers import ChatAnswer
from memory.models import Conversation, Turn

MOST_ALSO_READ = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question; `user` None asks as the operator, of whom nothing is stored.

    `ignore` names guesses about the question that were taken back.
    """

    project: Project
    user: User | None
    question: str
    conversation: Conversation | None = None
    ignore: tuple[str, ...] = ()
    save: bool = True


def run(asked: Asked, *, stop: Callable[[], bool]) -> Iterator[Event]:
    """Yield what happens while the question is answered; last is `done` or `error`.

    `stop` is asked every quarter second at least; once it is true, the answer ends
    with what came. Closing the iterator does the same.
    """
    return Answering(asked, stop).events()


def never() -> bool:
    return False


def answered(asked: Asked) -> ChatAnswer:
    """Answer at once; raises what went wrong: what had come is in the failed turn."""
    answer, failure = ended(asked)
    if failure is not None:
        raise failure
    if answer is None:
        raise RuntimeError("The answer ended without an outcome.")
    return answer


def ended(asked: Asked) -> tuple[ChatAnswer | None, Exception | None]:
    """Answer at once; return what came, and what went wrong, if anything did."""
    answering = Answering(asked)
    for _ in answering.events():
        pass
    return answering.answer, answering.failure


class Answering:
    """One answer in the making; `answer` and `failure` say how it ended."""

    def __init__(self, asked: Asked, stop: Callable[[], bool] = never) -> None:
        told, user = asked.conversation, asked.user
        if told is not None and (user is None or told.user_id != user.pk):
            raise PermissionError("A question goes on in one's own conversation only.")
        self.asked, self.stop = asked, stop
        self.answer: ChatAnswer | None = None
        self.failure: Exception | None = None
        self._turn: Turn | None = None
        self._draft: Draft | None = None
        self._followups: tuple[str, ...] = ()
        self._is_stored = False

    def events(self) -> Iterator[Event]:
        try:
            yield from self._events()
        except Stopped:
            yield from self._end(Turn.State.STOPPED)
        except GeneratorExit:
            self._store(Turn.State.STOPPED)
            raise
        except Exception as error:  # noqa: BLE001 # told as an event, and kept
            self.failure, problem = clear(error), problem_of(error)
            # As it is told: what nobody foresaw may name what is inside.
            yield from self._store(Turn.State.FAILED, str(problem["detail"]))
            yield events.error(problem, answer=self.answer, can_retry=can_retry(error))

    def _events(self) -> Iterator[Event]:
        asked = self.asked
        with database():
            if asked.user is not None and asked.save:
                self._turn = storing.begin(
                    asked.project, asked.user, asked.conversation, asked.question
                )
            model = model_for(asked.project)
        turn = self._turn
        yield events.status(
            "started",
            "Looking",
            conversation=str(turn.conversation_id) if turn else None,
            turn=turn.pk if turn else None,
        )
        reading = Reading(asked.project, asked.user, asked.question, asked.ignore)
        reading.shown_in = storing.place_of(turn) if turn else ""
        reading.stop = self.stop
        name = model.model if model else MODEL
        self._draft = Draft(reading, turn, self.stop, name)
        for event in self._plan(self._draft, model):
            yield event
            if event.name == "call" and len(reading.calls) == 1:
                yield from self._understood(reading)
        if questions := followups(reading, self._draft.cited_sources):
            self._followups = tuple(questions)
            yield events.followups(questions)
        yield from self._end(Turn.State.DONE)

    def _plan(self, draft: Draft, model: ChatModel | None) -> Iterator[Event]:
        if model is None:
            return answer_offline(draft)
        fence, asked = new_fence(), self.asked
        before = []
        if asked.conversation is not None and asked.user is not None:
            with database():
                small = model_for(asked.project, purpose="small")
            before = context(asked.conversation, asked.user, fence=fence, small=small)
        return answer_with(draft, model, before, fence)

    def _understood(self, reading: Reading) -> Iterator[Event]:
        """Tell how the question was read, where anything was read into it."""
        if reading.first is None:
            return
        parsed = reading.first.parsed
        if chips := chips_of(parsed, reading.ignore):
            yield events.filters(parsed.as_json()["filters"], chips)

    def _end(self, state: Turn.State) -> Iterator[Event]:
        yield from self._store(state)
        if self.answer is not None:
            yield events.done(self.answer)

    def _store(self, state: Turn.State, error: str = "") -> list[Event]:
        """Keep how it ended; return what was held back of the text until then.

        Nothing is told before it is kept: whoever left does not come back for it.
        """
        draft, turn = self._draft, self._turn
        if self._is_stored:
            return []
        self._is_stored = True
        if draft is None:
            if turn is None:
                return []
            reading = Reading(self.asked.project, self.asked.user, turn.question)
            draft = Draft(reading, turn, self.stop, MODEL)
        rest = list(draft.end_text())
        if state == Turn.State.STOPPED and draft.text and not draft.support:
            draft.weigh()
        self.answer = draft.answer(state)
        if turn is None:
            read = draft.also_read[:MOST_ALSO_READ]
            with database():
                storing.note_unsaved(
                    self.asked.project, self.asked.user, self.answer, read
                )
            return rest
        outcome = storing.Outcome(
            state=state,
            parsed=self._as_understood(draft),
            also_read=draft.also_read[:MOST_ALSO_READ],
            followups=self._followups,
            tokens_read=draft.tokens_read,
            tokens_written=draft.tokens_written,
            error=error,
        )
        with database():
            storing.finish(turn, self.answer, outcome)
        return rest

    def _as_understood(self, draft: Draft) -> dict[str, JSON]:
        """Return how the question was read, with its chips as they were told."""
        first = draft.reading.first
        if first is None:
            return {}
        chips: list[JSON] = [
            asdict(chip) for chip in chips_of(first.parsed, self.asked.ignore)
        ]
        return {**first.parsed.as_json(), "chips": chips}
