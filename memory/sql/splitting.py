"""Questions that ask databases and texts at once, taken apart."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TEXT = (
    r"(?:threads?|messages?|posts?|conversations?|chats?|e-?mails?|mails|documents?|docs"
    r"|files?|meetings?|transcripts?|slack|nachrichten|beiträgen?|dokumenten?|dateien"
    r"|besprechungen|gesprächen?|unterhaltungen)"
)
_CHANNEL = r"#[\w-]+"
_PLACE = rf"(?:{_CHANNEL}|\b{_TEXT}\b)"
_SAYS = (
    r"(?:mention(?:s|ed|ing)?|discuss(?:es|ed|ing)?|nam(?:es?|ed|ing)|refer(?:s|red)? to"
    r"|talk(?:s|ed|ing)? (?:of|about)|(?:is|are|was|were) about|about|erwähn\w+"
    r"|nenn\w+|sprechen (?:über|von))"
)
_THEM = r"(?:them|they|these|those|each(?: of them)?|their|it|sie|ihnen|diese\w*)"
_JOINT = re.compile(
    r"(?:\s*[,;]\s*|\s+)(?:and|und|along with|together with|as well as|plus|sowie|with"
    r"|mit)\s+",
    re.IGNORECASE,
)
_HAS_TEXT = re.compile(_PLACE, re.IGNORECASE)
_OF_THEM = re.compile(
    rf"\b{_SAYS}\b.*\b{_THEM}\b|\b{_THEM}\b.*\b{_SAYS}\b|\bthat {_SAYS}\b",
    re.IGNORECASE,
)
# "Which Slack threads mention the top 10 customers by revenue?"
_TEXT_FIRST = re.compile(
    rf"^(?P<text>.*?{_PLACE}.*?)\s+(?:that\s+|which\s+|die\s+)?{_SAYS}\s+"
    r"(?P<database>.+?)[?.!\s]*$",
    re.IGNORECASE | re.DOTALL,
)
# "the revenue of the customers (that are) mentioned in #support last week"
_NAMED_IN = re.compile(
    r",?\s+(?:(?:that|which|who|die)\s+)?(?:(?:are|is|were|was|have been)\s+)?"
    r"(?:mentioned|named|discussed|talked about|erwähnt\w*|genannt\w*)\s+"
    rf"(?:in|on|by|within|im|von)\s+(?P<text>(?:[\w'-]+\s+){{0,3}}?{_PLACE}.*?)"
    r"(?P<end>[?.!,;]|\s+and\s+|\s+und\s+|$)",
    re.IGNORECASE,
)
# "die Kunden, die in #support erwähnt werden"
_NAMED_IN_GERMAN = re.compile(
    rf",?\s+(?:die|welche)\s+(?:in|im)\s+(?P<text>(?:[\w'-]+\s+){{0,3}}?{_PLACE}[^,;?.!]*?)"
    r"\s+(?:erwähnt|genannt)\s+(?:werden|wurden|sind)(?P<end>[?.!,;]|\s|$)",
    re.IGNORECASE,
)
_CHANNELS = re.compile(r"#([\w-]+)")
_KINDS = (
    (r"e-?mails?\b|\bmails\b", ("email",)),
    (r"threads?|messages?|posts?|chats?|slack|nachrichten|beiträge", ("message",)),
    (r"documents?|docs|files?|dokumente|dateien", ("section",)),
    (r"meetings?|transcripts?|besprechungen", ("sentence",)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What is asked of a database, and what of texts.

    `names_from`: "rows" where texts are looked for that name what the rows hold,
    "texts" where rows are looked for that texts name; "" where only a database is asked.
    """

    database: str
    text: str = ""
    names_from: str = ""

    @property
    def channels(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(_CHANNELS.findall(self.text)))

    @property
    def types(self) -> tuple[str, ...]:
        """Return the node types that the words of the text's part mean; or none."""
        found = (
            types
            for said, types in _KINDS
            if re.search(rf"\b(?:{said})\b", self.text, re.I)
        )
        return tuple(dict.fromkeys(one for types in found for one in types))


def split(question: str) -> Parts:
    """Return `question` in its two parts; the whole of it where it has but one."""
    question = " ".join(question.split())
    return (
        _named_in_texts(question)
        or _texts_of_them(question)
        or _texts_first(question)
        or Parts(database=question)
    )


def _texts_of_them(question: str) -> Parts | None:
    for joint in reversed(list(_JOINT.finditer(question))):
        before, after = question[: joint.start()], question[joint.end() :]
        if not before or _HAS_TEXT.search(before):
            continue
        if _HAS_TEXT.search(after) and _OF_THEM.search(after):
            return Parts(database=before, text=after, names_from="rows")
    return None


def _texts_first(question: str) -> Parts | None:
    found = _TEXT_FIRST.match(question)
    if found is None or _HAS_TEXT.search(found["database"]):
        return None
    return Parts(database=found["database"], text=found["text"], names_from="rows")


def _named_in_texts(question: str) -> Parts | None:
    found = _NAMED_IN.search(question) or _NAMED_IN_GERMAN.search(question)
    if found is None or not question[: found.start()].strip():
        return None
    asked = question[: found.start()] + found["end"] + question[found.end() :]
    return Parts(database=asked.strip(), text=found["text"], names_from="texts")
