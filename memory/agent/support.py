"""Whether the sentences of an answer stand in the sources that they cite."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from connections.models import Project
from memory.agent.sources import Source
from memory.extract import SUPPORT, best_window
from memory.sentences import NUMBER, numbers_of, sentences
from retrieval.frequencies import weigh_words, words_of

_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_FIGURE = re.compile(r"\d+(?:[.,:/]\d+)*")
# A word with a capital inside a sentence names something; so does one of capitals.
_NAME = re.compile(r"(?<![.!?:\u201c\"(*\n] )(?<!^)\b[^\W\d_a-z][\w'\u2019-]*\w")
_HEADING = re.compile(r"\s*(?:#{1,6}\s.*|.*:\s*|[-*_|=\s>]*)\Z", re.DOTALL)
_PARAGRAPH = re.compile(r"\n\s*\n")


@dataclass(frozen=True, slots=True)
class Supported:
    """A sentence that claims something, and the numbers of what bears it out."""

    text: str
    numbers: tuple[int, ...]

    def as_json(self) -> dict[str, object]:
        return {"text": self.text, "numbers": list(self.numbers)}


def supported(
    project: Project, text: str, cited: Mapping[int, Source]
) -> list[Supported]:
    """Return the claims of `text`, each with those of its citations that say it.

    `cited` are the sources by the numbers in `text`. A sentence without a citation may
    rest on those beside it in its paragraph. One is borne out where most of its words
    stand in a source (weighed as passages are), and all its figures and names do.
    """
    claims = [
        (sentence, numbers)
        for sentence, numbers in _claims(text)
        if not _HEADING.fullmatch(sentence)
    ]
    if not claims:
        return []
    bare = [NUMBER.sub("", sentence) for sentence, _ in claims]
    weights = weigh_words(project, " ".join(bare))
    said = [f"{s.title}\n{s.context}\n{s.text}" for s in cited.values()]
    lexemes = words_of(project, [*bare, *said])
    own, theirs = lexemes[: len(bare)], lexemes[len(bare) :]
    words = dict(zip(cited, theirs, strict=True))
    texts = dict(zip(cited, said, strict=True))
    return [
        Supported(
            sentence.strip(),
            tuple(
                n
                for n in numbers
                if n in words
                and _says(weights, own[i], words[n])
                and _holds(bare[i], texts[n])
            ),
        )
        for i, (sentence, numbers) in enumerate(claims)
    ]


def quote_of(
    project: Project, source: Source, citing: Sequence[str], question: str
) -> str:
    """Return the words of `source` that say best what cites it, exactly as they stand."""
    asked = " ".join(NUMBER.sub("", sentence) for sentence in citing) or question
    return best_window(project, asked, source.text)


def citing(text: str, n: int) -> list[str]:
    """Return the sentences of `text` that refer to the citation `n`."""
    return [s for s in sentences(text) if n in numbers_of(s)]


def _claims(text: str) -> list[tuple[str, tuple[int, ...]]]:
    """Return the sentences with the numbers each may rest on."""
    found = []
    for paragraph in _PARAGRAPH.split(_CODE.sub("\n\n", text)):
        said = [s for s in sentences(paragraph) if NUMBER.sub("", s).strip(" .\n\t")]
        own = [numbers_of(s) for s in said]
        for i, sentence in enumerate(said):
            after = next((n for n in own[i:] if n), ())
            before = next((n for n in reversed(own[:i]) if n), ())
            found.append((sentence, after or before))
    return found


def _says(weights: Mapping[str, float], own: set[str], theirs: set[str]) -> bool:
    total = sum(weights.get(word, 0.0) for word in own)
    shared = sum(weights.get(word, 0.0) for word in own & theirs)
    return total > 0 and shared >= SUPPORT * total


def _holds(sentence: str, text: str) -> bool:
    """Return whether every figure and name of `sentence` stands in `text`."""
    figures = set(_FIGURE.findall(text))
    known = text.casefold()
    return set(_FIGURE.findall(sentence)) <= figures and all(
        _stem(name) in known for name in _NAME.findall(sentence.strip())
    )


def _stem(name: str) -> str:
    return re.sub(r"['\u2019]s$", "", name).casefold()
