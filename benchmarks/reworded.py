"""Questions in words of little help: misspelt, or not those of what answers them.

People ask like that; the questions of a set mostly repeat words of their evidence.
"""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterator
from dataclasses import replace

from benchmarks.bm25 import stems
from benchmarks.sets import RetrievalSet
from graph.models import Node
from retrieval.evaluation import Question

# Of the words of so many letters about this share is misspelt.
LETTERS, SHARE = 5, 0.5


def reworded(asked: RetrievalSet) -> Iterator[tuple[str, RetrievalSet]]:
    """Yield the set by each way of rewording: misspelt; only the questions that share
    no word with their evidence; and all, without the words that they share."""
    pairs = [(question, _evidence(asked, question)) for question in asked.questions]
    ways = {
        "misspelt": [misspelt(question) for question in asked.questions],
        "no shared word": [
            question for question, said in pairs if unshared(question, said) == question
        ],
        "shared words left out": [
            left for question, said in pairs if (left := unshared(question, said))
        ],
    }
    for way, questions in ways.items():
        if questions:
            yield way, replace(asked, questions=questions)


def misspelt(question: Question) -> Question:
    """Return `question` with two inner letters of some of its words exchanged, of
    which and where depends on its id alone."""
    chance = random.Random(question.id)  # noqa: S311 - letters, not secrets

    def slip(word: re.Match[str]) -> str:
        letters = list(word[0])
        if chance.random() < SHARE:
            at = chance.randrange(1, len(letters) - 2)
            letters[at : at + 2] = reversed(letters[at : at + 2])
        return "".join(letters)

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


def _evidence(asked: RetrievalSet, question: Question) -> set[str]:
    """Return the stems of what answers a question."""
    nodes = Node.objects.of(asked.projects[question.project]).current()
    answers = nodes.filter(key__in=question.relevant)
    texts = ["\n".join(fields) for fields in answers.values_list("title", "content")]
    return set().union(*stems(texts)) if texts else set()
