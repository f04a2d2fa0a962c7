"""A title and a summary of a community, taken from its own words, without a model."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

# More of the words of a text than this would be a few long texts' only.
TEXT_CHARACTERS = 1200
TITLE_TERMS, TITLE_PHRASES, TITLE_NAMES = 6, 4, 3
SUMMARY_TERMS, SUMMARY_SENTENCES = 24, 3
SENTENCE_LEAST, SENTENCE_MOST = 25, 300
# Less of a line in letters is a table, a path or a program.
LETTERS_LEAST = 0.8
# Two sentences that share more of their words than this say the same.
ALIKE = 0.5
TITLE_CHARACTERS = 200
_WORD = re.compile(r"[^\W\d_]{3,}")
_NO_WORDS = re.compile(r"https?://\S+|<[^>\s]+>|\S+@\S+|:[a-z0-9_+-]+:")
_BLANKS, _NO_LETTERS = re.compile(r"\s+"), re.compile(r"[\W\d_]+")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\s*\n+\s*")


@dataclass(frozen=True, slots=True)
class Stem:
    """A word as the index has it, and how rare it is in the project."""

    lexeme: str
    idf: float


Stems = Mapping[tuple[str, str], Stem]
_Said = Sequence[tuple[str, Stem | None]]


@dataclass(frozen=True, slots=True)
class Text:
    """What a member says; `digest` tells whether it still does."""

    node_id: int
    language: str
    title: str
    content: str
    digest: str
    centrality: float


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, and the node whose words it is."""

    node_id: int
    text: str


@dataclass(frozen=True, slots=True)
class Description:
    """A community in words; `lexemes` are those that it is found by."""

    title: str
    summary: tuple[Sentence, ...]
    lexemes: tuple[str, ...]
    title_lexemes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Term:
    lexeme: str
    word: str
    weight: float


def words_of(text: Text) -> list[str]:
    """Return the words of title and content in order, in lower case."""
    said = _NO_WORDS.sub(" ", f"{text.title}\n{text.content}")
    return [word.lower() for word in _WORD.findall(said)]


def describe(texts: Sequence[Text], stems: Stems) -> Description:
    """Return title and summary of a community from its most central texts.

    The title is its most characteristic terms, or where nothing is said, the names of
    its most central members.
    """
    said = [_said(text, stems) for text in texts]
    terms = _terms(said)
    title = _title(terms, said) or _names(texts)
    summary = _summary(terms[:SUMMARY_TERMS], texts, stems)
    found_by = [term.lexeme for term in terms[:SUMMARY_TERMS]]
    for sentence, language in summary:
        found_by += _lexemes(sentence.text, language, stems)
    titled = {
        lexeme
        for language in {text.language for text in texts}
        for lexeme in _lexemes(title, language, stems)
    }
    return Description(
        title=title,
        summary=tuple(sentence for sentence, _ in summary),
        lexemes=tuple(sorted({*found_by, *titled})),
        title_lexemes=tuple(sorted(titled)),
    )


def _said(text: Text, stems: Stems) -> list[tuple[str, Stem | None]]:
    """Return the words of a text in order; None: one that no index has."""
    return [(word, stems.get((text.language, word))) for word in words_of(text)]


def _terms(texts: Sequence[_Said]) -> list[_Term]:
    """Return the terms that two or more of the texts use, the heaviest first.

    A term weighs how many texts use it, times how much likelier it is here than in
    the whole project (its part of the Kullback-Leibler divergence of the two).
    """
    used: Counter[str] = Counter()
    idf: dict[str, float] = {}
    forms: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for said in texts:
        known = {word: stem for word, stem in said if stem}
        used.update({stem.lexeme for stem in known.values()})
        for word, stem in known.items():
            idf[stem.lexeme] = stem.idf
            forms[stem.lexeme][word] += 1
    least = min(2, len(texts))
    terms = [
        _Term(lexeme, _usual(forms[lexeme]), weight)
        for lexeme, count in used.items()
        if count >= least
        and (weight := count * (idf[lexeme] + math.log(count / len(texts)))) > 0
    ]
    return sorted(terms, key=lambda term: (-term.weight, term.lexeme))


def _usual(forms: Counter[str]) -> str:
    return min(forms, key=lambda word: (-forms[word], word))


def _title(terms: Sequence[_Term], texts: Sequence[_Said]) -> str:
    words = {term.lexeme: term.word for term in terms[:TITLE_TERMS]}
    follows, used = _neighbours(words, texts)
    phrases: list[str] = []
    spent: set[str] = set()
    for lexeme in words:
        if lexeme in spent or len(phrases) == TITLE_PHRASES:
            continue
        phrase = _phrase(lexeme, follows, used, spent)
        spent.update(phrase)
        phrases.append(" ".join(words[part] for part in phrase))
    title = ", ".join(phrases)[:TITLE_CHARACTERS]
    return title[:1].upper() + title[1:]


def _phrase(
    lexeme: str,
    follows: Mapping[tuple[str, str], int],
    used: Mapping[str, int],
    spent: set[str],
) -> tuple[str, ...]:
    """Return `lexeme` with the term it mostly stands beside, in their order."""
    best: tuple[int, tuple[str, ...]] = (1, (lexeme,))
    for pair, count in sorted(follows.items()):
        other = pair[1] if pair[0] == lexeme else pair[0]
        is_usual = 2 * count >= min(used[pair[0]], used[pair[1]])
        if lexeme in pair and other not in spent and is_usual and count > best[0]:
            best = (count, pair)
    return best[1]


def _neighbours(
    words: Mapping[str, str], texts: Sequence[_Said]
) -> tuple[Counter[tuple[str, str]], Counter[str]]:
    """Return how often one of `words` follows another, and how often each is said."""
    follows: Counter[tuple[str, str]] = Counter()
    used: Counter[str] = Counter()
    for said in texts:
        lexemes = [stem.lexeme if stem else "" for _, stem in said]
        used.update(lexeme for lexeme in lexemes if lexeme in words)
        follows.update(
            pair
            for pair in pairwise(lexemes)
            if pair[0] in words and pair[1] in words and pair[0] != pair[1]
        )
    return follows, used


def _names(texts: Sequence[Text]) -> str:
    names = dict.fromkeys(text.title.strip() for text in texts if text.title.strip())
    return ", ".join(list(names)[:TITLE_NAMES])[:TITLE_CHARACTERS]


def _summary(
    terms: Sequence[_Term], texts: Sequence[Text], stems: Stems
) -> list[tuple[Sentence, str]]:
    """Return the sentences that say most of the terms, of different nodes and words,
    the best first, each with its language."""
    weights = {term.lexeme: term.weight for term in terms}
    scored = sorted(
        (-_worth(sentence, text, weights, stems), text.node_id, sentence, text.language)
        for text in texts
        for sentence in _sentences(text.content)
    )
    chosen: list[tuple[Sentence, str]] = []
    seen: list[set[str]] = []
    nodes: set[int] = set()
    for worth, node_id, sentence, language in scored:
        lexemes = set(_lexemes(sentence, language, stems))
        if not worth or node_id in nodes or any(_alike(lexemes, s) for s in seen):
            continue
        chosen.append((Sentence(node_id, sentence), language))
        nodes.add(node_id)
        seen.append(lexemes)
        if len(chosen) == SUMMARY_SENTENCES:
            break
    return chosen


def _worth(
    sentence: str, text: Text, weights: Mapping[str, float], stems: Stems
) -> float:
    lexemes = _lexemes(sentence, text.language, stems)
    said = sum(weights.get(lexeme, 0.0) for lexeme in set(lexemes))
    return said / math.sqrt(5 + len(lexemes)) * (0.5 + text.centrality)


def _sentences(content: str) -> Iterator[str]:
    for sentence in _SENTENCE_END.split(content[:TEXT_CHARACTERS]):
        said = sentence.strip()
        if SENTENCE_LEAST <= len(said) <= SENTENCE_MOST and _is_prose(said):
            yield said


def _is_prose(said: str) -> bool:
    dense = len(_BLANKS.sub("", said))
    letters = len(_NO_LETTERS.sub("", said))
    return letters >= LETTERS_LEAST * dense and not said.startswith(">")


def _lexemes(said: str, language: str, stems: Stems) -> list[str]:
    words = (word.lower() for word in _WORD.findall(_NO_WORDS.sub(" ", said)))
    found = (stems.get((language, word)) for word in words)
    return [stem.lexeme for stem in found if stem]


def _alike(first: set[str], second: set[str]) -> bool:
    either = len(first | second)
    return bool(either) and len(first & second) / either > ALIKE
