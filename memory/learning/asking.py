"""What a small model proposes to remember, as far as it holds."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

from django.utils import timezone

from connections.providers.chat import ChatModel
from graph.claims import squashed
from graph.sentences import Sentences
from memory.learning.due import due_in
from memory.learning.heard import Heard, Source
from memory.learning.prompt import (
    LEARNING_SCHEMA,
    MOST_OBSERVATIONS,
    MOST_TOKENS,
    REPLACING_SCHEMA,
    learning_prompt,
    replacing_prompt,
)
from memory.learning.proposals import MOST_CHARACTERS, Proposal
from memory.learning.superseding import Older, is_older
from memory.models import Observation

log = logging.getLogger(__name__)

_WORD = re.compile(r"[^\W_][\w'\u2019.,:/-]*[^\W_]|[^\W_]")
# What leads somewhere: "wiki.acme.test", "https://acme.test/x", "acme/main".
_ADDRESS = re.compile(r"[^\W_][./:]+[^\W_]")
_DENIAL = re.compile(
    r"\b(?:not?|never|nobody|nothing|none|neither|nor|without|cannot)\b|n['\u2019]t\b",
    re.IGNORECASE,
)
_STEM = 4
_OPENING = frozenset(
    [
        "a",
        "an",
        "the",
        "all",
        "any",
        "both",
        "each",
        "every",
        "no",
        "some",
        "it",
        "its",
        "there",
        "this",
        "these",
        "that",
        "those",
        "we",
        "our",
        "they",
        "their",
        "in",
        "on",
        "at",
        "by",
        "for",
        "from",
        "to",
        "until",
        "since",
        "with",
        "without",
        "after",
        "before",
        "during",
        "when",
        "while",
        "because",
        "if",
        "as",
        "one",
        "two",
        "three",
        "new",
        "not",
        "only",
        "most",
        "many",
        "several",
    ]
)
# Of the words of a text so many must stand in its quotes or in the question.
IN_ITS_QUOTES = 0.6


def ask_what_to_keep(model: ChatModel, heard: Heard) -> list[Proposal]:
    """Return what `model` proposes and its quotes bear out.

    Raises `ModelUnavailable`, `ModelRefused` or `BadAnswer`.
    """
    system, user = learning_prompt(heard)
    answer = model.structured(system, user, LEARNING_SCHEMA, max_tokens=MOST_TOKENS)
    proposed = answer.parsed["observations"]
    accepted = [accept(item, heard, model.model) for item in proposed]
    kept = [proposal for proposal in accepted if proposal is not None]
    if dropped := len(proposed) - len(kept):
        log.info(
            "%s: %d of %d proposals do not hold", model.model, dropped, len(proposed)
        )
    return kept[:MOST_OBSERVATIONS]


def ask_what_is_replaced(
    model: ChatModel, found: Sequence[tuple[Proposal, Sequence[Older]]]
) -> dict[int, Older]:
    """Return by the place of each proposal the older observation that it replaces, as
    `model` says; never one whose source is the later.

    Raises as `ask_what_to_keep` does.
    """
    pairs = [
        (number, proposal, olds)
        for number, (proposal, held) in enumerate(found)
        if (olds := [old for old in held if is_older(old, proposal)])
    ]
    if not pairs:
        return {}
    system, user = replacing_prompt(pairs)
    answer = model.structured(system, user, REPLACING_SCHEMA, max_tokens=MOST_TOKENS)
    offered = {(n, old.node_id): old for n, _, olds in pairs for old in olds}
    named = [(pair["new"], pair["old"]) for pair in answer.parsed["replaced"]]
    return {pair[0]: offered[pair] for pair in named if pair in offered}


def accept(item: Mapping[str, Any], heard: Heard, origin: str) -> Proposal | None:
    """Return a proposal of a model where code can vouch for it, else None.

    It cites sources of the turn; its names, numbers and addresses stand in their
    quotes, with their authors, or in the question; it denies only what they deny; who
    promised stands in the quotes themselves.
    """
    numbers = set(item["sources"])
    sources = tuple(s for s in heard.sources if s.n in numbers)
    text = squashed(item["text"])
    if not sources or len(sources) != len(numbers):
        return None
    if not text or len(text) > MOST_CHARACTERS or item["type"] not in Observation.Type:
        return None
    if not _is_said(text, sources, heard.question):
        return None
    kind = Observation.Type(item["type"])
    who, due = "", None
    if kind is Observation.Type.COMMITMENT:
        who = squashed(item["who"])
        if not who or not _is_said(who, sources, "", wholly=True):
            return None
        due, is_date = _due(item["due"], sources)
        if not is_date:
            return None
    why = squashed(item["why"])
    return Proposal(
        type=kind,
        text=text,
        sources=sources,
        who=who,
        due_at=due,
        rationale=why if why and _is_said(why, sources, "") else "",
        origin=origin,
    )


def _is_said(
    text: str, sources: Sequence[Source], question: str, *, wholly: bool = False
) -> bool:
    """Return whether all names and numbers of `text` stand in the quotes or the
    question, and most of its words in the quotes; `wholly`: all of them. A "not" of
    its own would turn round what the quotes say."""
    if _DENIAL.search(text) and not any(_DENIAL.search(s.quote) for s in sources):
        return False
    quoted = _words(" ".join(f"{s.author} {s.quote}" for s in sources))
    known = quoted | _words(question)
    words = _WORD.findall(text)
    own = [word for n, word in enumerate(words) if wholly or _names(word, n)]
    if any(_bare(word) not in known for word in own):
        return False
    stems = {word[:_STEM] for word in quoted}
    shared = sum(word.lower()[:_STEM] in stems for word in words)
    return bool(words) and shared >= IN_ITS_QUOTES * len(words)


def _words(text: str) -> set[str]:
    """Return the words of `text` in small letters, also the parts of compound ones."""
    words = {word.lower() for word in _WORD.findall(text)}
    return words | {
        part for word in words for part in re.split(r"[-/'\u2019.,:]", word) if part
    }


def _names(word: str, place: int) -> bool:
    """Return whether a word names or counts something, or leads somewhere; "The" at
    the beginning has its capital for another reason."""
    if any(character.isdigit() for character in word) or _ADDRESS.search(word):
        return True
    return word != word.lower() and not (place == 0 and word.lower() in _OPENING)


def _bare(word: str) -> str:
    word = word.lower()
    return re.sub(r"['\u2019]s?$", "", word)


def _due(said: str, sources: Sequence[Source]) -> tuple[datetime | None, bool]:
    """Return when it is due, and whether what the model gave is a date at all.

    A date that no sentence of the quotes hints at is not taken over; where they give
    only one, that is it.
    """
    if not said:
        return None, True
    day = _day(said)
    if day is None:
        return None, False
    read = {
        due
        for source in sources
        for span in Sentences(source.quote)
        if (due := due_in(span.of(source.quote), source.said_at))
    }
    meant = {due for due in read if timezone.localdate(due) == day} or read
    return (next(iter(meant)) if len(meant) == 1 else None), True


def _day(said: str) -> date | None:
    try:
        return date.fromisoformat(said)
    except ValueError:
        return None
