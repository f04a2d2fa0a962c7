"""What a turn teaches, by rules: claims, promises and facts in its cited quotes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from connections.models import Project, User
from graph.claims import squashed
from graph.extract import extract
from graph.sentences import Sentences
from memory.learning.commitments import ACTS, Promise, promise_in
from memory.learning.heard import Heard, Source
from memory.learning.people import persons_named
from memory.learning.proposals import MOST_CHARACTERS, Proposal
from memory.learning.statements import (
    is_fact,
    is_own_voice,
    is_statement,
    is_sure,
    is_written,
    points_back,
    states_insight,
    states_pattern,
    states_risk,
)
from memory.models import Observation
from retrieval.frequencies import weigh_words, words_of

Type = Observation.Type
MOST_PROPOSALS, MOST_FACTS = 8, 2
# A sentence answers a question when it has this share of what is asked about, each
# word weighing as much as it is rare in the project.
ANSWERS = 0.6
FEWEST_SHARED = 2
# "Decided" without what: that follows "to", "that", "on", ":" and the like. And a
# choice that is told in passing: "a default that nobody chose".
_BARE = re.compile(
    r"\bdecided\b(?!.*(?:\b(?:to|that|on|against|for|upon)\b|:))"
    r"|^decided\b(?! (?:to|that|on|against|for|upon)\b|:)|^(?:not|nothing)\b"
    r"|\b(?:who|that|which|nobody|because|since) (?:\w+ ){0,2}(?:chose|decided"
    r"|chosen)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence of a quote, without what surrounds it in a list."""

    text: str
    source: Source

    @property
    def on_its_own(self) -> str:
        """Return it with its author before it where it speaks of "I" or "we"."""
        author = self.source.author
        return (
            f"{author}: {self.text}"
            if author and is_own_voice(self.text)
            else self.text
        )


def propose(heard: Heard, project: Project, user: User) -> list[Proposal]:
    """Return what the quotes of a turn state, decisions and promises first."""
    said = list(_sentences(heard.sources))
    promises = {s: made for s in said if (made := promise_in(s.text, s.source))}
    asked = [p.who for p in promises.values() if p.named]
    persons = persons_named(project, user, asked)
    found: dict[Said, Proposal] = {}
    for sentence in said:
        if proposal := _claim(sentence, promises.get(sentence), persons):
            found.setdefault(sentence, proposal)
    for sentence in _facts(heard, [s for s in said if s not in found], project):
        found.setdefault(sentence, _proposal(Type.FACT, sentence))
    order = (
        Type.DECISION,
        Type.COMMITMENT,
        Type.RISK,
        Type.INSIGHT,
        Type.PATTERN,
        Type.FACT,
    )
    ranked = sorted(found.values(), key=lambda p: order.index(Type(p.type)))
    return ranked[:MOST_PROPOSALS]


def _sentences(sources: Sequence[Source]) -> Iterator[Said]:
    for source in sources:
        sentences = Sentences(source.quote)
        for span in sentences:
            text = squashed(span.of(source.quote))
            is_long = len(text) > MOST_CHARACTERS
            if (
                is_statement(text)
                and not is_long
                and not sentences.is_foreign(span.start, min(span.start + 1, span.end))
            ):
                yield Said(text, source)


def _claim(
    sentence: Said, promise: Promise | None, persons: dict[str, str]
) -> Proposal | None:
    if _decides(sentence.text):
        return _proposal(Type.DECISION, sentence)
    if promise is not None and (not promise.named or promise.who in persons):
        who = persons[promise.who] if promise.named else promise.who
        proposal = _proposal(Type.COMMITMENT, sentence)
        return replace(proposal, who=who, due_at=promise.due_at)
    if points_back(sentence.text) or not is_written(sentence.text):
        return None
    if states_risk(sentence.text):
        return _proposal(Type.RISK, sentence)
    if not is_sure(sentence.text):
        return None
    if states_insight(sentence.text):
        return _proposal(Type.INSIGHT, sentence)
    if states_pattern(sentence.text):
        return _proposal(Type.PATTERN, sentence)
    return None


def _decides(text: str) -> bool:
    """Return whether `text` states a decision, as the extraction of texts says, and
    what was decided: not "Decided today by Orla."."""
    found = extract(text).entities
    is_decision = any(entity.type == "decision" for entity in found)
    return is_decision and is_written(text) and not _BARE.search(text)


def _facts(heard: Heard, said: Sequence[Said], project: Project) -> list[Said]:
    """Return the sentences that answer the question best, and surely."""
    sure = [s for s in said if _is_lasting(s.text)]
    weights = weigh_words(project, heard.question)
    if not sure or not weights:
        return []
    total = sum(weights.values())
    support = []
    for words in words_of(project, [s.text for s in sure]):
        shared = words & weights.keys()
        enough = len(shared) >= min(FEWEST_SHARED, len(weights))
        support.append(sum(weights[w] for w in shared) / total if enough else 0.0)
    ranked = sorted(zip(support, sure, strict=True), key=lambda pair: -pair[0])
    return [s for share, s in ranked if share >= ANSWERS][:MOST_FACTS]


def _is_lasting(text: str) -> bool:
    clear = is_written(text) and is_sure(text) and not points_back(text)
    acts = text.split()[0].lower() in ACTS
    return clear and is_fact(text) and not acts


def _proposal(kind: str, sentence: Said) -> Proposal:
    return Proposal(type=kind, text=sentence.on_its_own, sources=(sentence.source,))
