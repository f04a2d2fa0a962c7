"""Names in a text: known ones by one pass of an automaton, roles where they are typed
as such ("the release-manager agent")."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from graph.sentences import Sentences, Span
from graph.vocabulary import Form, Use, Vocabulary, plain

_ROLE = r"[A-Za-z][a-z0-9]+(?:[-_][A-Za-z][a-z0-9]+){1,4}"
_TYPED_ROLE = re.compile(
    rf"(?<![\w/.@#-])[`'\"*@]?(?P<before>{_ROLE})[`'\"*]?\s+(?:[Ss]ub-?)?[Aa]gents?\b"
    rf"|\b[Aa]gents?\s+(?:(?:named|called)\s+)?[`'\"*@]?(?P<after>{_ROLE})(?![\w/.-]\w)"
)
# "a third-party agent", "the open-source agent", "agent fine-tuned ..." name no role.
_NO_ROLE = re.compile(
    r"(?:party|source|time|level|end|wide|side|scale|free|only|like|able|purpose|ready"
    r"|aware|specific|agnostic|oriented|first|turn|step|shot|call|site|house|estate"
    r"|known|built|made|run|driven|language|to|up|in|on|off|out|\w+(?:ed|ing|ly|ble))$"
    r"|^(?:multi|single|sub|non|pre|post|re|anti|semi|self|cross|inter|co|user|real"
    r"|well|new|old|first|second|third|open|long|short|high|low|full|half|one|two)[-_]",
    re.IGNORECASE,
)
_USED_BEFORE = re.compile(
    r"\b(?:us(?:e|es|ed|ing)|recommend(?:s|ed|ing)?|requires?|prefers?|adopt(?:s|ed)?"
    r"|chose|written in|built (?:in|with|on)|depends on|via|migrat\w+ to|switch\w* to)"
    r"\s+(?:the\s+)?$",
    re.IGNORECASE,
)
_THING_AFTER = re.compile(
    r"[\s-]+(?:apps?|applications?|servers?|clusters?|databases?|packages?|librar(?:y|ies)"
    r"|frameworks?|modules?|scripts?|components?|hooks?|apis?|sdk|cli|plugins?|drivers?"
    r"|containers?|pipelines?|jobs?|language|developers?|programmers?|programming"
    r"|code(?:base)?|runtime|compiler|bindings|workspaces?|bot|dashboards?|spreadsheets?"
    r"|workbooks?|sheets?|tickets?|charts?|devs?|core|users?|functions?|projects?)\b",
    re.IGNORECASE,
)
# "redis.conf", "redis-base.rdb", "python=3", "redis://" go on to be something else.
_GOES_ON = re.compile(r"[\w-]*[.=]\w|:/")
_TAIL = 40


@dataclass(frozen=True, slots=True)
class Mention:
    """A name where it stands in a text; `sentence` is what it stands in."""

    name: str
    type: str
    start: int
    end: int
    sentence: Span


@dataclass(frozen=True, slots=True)
class Hits:
    """What the automaton saw: spellings by place, and the cue words there are."""

    forms: tuple[tuple[Form, int, int], ...]
    cues: tuple[tuple[str, int], ...]


def scan(vocabulary: Vocabulary, text: str) -> Hits:
    """Return every spelling and cue in `text`; of two that overlap, the longer."""
    forms, cues = [], []
    for last, found in vocabulary.automaton.iter(f" {plain(text)} "):
        # One blank stands before the text, one each before and after the spelling.
        end = last - 1
        start = end - (len(found) - 2)
        form = vocabulary.forms.get(found)
        if form is None:
            cues.append((found.strip(), start))
        else:
            forms.append((form, start, end))
    return Hits(tuple(_longest(forms)), tuple(cues))


def _longest(forms: Iterable[tuple[Form, int, int]]) -> Iterator[tuple[Form, int, int]]:
    reached = -1
    for form, start, end in sorted(forms, key=lambda f: (f[1], -f[2])):
        if start >= reached:
            reached = end
            yield form, start, end


def find_mentions(text: str, hits: Hits, sentences: Sentences) -> list[Mention]:
    """Return the names in `text`, in order."""
    sure: list[Mention] = []
    doubtful: list[tuple[Form, Mention]] = []
    for form, start, end in hits.forms:
        if not _stands_alone(text, form, start, end):
            continue
        if sentences.is_foreign(start, end):
            continue
        mention = Mention(form.name, form.type, start, end, sentences.around(start))
        if form.use is Use.ALWAYS:
            sure.append(mention)
        else:
            doubtful.append((form, mention))
    company = {m.sentence for m in sure if m.type == "technology"}
    named = [m for form, m in doubtful if _is_name(text, form, m, company)]
    roles: list[Mention] = []
    if any(cue in ("agent", "agents", "subagent") for cue, _ in hits.cues):
        taken = [(m.start, m.end) for m in (*sure, *named)]
        roles = list(_typed_roles(text, sentences, taken))
    return sorted((*sure, *named, *roles), key=lambda m: m.start)


def _stands_alone(text: str, form: Form, start: int, end: int) -> bool:
    """Return whether it is a word of prose: no piece of an identifier or address."""
    before, after = text[start - 1 : start], text[end : end + 2]
    if form.spelling.startswith(".") and before != ".":
        return False
    if before in ("_", "@", "$", "\\") or after[:1] in ("_", "@"):
        return False
    # "redis/docker" names both, "conf.redis" and "a/redis/b" neither.
    follows_on = before in (".", "/") and text[start - 2 : start - 1].isalnum()
    if follows_on and (before == "." or after[:1] == "/"):
        return False
    return not _GOES_ON.match(text, end)


def _is_name(text: str, form: Form, mention: Mention, company: set[Span]) -> bool:
    start, end = mention.start, mention.end
    before = text[max(0, start - _TAIL) : start]
    is_beside = bool(
        _USED_BEFORE.search(before) or _THING_AFTER.match(text, end, end + _TAIL)
    )
    as_spelt = text[start:end] == form.spelling
    if not as_spelt:
        return is_beside and form.use is Use.AS_WRITTEN and text[start:end].islower()
    if is_beside or mention.sentence in company:
        return True
    return form.use is Use.AS_WRITTEN and _is_inside(text, mention)


def _is_inside(text: str, mention: Mention) -> bool:
    """Return whether its capital is its own: words before it, none of them a title."""
    sentence = mention.sentence
    before = text[sentence.start : mention.start].split()
    if not before or before[-1][-1:] in ":-*•>|":
        return False
    words = [w for w in sentence.of(text).split() if w[:1].isalpha()]
    return sum(w[:1].isupper() for w in words) <= len(words) / 2


def _typed_roles(
    text: str, sentences: Sentences, taken: Iterable[tuple[int, int]]
) -> Iterator[Mention]:
    for match in _TYPED_ROLE.finditer(text):
        group = "before" if match["before"] else "after"
        start, end = match.span(group)
        if _NO_ROLE.search(match[group]) or sentences.is_foreign(start, end):
            continue
        if any(a < end and start < b for a, b in taken):
            continue
        name = match[group].lower().replace("_", "-")
        yield Mention(name, "agent", start, end, sentences.around(start))
