"""What a sentence says of two names: "X uses Y", "X for Y", and their kin."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from graph.mentions import Mention
from graph.sentences import Span
from graph.vocabulary import platforms

FOR = "for"
# In this order at one place: what is longer first. The verb of a passive turns round.
_CUES: tuple[tuple[str, str, bool], ...] = (
    ("used_for", r"(?:be(?:ing)? |is |are |was )?(?:used|useful|suited) for", False),
    ("uses", r"(?:used|adopted|chosen|picked) by", True),
    ("recommends", r"(?:recommended|suggested|proposed) by", True),
    ("requires", r"(?:required|needed) by", True),
    ("blocked_by", r"(?:blocked|held up) (?:by|on)|waiting (?:on|for)", False),
    (
        "depends_on",
        r"depend(?:s|ed|ing)? (?:up)?on|rel(?:y|ies|ied|ying) on|built on(?: top of)?"
        r"|based on|runs? on(?: top of)?|running on|powered by|backed by",
        False,
    ),
    (
        "uses",
        r"uses|use|using|used(?! (?:to|in|with|as|on|within|at|from)\b)"
        r"|utili[sz]es?|adopt(?:s|ed)?|chose|chooses|picked"
        r"|(?:built|written|implemented|made) (?:in|with|using)"
        r"|(?:switched|migrated|moved|switch|migrate|move) to|going with",
        False,
    ),
    ("recommends", r"recommend(?:s|ed|ing)?|suggest(?:s|ed)|advis(?:es|ed)", False),
    ("requires", r"requires?|required|requiring|needs", False),
    ("used_for", FOR, False),
)
RELATIONS = tuple(dict.fromkeys(relation for relation, _, _ in _CUES))
_CUE = re.compile(
    "|".join(rf"\b(?P<c{n}>{words})\b" for n, (_, words, _) in enumerate(_CUES)),
    re.IGNORECASE,
)
# Nothing is said across these: another clause begins.
_BREAK = re.compile(
    r"[;:?!()]|\.\s|\s[-\u2013\u2014]\s"
    r"|\b(?:but|because|although|while|whereas|if|unless|since|so that)\b"
)
_DENIED = re.compile(
    r"\b(?:not|never|no longer|cannot|without|instead of|rather than|stop\w*|avoid\w*)\b"
    r"|n['\u2019]t\b",
    re.IGNORECASE,
)
_AND = re.compile(
    r"\s*(?:,|/|\+|&|\band\b|\bor\b|,\s*and\b|,\s*or\b|as well as)\s*"
    r"(?:(?:the|a|an|our|its)\s+)?",
    re.IGNORECASE,
)
_NOT_A_USE = re.compile(
    r"\b(?:example|instance|now|me|you|us|them|those|everyone|anyone|people|users?"
    r"|years?|months?|weeks?|days?|hours?|free|sure|help\w*|asking|looking)\b",
    re.IGNORECASE,
)
MOST_BEFORE, MOST_AFTER, MOST_ABOUT_FOR = 5, 5, 3


@dataclass(frozen=True, slots=True)
class Related:
    """`source` -relation-> `target`, as `sentence` says."""

    source: Mention
    relation: str
    target: Mention
    sentence: Span


def find_relations(text: str, mentions: Sequence[Mention]) -> Iterator[Related]:
    """Yield what the sentences of `text` say of their names, in order, each once."""
    for sentence, group in groupby(mentions, key=lambda m: m.sentence):
        named = list(group)
        if len(named) < 2 or sentence.of(text).rstrip("\"'\u201d\u2019)*_ ").endswith(
            "?"
        ):
            continue
        seen = set()
        for found in _in_sentence(text, sentence, named):
            same = (
                (found.source.type, found.source.name),
                found.relation,
                (found.target.type, found.target.name),
            )
            if same[0] != same[2] and same not in seen:
                seen.add(same)
                yield found


def _in_sentence(
    text: str, sentence: Span, named: Sequence[Mention]
) -> Iterator[Related]:
    cues = [
        match
        for match in _CUE.finditer(text, sentence.start, sentence.end)
        if not any(m.start <= match.start() < m.end for m in named)
    ]
    for place, cue in enumerate(cues):
        relation, words, turns = _CUES[int(str(cue.lastgroup)[1:])]
        before = [m for m in named if m.end <= cue.start()]
        after = [m for m in named if m.start >= cue.end()]
        is_for = words == FOR
        if not (before and after) or not _binds(
            text, before[-1], cue, after[0], is_for=is_for
        ):
            continue
        # "A uses B and C uses D": B is no subject of the second, C no object of the
        # first.
        subjects = [
            m
            for m in before[::-1]
            if m is before[-1] or not place or m.end <= cues[place - 1].start()
        ]
        until = _next_verb(cues[place + 1 :], sentence.end)
        # "A uses what it must, B uses C": B begins a sentence of its own.
        if (
            _is_subject(text, after[0], until)
            and "," in text[cue.end() : after[0].start]
        ):
            continue
        targets = [m for m in after if m is after[0] or not _is_subject(text, m, until)]
        subjects = subjects[:1] if is_for else _joined(text, subjects)
        for subject in reversed(subjects):
            for target in _joined(text, targets):
                ends = (target, subject) if turns else (subject, target)
                yield Related(ends[0], relation, ends[1], sentence)


def _next_verb(cues: Sequence[re.Match[str]], end: int) -> int:
    verbs = (cue.start() for cue in cues if cue.group().lower() != FOR)
    return next(verbs, end + 1)


def _is_subject(text: str, mention: Mention, verb: int) -> bool:
    """Return whether the next verb follows `mention` at once."""
    return mention.end < verb <= len(text) and not text[mention.end : verb].strip()


def _binds(
    text: str, subject: Mention, cue: re.Match[str], target: Mention, *, is_for: bool
) -> bool:
    """Return whether subject, cue and target stand together, undenied."""
    before = text[subject.end : cue.start()]
    after = text[cue.end() : target.start]
    if _BREAK.search(before) or _BREAK.search(after) or _DENIED.search(before):
        return False
    if is_for:
        if _DENIED.search(text, max(0, subject.start - 25), subject.start):
            return False
        far = max(len(before.split()), len(after.split())) > MOST_ABOUT_FOR
        is_no_use = _NOT_A_USE.search(after) or _NOT_A_USE.search(before)
        is_platform = target.name in platforms()
        return not (far or is_no_use or is_platform or subject.type == "agent")
    return len(before.split()) <= MOST_BEFORE and len(after.split()) <= MOST_AFTER


def _joined(text: str, mentions: Sequence[Mention]) -> list[Mention]:
    """Return the first of `mentions` and those that "and" or a comma ties to it."""
    tied = [mentions[0]]
    for mention in mentions[1:]:
        one, other = sorted((tied[-1], mention), key=lambda m: m.start)
        if not _AND.fullmatch(text, one.end, other.start):
            break
        tied.append(mention)
    return tied
