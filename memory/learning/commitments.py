"""Promises: who will do what, by when."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from memory.learning.due import due_in
from memory.learning.heard import Source

_NAME = (
    r"[A-Z][\w'\u2019-]+(?: (?:(?:van|von|de|der|da|di|la) )*[A-Z][\w'\u2019-]+){0,2}"
)
_ADVERBS = (
    r"(?:(?:also|then|now|still|personally|definitely|certainly|therefore|just|both"
    r"|be able to"
    r"|make sure to|go ahead and|try to) )*"
)
_WILL = (
    r"(?:will|shall|(?:is|am|are) going to"
    r"|(?:have |has )?(?:promised?|agreed?|committed|offered|volunteered) to)"
)
_I = re.compile(
    rf"\b(?P<who>I|we)(?:['\u2019]ll| {_WILL}|['\u2019](?:m|re) going to)"
    rf" {_ADVERBS}(?P<verb>[a-z]+)\b",
    re.IGNORECASE,
)
_OTHER = re.compile(rf"(?P<who>{_NAME}) {_WILL} {_ADVERBS}(?P<verb>[a-z]+)\b")
# As minutes have it: "Action: Ann to send the report by Friday".
_TO_DO = re.compile(
    rf"(?P<action>\b(?:action(?: item)?s?|todo|to do|next"
    rf" steps?)\b[\s:*-]*)?@?(?P<who>{_NAME})"
    r"(?: (?:is|has|was asked))? to (?P<verb>[a-z]+)\b",
    re.IGNORECASE,
)
_LIST_SIGN = re.compile(r"^\s*(?:[-*\u2022]|\d+[.)])?\s*(?:\[[ x]?\]\s*)?$")
_NO_PERSON = frozenset(
    [
        "it",
        "this",
        "that",
        "there",
        "they",
        "we",
        "you",
        "i",
        "he",
        "she",
        "who",
        "what",
        "which",
        "everything",
        "everyone",
        "everybody",
        "nobody",
        "someone",
        "somebody",
        "nothing",
        "action",
        "actions",
        "please",
        "next",
        "today",
        "tomorrow",
        "then",
        "so",
        "and",
        "but",
        "if",
        "the",
        "a",
        "an",
        "all",
        "each",
        "both",
        "these",
        "those",
        "as",
        "when",
        "how",
    ]
)
# Things done for others, which one can after; "see", "be" or "miss" are none.
ACTS = frozenset(
    [
        "add",
        "address",
        "announce",
        "answer",
        "arrange",
        "ask",
        "assign",
        "back",
        "backport",
        "book",
        "bring",
        "build",
        "buy",
        "call",
        "cancel",
        "change",
        "check",
        "clean",
        "close",
        "collect",
        "commit",
        "compile",
        "complete",
        "confirm",
        "contact",
        "copy",
        "correct",
        "create",
        "cut",
        "delete",
        "deliver",
        "deploy",
        "design",
        "document",
        "draft",
        "email",
        "enable",
        "escalate",
        "extend",
        "file",
        "fill",
        "finish",
        "finalise",
        "finalize",
        "fix",
        "follow",
        "forward",
        "implement",
        "inform",
        "install",
        "integrate",
        "introduce",
        "invite",
        "investigate",
        "invoice",
        "lend",
        "make",
        "mail",
        "measure",
        "merge",
        "message",
        "migrate",
        "move",
        "notify",
        "open",
        "order",
        "organise",
        "organize",
        "pay",
        "phone",
        "ping",
        "post",
        "prepare",
        "print",
        "produce",
        "propose",
        "provide",
        "publish",
        "push",
        "reach",
        "refund",
        "release",
        "remind",
        "remove",
        "rename",
        "repair",
        "replace",
        "reply",
        "report",
        "request",
        "rerun",
        "research",
        "resend",
        "resolve",
        "restore",
        "return",
        "review",
        "revise",
        "rewrite",
        "ring",
        "roll",
        "rotate",
        "run",
        "schedule",
        "send",
        "set",
        "share",
        "ship",
        "sign",
        "sort",
        "submit",
        "summarise",
        "summarize",
        "switch",
        "sync",
        "test",
        "train",
        "transfer",
        "translate",
        "update",
        "upgrade",
        "upload",
        "verify",
        "visit",
        "write",
    ]
)
# Said in passing: "I will say", "I will go next", "we will see".
_PASSING = frozenset(
    [
        "be",
        "see",
        "say",
        "go",
        "miss",
        "survive",
        "treasure",
        "hate",
        "love",
        "like",
        "need",
        "want",
        "have",
        "admit",
        "assume",
        "guess",
        "know",
        "remember",
        "regret",
        "forget",
        "believe",
        "think",
        "hope",
        "feel",
        "wonder",
        "mention",
        "note",
        "skip",
        "not",
        "never",
        "only",
        "die",
        "live",
        "lose",
        "fail",
        "wait",
        "end",
        "stop",
        "stay",
        "keep",
        "become",
        "seem",
        "appear",
        "happen",
        "depend",
        "probably",
        "likely",
        "always",
        "continue",
        "agree",
        "disagree",
        "bet",
        "argue",
        "come",
    ]
)
_CONDITION = re.compile(
    r"(?:\bnot|\bnever|n['\u2019]t) (?:think|believe|expect|know|say|mean|promise)\b"
    r"|\b(?:if|unless|whether|maybe|perhaps|might|would|could|hopefully|whenever)\b",
    re.IGNORECASE,
)
_IN_MEETING = re.compile(
    r"\b(?:let me|now|in a (?:minute|second|moment)|quickly|briefly|move on|(?:this"
    r"|next) (?:slide|item|point))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Promise:
    """Who promised, as the sentence or its author names them, and when it is due.

    `named` is what a sentence calls somebody, who has yet to be known as a person.
    """

    who: str
    named: bool
    due_at: datetime | None


def promise_in(sentence: str, source: Source) -> Promise | None:
    """Return the promise that `sentence` makes, if it makes one."""
    if _CONDITION.search(sentence):
        return None
    due = due_in(sentence, source.said_at)
    if (found := _I.search(sentence)) and source.author:
        return _own(found, sentence, source, due)
    if (found := _OTHER.search(sentence)) and _is_name(found["who"]):
        return Promise(found["who"], True, due) if _counts(found, due) else None
    if (found := _TO_DO.search(sentence)) and _is_name(found["who"]):
        listed = found["action"] or _LIST_SIGN.match(sentence[: found.start()])
        if listed and found["verb"].islower() and (due or found["action"]):
            return Promise(found["who"], True, due) if _counts(found, due) else None
    return None


def _own(
    found: re.Match[str], sentence: str, source: Source, due: datetime | None
) -> Promise | None:
    # What a team will do is a plan, unless there is a day to it.
    is_plan = found["who"].lower() == "we" and due is None
    if is_plan or not _counts(found, due):
        return None
    if due is None and _IN_MEETING.search(sentence):
        return None
    return Promise(source.author, False, due)


def _counts(found: re.Match[str], due: datetime | None) -> bool:
    verb = found["verb"].lower()
    if verb == "have":
        return due is not None
    return verb in ACTS or (due is not None and verb not in _PASSING)


def _is_name(said: str) -> bool:
    return said[0].isupper() and said.split()[0].lower() not in _NO_PERSON
