"""Decisions, blockers and preferences: sentences that say there is one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from graph.sentences import Sentences, Span, quotable

# What the automaton looks for; the sentence is read only where one of them stands.
CUES = {
    "decision": (
        "decided",
        "chose",
        "chosen",
        "will use",
        "agreed to",
        "settled on",
        "going with",
        "decision is",
        "decision was",
        "decision",
    ),
    "blocker": (
        "blocked",
        "blocker",
        "blockers",
        "issue",
        "issues",
        "problem",
        "problems",
    ),
    "preference": ("prefers", "prefer", "preferred", "likes to", "preference"),
}
TYPE_OF_CUE = {cue: kind for kind, cues in CUES.items() for cue in cues}
CLAIM_TYPES = frozenset(CUES)
FEWEST_WORDS = 3

_NOT = r"(?:not|n't|n\u2019t|never|no longer|without|cannot)"
_MAYBE = re.compile(
    r"\b(?:if|whether|unless|in case|until|once|should|would|could|might|may|any"
    r"|let me know|wonder\w*|suppose|imagine|hopefully|to be)\b[^,;:]*$"
)
_DENIED = re.compile(rf"(?:\b|(?<=\w)){_NOT}\b(?:\s+[\w'\u2019-]+){{0,3}}\s*$")
_SAID = {
    "decision": re.compile(
        r"\b(?:decided|chose|(?:have|has|had|'ve|was|were|is) chosen|agreed to"
        r"|settled on|will use(?=\s+\w)"
        r"|(?:are|is|am|was|were|[\u2019']re|[\u2019']m|[\u2019']s) going with"
        r"|decision (?:is|was) (?:to|that|for|against)|decision:)\b|\bdecision:"
    ),
    "blocker": re.compile(r"\b(?:blocked|blockers?|issues?|problems?)\b"),
    "preference": re.compile(
        r"\b(?:(?<!you )prefers?|likes to|preference (?:is|was|for)|preferred (?:by|over|to))\b"
    ),
}
# A ticket, an edition of a paper and what is solved are no trouble.
_NO_TROUBLE = re.compile(
    r"\b(?:no|zero|without|fix(?:ed|es|ing)?|resolv\w+|solv\w+)"
    r"(?:\s+(?:the|this|that|these|those|any|all|my|your|our|more|other|of|an?|same|such"
    r"|real|known|big))*\s*$"
)
# Trouble is had, met, seen, or told of; elsewhere "issue" and "problem" are a topic.
_TROUBLE_BEFORE = re.compile(
    r"(?:\b(?:have|has|had|having|got|hit|hits|hitting|r[au]n(?:ning|s)? into|fac(?:e|es|ed"
    r"|ing)|encounter\w*|experienc\w+|see(?:s|n|ing)?|saw|caus(?:e|es|ed|ing)|found|detect"
    r"\w*|notic\w+|there(?: is| are|[\u2019']s| was| were| seems? to be)|blocked by|due to"
    r"|because of|still|is|are|was|were|became|remains?|[\u2019']s)"
    r"(?:\s+(?!(?:of|for|about|to|with|on|and|or)\b)[\w\u2019'-]+){0,4}\s+"
    r"|\b(?:my|our|main|real|biggest|big|current)\s+(?:\w+\s+)?)$"
)
_TROUBLE_AFTER = re.compile(
    r"\s+(?:with|in|when|while|where|because|trying|loading|connecting|installing"
    r"|caus\w+|block\w*)\b|\s*:"
)
_THE_TROUBLE = re.compile(r"\s+(?:here |there |now )?(?:is|was|seems|remains|blocks)\b")
_GIT = re.compile(
    r"\b(?:git(?:hub|lab)|jira|bugzilla|open\w*|clos\w+|fil\w+|creat\w+"
    r"|rais\w+|rise|submit\w*|the|this|that|these|those)\s+(?:(?:an?|the|new|this|these|own)"
    r"\s+)?$"
)
_BLOCKED_BY = re.compile(
    r"\b(?:blocked|held up) (?:by|on)(?:\s+[\w'\u2019-]+){0,3}\s*\Z", re.IGNORECASE
)
_TICKET = re.compile(
    r"\s*(?:#\s*\d|\d|`|tracker|page|list\b|board|template|label|number|link|report\b"
    r"|on git(?:hub|lab)|of the (?:journal|magazine|newsletter)|sets?\b|solv|statement"
    r"|description|tab\b|queue|triage|backlog|category)"
    r"|(?:\s+\w+){0,2}?\s+(?:fixed|resolved|solved|closed|opened|over)\b"
)


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence that states a decision, a blocker or a preference."""

    type: str
    text: str
    start: int
    end: int


def find_claims(
    text: str, cues: Iterable[tuple[str, int]], sentences: Sentences
) -> Iterator[Claim]:
    """Yield the claims of `text`, in order, each sentence once a type."""
    seen = set()
    for cue, at in cues:
        kind = TYPE_OF_CUE.get(cue)
        if kind is None or sentences.is_foreign(at, at + len(cue)):
            continue
        sentence = sentences.around(at)
        if (kind, sentence) in seen or not _states(kind, text, sentence, at):
            continue
        seen.add((kind, sentence))
        quote = quotable(text, sentence, at)
        yield Claim(kind, squashed(quote.of(text)), quote.start, quote.end)


def tie(claim: Claim, text: str, at: int) -> str:
    """Return the relation of `claim` to the name that stands at `at` in it."""
    is_cause = claim.type == "blocker" and _BLOCKED_BY.search(text, claim.start, at)
    return "blocked_by" if is_cause else "concerns"


def squashed(sentence: str) -> str:
    """Return it on one line, without the signs of a list or of emphasis around it."""
    return " ".join(sentence.split()).lstrip("-*•# ").strip("*_ ")


def _states(kind: str, text: str, sentence: Span, at: int) -> bool:
    said = sentence.of(text).lower()
    if (
        said.rstrip("\"'\u201d\u2019)*_ ").endswith("?")
        or len(said.split()) < FEWEST_WORDS
    ):
        return False
    match = _SAID[kind].search(said, max(0, at - sentence.start - 20))
    if match is None:
        return False
    before = said[: match.start()]
    if _DENIED.search(before) or _MAYBE.search(before):
        return False
    if kind != "blocker" or match.group().startswith("block"):
        return True
    return _is_trouble(said, before, match.end())


def _is_trouble(said: str, before: str, end: int) -> bool:
    """Return whether an issue or a problem is had here, not filed, solved or studied."""
    if _NO_TROUBLE.search(before) or _TICKET.match(said, end):
        return False
    if _THE_TROUBLE.match(said, end):
        return True
    if _GIT.search(before):
        return False
    is_told = _TROUBLE_AFTER.match(said, end) or not before.strip("-*>( ")
    return bool(is_told or _TROUBLE_BEFORE.search(before))
