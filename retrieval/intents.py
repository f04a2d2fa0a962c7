"""What a question is after, by its words."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """An intent, and the words that show it."""

    intent: str
    shown_by: re.Pattern[str]


def _rule(intent: str, *patterns: str) -> Rule:
    joined = "|".join(f"(?:{pattern})" for pattern in patterns)
    return Rule(intent, re.compile(joined, re.IGNORECASE))


_choose = (
    r"(?:decid\w+|cho(?:o?se|sen|osing)|pick(?:ed)?|select(?:ed)?|adopt(?:ed)?"
    r"|reject(?:ed)?|opt(?:ed)? for|settled? on|agreed? (?:on|to)|go with|went with"
    r"|switch(?:ed)?|migrat\w+|drop(?:ped)?)\b"
)
_aux = r"(?:do|does|did|is|are|was|were|can|could|should|would|will|has|have|had)"

# The first that fits is the intent. A person who decided is still a person; a pattern
# somebody recommended is a decision; a fact is what any other question asks for.
RULES = (
    _rule(
        "person",
        r"^\W*(?:who|whom|whose)\b",
        r"\b(?:which|what) (?:person|people|colleague|engineer|team ?mate|expert)s?\b",
        r"^\W*(?:to|by|from|with|of) whom\b",
        r"\b(?:know|find out|remember|tell me|wonder) who\b",
    ),
    _rule(
        "how-to",
        r"\bhow (?:do|can|should|would|could|must|shall) (?:i|we|you|one|people)\b",
        r"\bhow to\b",
        r"\b(?:steps?|instructions?|guide|tutorial|runbook|procedure) (?:to|for|on)\b",
        r"\bwhat(?:'s| is| are) the (?:steps?|procedure|process|way) (?:to|for)\b",
    ),
    _rule(
        "decision",
        rf"\bwhy\b.*\b{_choose}",
        rf"\b(?:what|which|where|how|did|have|has|was|were)\b.*\b{_choose}",
        r"\bdecisions?\b",
        r"\b(?:decided|agreed|chose)\b",
        r"\brecommend\w*\b",
        r"\brationale\b",
        r"\btrade-?offs?\b",
    ),
    _rule(
        "pattern",
        r"\b(?:design |architecture |usage )?patterns?\b",
        r"\bbest practices?\b",
        r"\b(?:approach|convention|guideline|principle|strateg(?:y|ie)|architecture)s?\b",
    ),
    _rule(
        "recency",
        r"^\W*when\b",
        r"\b(?:latest|newest|most recent(?:ly)?|recent(?:ly)?|lately|current(?:ly)?)\b",
        r"\b(?:last|previous) (?!name|resort|minute|mile)\w+",
        r"\b(?:right|until|as of|up to) now\b",
        r"\bwhat(?:'s| is) new\b",
        r"\b(?:status|news|updates?) (?:of|on|about|from)\b",
    ),
    _rule(
        "fact",
        rf"^\W*(?:what|which|where|why|how|{_aux})\b",
        r"\b(?:how (?:many|much|long|old|far|often)|what (?:is|are|was|were))\b",
        r"\?\s*$",
    ),
)


def intent_of(text: str) -> str:
    """Return the intent of a question, "" where its words show none."""
    for rule in RULES:
        if rule.shown_by.search(text):
            return rule.intent
    return ""


_which = r"(?:the|which|what|any|all|an?|by|find|show|list|latest|last|recent|our|my)"
_about = r"(?:about|from|to|that|where|with|on|regarding|concerning|in which|sent)"
_mail = r"(?:e-?mails?|mails)"
_document = r"(?:documents?|docs?|files?|handbooks?|spreadsheets?|presentations?)"

# Node types that a question prefers, by the words that say so.
TYPES_SAID = (
    (
        ("email",),
        re.compile(
            rf"\b(?:{_mail}|mail) {_about}\b"
            rf"|\b{_which} (?:{_mail}|mail)\b(?! address| provider| server| client)"
            rf"|\bby e-?mail\b|\b(?:e-?mailed|mailed)\b",
            re.IGNORECASE,
        ),
    ),
    (
        ("meeting", "sentence"),
        re.compile(
            r"\b(?:in|at|during|which|what|of)"
            r" (?:(?:which|what|the|our|that|a|last|any) )*(?:\w+ )?(?:meeting|call)s?\b",
            re.IGNORECASE,
        ),
    ),
    (
        ("file", "section"),
        re.compile(
            rf"\b{_document} {_about}\b|\b{_which} (?:\w+ )?{_document}\b",
            re.IGNORECASE,
        ),
    ),
    (
        ("message",),
        re.compile(
            rf"\b(?:slack|chat) (?:messages?|threads?|posts?)\b|\b{_which} messages?\b"
            r"|\b(?:in|on|over|via) (?:slack|chat)\b",
            re.IGNORECASE,
        ),
    ),
)


def types_said(text: str) -> tuple[str, ...]:
    """Return the node types that a question asks for ("mails about ..."), if any."""
    return tuple(
        name for names, said in TYPES_SAID if said.search(text) for name in names
    )
