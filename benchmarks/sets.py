"""The retrieval sets of FABRIC_DATA: any folder there with a questions.jsonl."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.report import Unavailable, progress, real_data, sampled
from connections.models import Project
from graph.models import Node
from retrieval.evaluation import (
    CUTS,
    Question,
    filled,
    ndcg,
    read_questions,
    recall,
    reciprocal_rank,
)

METRICS = (*(f"recall@{cut}" for cut in CUTS), "nDCG@10", "MRR")
COMPARED = ("recall@10", "nDCG@10", "MRR")


@dataclass(frozen=True, slots=True)
class RetrievalSet:
    """A set that was ingested: its questions, and the scratch project of each."""

    name: str
    questions: Sequence[Question]
    projects: Mapping[str, Project]

    @property
    def groups(self) -> list[str]:
        """Return, for each question, the conversation or meeting it is about."""
        return [question.project for question in self.questions]


def set_folders() -> list[Path]:
    """Return the folders of FABRIC_DATA/retrieval that hold questions."""
    place = real_data("retrieval")
    found = sorted(path.parent for path in place.glob("*/questions.jsonl"))
    if not found:
        raise Unavailable(f"{place} has no folder with a questions.jsonl.")
    return found


@contextmanager
def ingested(folder: Path) -> Iterator[RetrievalSet]:
    """Ingest a set once, for as many rankers as ask; its projects go away at the end."""
    questions = sampled(read_questions(folder))
    names = dict.fromkeys(question.project for question in questions)
    with filled(folder, names, report=progress) as projects:
        yield RetrievalSet(folder.name, questions, projects)


def searched(project: Project) -> Iterator[tuple[str, Node]]:
    """Yield what search ranks, with the key it is found by: parts by their whole's."""
    nodes = Node.objects.of(project).current().exclude(embedding=None).order_by("pk")
    for node in nodes.select_related(None).defer("embedding", "search_vector"):
        is_part = node.node_type == "section" or "piece" in node.metadata
        yield node.key.rpartition("#")[0] if is_part else node.key, node


def scored(keys: Sequence[str], question: Question) -> list[float]:
    """Return the `METRICS` of an answer."""
    return [
        *(recall(keys, question.relevant, cut) for cut in CUTS),
        ndcg(keys, question.relevant, 10),
        reciprocal_rank(keys[: max(CUTS)], question.relevant),
    ]


def columns(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the columns of `COMPARED`."""
    return scores[:, [METRICS.index(name) for name in COMPARED]]
