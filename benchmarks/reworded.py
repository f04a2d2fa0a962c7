"""Questions in words of little help: misspelt, or not those of what answers them.

People ask like that; the questions of a set mostly repeat words of their evidence.
"""

from __future__ import annotations

import random
import re
import string
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import replace

from benchmarks.bm25 import stems
from benchmarks.sets import RetrievalSet, searched
from connections.models import Project
from retrieval.evaluation import Question

# Of the words of so many letters about this share is misspelt.
LETTERS, SHARE = 5, 0.5


def reworded(asked: RetrievalSet) -> Iterator[tuple[str, RetrievalSet]]:
    """Yield the set by each way of rewording: misspelt; only the questions that share
    no word with their evidence; and all, without the words that they share."""
    said = {name: _said(project) for name, project in asked.projects.items()}
    pairs = [
        (each, set().union(*(said[each.project][key] for key in each.relevant)))
        for each in asked.questions
    ]
    ways = {
        "misspelt": [misspelt(question) for question in asked.questions],
        "no shared word": [
            each for each, words in pairs if unshared(each, words) == each
        ],
        "shared words left out": [
            left for each, words in pairs if (left := unshared(each, words))
        ],
    }
    for way, questions in ways.items():
        if questions:
            yield way, replace(asked, questions=questions)


def misspelt(question: Question) -> Question:
    """Return `question` with one slip in some of its words: a letter that is left out,
    doubled, exchanged with the next or with another. Which and where depends on its id
    alone; first letters are right, as they mostly are."""
    chance = random.Random(question.id)  # noqa: S311 - letters, not secrets

    def slip(word: re.Match[str]) -> str:
        if chance.random() >= SHARE:
            return word[0]
        at = chance.randrange(1, len(word[0]) - 1)
        before, letter, after = word[0][:at], word[0][at], word[0][at + 1 :]
        other = chance.choice(string.ascii_lowercase)
        return before + chance.choice(
            (after, 2 * letter + after, after[0] + letter + after[1:], other + after)
        )

    query = re.sub(rf"[A-Za-z]{{{LETTERS},}}", slip, question.query)
    return replace(question, query=query)


def unshared(question: Question, said: Collection[str]) -> Question | None:
    """Return `question` without the words whose stems are in `said`; none where only
    stop words are left, or nothing is known to be said."""
    words = question.query.split()
    left = [
        word
        for word, own in zip(words, stems(words), strict=True)
        if not own & set(said)
    ]
    query = " ".join(left)
    if not said or not stems([query])[0]:
        return None
    return question if len(left) == len(words) else replace(question, query=query)


def _said(project: Project) -> dict[str, set[str]]:
    """Return the stems of what each node of a project says, by the key it is found by."""
    said: dict[str, set[str]] = defaultdict(set)
    for key, node in searched(project):
        said[key].update(*stems([node.title, node.content]))
    return said
