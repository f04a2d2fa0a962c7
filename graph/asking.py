"""Asking a model what texts say: once for the same words, a batch at a time.

No transaction is open while a model is asked. Each answer is kept as it comes, so that
a killed run goes on; what of it holds is decided when the texts are read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from connections.models import Project
from connections.providers import anthropic_chat, openai_chat  # noqa: F401 - register
from connections.providers.chat import BadAnswer, ChatModel, Structured, chat_models
from connections.usage import Metered
from graph import extraction_sql
from graph.copying import fetch
from graph.extract import Extraction
from graph.extraction import extract_texts
from graph.extraction_settings import asked_model, model_id, price, provider_name
from graph.models import ExtractionAnswer
from graph.prompts import EXTRACTION_SCHEMA, extraction_prompt
from graph.proposals import accept

# "Thanks!" names nothing; asking about it costs as much as about a sentence.
FEWEST_CHARACTERS = 40
BATCH_TEXTS, BATCH_CHARACTERS = 20, 12_000
MOST_TOKENS = 4_000
# Estimates: English words as tokenizers cut them, and what an answer takes of its text.
CHARACTERS_A_TOKEN = 4.0
ANSWER_SHARE, ANSWER_LEAST = 0.25, 20
LOCK = 0x6578_7472  # "extr"


@dataclass(frozen=True, slots=True)
class Unasked:
    """Words that no answer is kept for."""

    words: str
    title: str
    content: str


@dataclass(frozen=True, slots=True)
class Estimate:
    """What asking about all that waits would take; `dollars` where a price is set."""

    texts: int
    characters: int
    requests: int
    tokens_read: int
    tokens_written: int
    dollars: float | None


@dataclass(slots=True)
class Asked:
    """What a run of asking came to."""

    texts: int = 0
    failed: int = 0
    dropped: int = 0
    tokens_read: int = 0
    tokens_written: int = 0


def unasked(project: Project) -> list[Unasked]:
    """Return the words of `project` that the configured model has not answered for."""
    params = {
        "tenant": project.tenant_id,
        "project": project.pk,
        "least": FEWEST_CHARACTERS,
        "asked": asked_model(),
    }
    return [Unasked(*row) for row in fetch(extraction_sql.UNASKED, params)]


def estimate(project: Project) -> Estimate:
    """Return what asking would take; no model is asked for it."""
    waiting = unasked(project)
    batches = list(_batches(waiting))
    prompt = len(extraction_prompt([])[0])
    characters = sum(len(w.content) for w in waiting)
    read = math.ceil((characters + prompt * len(batches)) / CHARACTERS_A_TOKEN)
    written = math.ceil(
        characters / CHARACTERS_A_TOKEN * ANSWER_SHARE + ANSWER_LEAST * len(waiting)
    )
    cost = price()
    dollars = (read * cost.read + written * cost.written) / 1e6 if cost else None
    return Estimate(len(waiting), characters, len(batches), read, written, dollars)


def ask_about(
    project: Project, *, progress: Callable[[int], None] | None = None
) -> Asked:
    """Ask the configured model about all that waits, then read those texts anew.

    Raises `ProviderError` when the model cannot be asked at all; what it had answered
    stays. Words it has no proper answer for are noted, and not asked about again.
    """
    extract_texts(project)
    asked = Asked()
    if not (name := provider_name()) or not _take_lock(project):
        return asked
    try:
        if waiting := unasked(project):
            model = Metered(chat_models[name](model_id()), project, "extraction")
            for batch in _batches(waiting):
                _ask(project, model, batch, asked)
                if progress:
                    progress(asked.texts)
    finally:
        fetch("SELECT pg_advisory_unlock(%s, %s)", [LOCK, project.pk])
        extract_texts(project)
    return asked


def _take_lock(project: Project) -> bool:
    """Hold the project by a session lock: two askers would pay for the same words."""
    return bool(fetch("SELECT pg_try_advisory_lock(%s, %s)", [LOCK, project.pk])[0][0])


def _batches(waiting: Sequence[Unasked]) -> Iterator[list[Unasked]]:
    batch: list[Unasked] = []
    characters = 0
    for words in waiting:
        size = len(words.content)
        if batch and (
            len(batch) >= BATCH_TEXTS or characters + size > BATCH_CHARACTERS
        ):
            yield batch
            batch, characters = [], 0
        batch.append(words)
        characters += size
    if batch:
        yield batch


def _ask(
    project: Project, model: ChatModel, batch: Sequence[Unasked], asked: Asked
) -> None:
    """Ask about `batch`; one that gets no proper answer is halved."""
    system, user = extraction_prompt([words.content for words in batch])
    try:
        answer = model.structured(
            system, user, EXTRACTION_SCHEMA, max_tokens=MOST_TOKENS
        )
    except BadAnswer as error:
        if len(batch) == 1:
            asked.texts += 1
            asked.failed += 1
            _keep(project, batch[0], {}, str(error))
            return
        middle = len(batch) // 2
        _ask(project, model, batch[:middle], asked)
        _ask(project, model, batch[middle:], asked)
        return
    _take(project, batch, answer, asked)


def _take(
    project: Project, batch: Sequence[Unasked], answer: Structured, asked: Asked
) -> None:
    asked.tokens_read += answer.usage.read
    asked.tokens_written += answer.usage.written
    proposed = {item["id"]: item for item in answer.parsed["texts"]}
    for n, words in enumerate(batch):
        item = proposed.get(n, {"entities": [], "relations": []})
        asked.dropped += accept(item, words.content, Extraction())
        asked.texts += 1
        _keep(project, words, item, "")


def _keep(
    project: Project, words: Unasked, item: Mapping[str, Any], error: str
) -> None:
    ExtractionAnswer.objects.update_or_create(
        tenant_id=project.tenant_id,
        project=project,
        asked=asked_model(),
        words=words.words,
        defaults={
            "proposed": _storable({k: v for k, v in item.items() if k != "id"}),
            "error": error.replace("\x00", "\ufffd")[:2000],
        },
    )


def _storable(value: Any) -> Any:
    """Return `value` without NUL, which a database refuses."""
    if isinstance(value, str):
        return value.replace("\x00", "\ufffd")
    if isinstance(value, dict):
        return {_storable(k): _storable(v) for k, v in value.items()}
    return [_storable(v) for v in value] if isinstance(value, list) else value
