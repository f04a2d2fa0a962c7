"""What a sentence is about and what it says of it, for finding contradictions.

"The launch is on 3 May" is about the launch, and says a date. Another date, said
later, replaces it; what its venue is does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from graph.extract import listed
from graph.mentions import find_mentions, scan
from graph.sentences import Sentences
from retrieval.times import DAY, MONTH, WEEKDAY, YEAR

_DATE = re.compile(
    rf"\b(?:{YEAR}-[01]\d(?:-[0-3]\d)?|{DAY}(?: of)? {MONTH}(?:,? {YEAR})?"
    rf"|{MONTH} {DAY}(?:,? {YEAR})?|{MONTH} {YEAR}|q[1-4](?: {YEAR})?|{WEEKDAY}"
    rf"|(?:in|by|until|from|to|for|before|since|of|is|are) (?:{MONTH}"
    rf"|{YEAR}))(?![\w-])",
)
_AMOUNT = re.compile(
    r"(?<![\w#-])(?:[$\u20ac\u00a3]\s?)?\d[\d.,]*\d?(?:\s?(?:%|percent|euros?|eur"
    r"|dollars?|usd|pounds?"
    r"|gbp|k|m|bn|million|thousand|people|users|seats|customers|devices|licen[cs]es"
    r"|hours|days"
    r"|weeks|months|years|gb|tb|mb|ms|seconds|minutes))?(?![\w-])",
)
# A sentence says what holds by one of these; "the team met on Monday" tells of once.
_HOLDS = re.compile(
    r"(?P<subject>[^.;:!?]{2,80}?)(?:['\u2019]s|['\u2019]re| (?:(?:is|are|was|were"
    r"|will|shall|has|have|had|been"
    r"|be|now|still|no longer|not|n't|currently|to be)\b ?)+| (?=(?:moves?|moved"
    r"|starts?|started|begins?|ends?"
    r"|costs?|takes?|uses?|runs?|leaves?|happens|falls|becomes?|stays?|remains?"
    r"|opens?|closes|owns|leads"
    r"|needs|belongs|lives|ships?)\b))",
)
_AUTHOR = re.compile(r"^(?:[A-Z][\w.'\u2019-]*[ ,]*){1,4}: ")
_CHOICE = re.compile(
    r"\b(?:decided (?:to (?:use|go with|take|choose|keep|buy|stay with)|on|for"
    r"|against)|chose|will use"
    r"|settled on|going with|agreed (?:on|to use)|use[sd]?|switch(?:ed|ing)? to"
    r"|mov(?:ed|ing) to)"
    r" (?P<value>.+?) (?:for|as) (?P<subject>[^.;,:!?]{3,60})",
)
_CHANGE = re.compile(
    r"\b(?:no longer|not any ?more|instead|rather than|moved (?:to|from)|postponed"
    r"|delayed|brought"
    r" forward|rescheduled|cancel+ed|called off|replaces?|replaced|changed (?:to"
    r"|from)|now|any longer"
    r"|reversed?|taken? back|taking back|dropped|ended|ends|stopped|gave up|lifted"
    r"|switched|new date"
    r"|corrected|correction|actually)\b",
)
_NOT = re.compile(
    r"\b(?:not|never|no longer|no|none|cannot|without|nobody|nothing|against)\b"
    r"|n['\u2019]t\b",
)
_WORD = re.compile(r"[^\W_][\w'\u2019-]*")
_EMPTY = frozenset(
    [
        "a",
        "an",
        "the",
        "and",
        "or",
        "but",
        "of",
        "to",
        "in",
        "on",
        "at",
        "by",
        "for",
        "from",
        "with",
        "until",
        "till",
        "as",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "being",
        "will",
        "shall",
        "has",
        "have",
        "had",
        "do",
        "does",
        "did",
        "it",
        "its",
        "this",
        "that",
        "these",
        "those",
        "we",
        "i",
        "you",
        "they",
        "he",
        "she",
        "our",
        "their",
        "his",
        "her",
        "my",
        "your",
        "us",
        "them",
        "not",
        "no",
        "now",
        "then",
        "so",
        "also",
        "than",
        "there",
        "here",
        "into",
        "about",
        "over",
        "after",
        "before",
        "who",
        "which",
        "what",
        "when",
        "where",
        "how",
        "all",
        "any",
        "some",
        "more",
        "most",
        "very",
        "just",
        "still",
        "today",
        "since",
        "if",
        "no-one",
        "would",
        "could",
        "should",
        "can",
        "may",
        "might",
        "must",
        "one",
        "two",
    ]
)


@dataclass(frozen=True)
class Frame:
    """A sentence, by what it is about and what kinds of values it gives."""

    text: str

    @cached_property
    def said(self) -> str:
        return _AUTHOR.sub("", self.text)

    @cached_property
    def plainly(self) -> str:
        """Return it in small letters: a pattern that need not fold each letter itself
        takes a third of the time."""
        return self.said.lower()

    @cached_property
    def dates(self) -> frozenset[str]:
        return frozenset(_plain(m.group()) for m in _DATE.finditer(self.plainly))

    @cached_property
    def amounts(self) -> frozenset[str]:
        return frozenset(_plain(m.group()) for m in _AMOUNT.finditer(self._undated))

    @cached_property
    def _undated(self) -> str:
        return _DATE.sub(" ", self.plainly)

    @cached_property
    def names(self) -> frozenset[str]:
        """Return the technologies and the like it names, as extraction knows them."""
        hits = scan(listed(), self.said)
        if not hits.forms:
            return frozenset()
        found = find_mentions(self.said, hits, Sentences(self.said))
        return frozenset(mention.name.lower() for mention in found)

    @cached_property
    def _choice(self) -> re.Match[str] | None:
        return _CHOICE.search(self.plainly)

    @cached_property
    def subject(self) -> str:
        """Return what it is about, in plain words; "" where that is not clear."""
        found = self._choice or _HOLDS.match(self.plainly)
        return " ".join(_content(found["subject"])) if found else ""

    @cached_property
    def value(self) -> str:
        """Return what was chosen for the subject, in plain words."""
        return " ".join(_content(self._choice["value"])) if self._choice else ""

    @cached_property
    def words(self) -> frozenset[str]:
        """Return what it speaks of, values and what tells of change aside."""
        bare = _CHANGE.sub(" ", _AMOUNT.sub(" ", self._undated))
        return frozenset(stem(word) for word in _content(bare))

    @property
    def denies(self) -> bool:
        return _NOT.search(self.plainly) is not None

    @property
    def tells_change(self) -> bool:
        return _CHANGE.search(self.plainly) is not None

    @property
    def topic(self) -> str:
        """Return the subject with the kind of value it is given, "launch: date"; ""
        where either is not clear."""
        kinds = [kind for kind, values in self._kinds() if values]
        # What it is about is asked last: most sentences give no value at all.
        if len(kinds) != 1 or not self.subject:
            return ""
        return f"{self.subject}: {kinds[0]}"

    def _kinds(self) -> Iterable[tuple[str, object]]:
        return (("choice", self.value), ("date", self.dates), ("amount", self.amounts))


SAME_SUBJECT, SAME_WORDS, FEWEST_SHARED = 0.5, 0.7, 2


def contradicts(new: Frame, old: Frame) -> bool:
    """Return whether both cannot hold: of the same thing another date, amount or
    choice; or the same said once and denied once; or `new` tells that `old` changed.
    """
    if _gives_other_value(new, old):
        return True
    shared = new.words & old.words
    if len(shared) < FEWEST_SHARED or not old.words:
        return False
    share = len(shared) / min(len(new.words), len(old.words))
    if new.denies != old.denies and not new.dates ^ old.dates:
        return share >= SAME_WORDS
    same_names = bool(new.names & old.names) or not (new.names and old.names)
    changed = new.tells_change and not old.tells_change
    return changed and same_names and share >= SAME_WORDS and _differs(new, old)


def _gives_other_value(new: Frame, old: Frame) -> bool:
    topic = new.topic
    if not topic or topic != old.topic:
        return False
    if new.value and old.value:
        return new.value != old.value and new.denies == old.denies
    return _differs(new, old)


def _differs(new: Frame, old: Frame) -> bool:
    """Return whether they give another value of one kind, not of several: of two
    kinds it may be another event."""
    kinds = [
        bool(ours and theirs and not (ours & theirs))
        for ours, theirs in ((new.dates, old.dates), (new.amounts, old.amounts))
    ]
    return sum(kinds) == 1


def stem(word: str) -> str:
    """Return a word without what a plural or a tense adds, roughly."""
    for ending in ("'s", "\u2019s", "ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)].rstrip("e")
    return word.rstrip("e") if len(word) > 3 else word


def _plain(said: str) -> str:
    said = re.sub(
        r"^(?:in|by|until|from|to|for|before|since|of|is|are) ", "", said.lower()
    )
    return " ".join(said.replace(",", "").replace(".", "").split())


def _content(said: str) -> list[str]:
    """Return the words of what is in small letters already, empty ones left out."""
    return [word for word in _WORD.findall(said) if word not in _EMPTY]
