"""How well a profile finds the evidence of a set's questions."""

from __future__ import annotations

import json
import math
import secrets
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from connections.management.base import create_project
from connections.models import Project
from connections.sources.base import SourceError
from graph.embed import embed_backlog
from graph.ingest import ingest
from graph.removal import remove_project
from graph.sources import connect_source
from retrieval.communities.refresh import refresh_communities
from retrieval.search import search

CUTS = (5, 10, 20)
KINDS = {".zip": "slack", ".json": "transcripts"}


@dataclass(frozen=True, slots=True)
class Question:
    """A question of a set, and the keys of the nodes that answer it."""

    id: str
    project: str
    query: str
    relevant: frozenset[str]


@dataclass(frozen=True, slots=True)
class Scores:
    """Means over questions; latencies are end to end, in milliseconds."""

    set: str
    profile: str
    questions: int
    recall: dict[int, float]
    ndcg: float
    mrr: float
    p50_ms: float
    p95_ms: float

    def as_json(self) -> dict[str, object]:
        recall = {f"recall@{cut}": round(self.recall[cut], 4) for cut in CUTS}
        return {
            "set": self.set,
            "profile": self.profile,
            "questions": self.questions,
            **recall,
            "nDCG@10": round(self.ndcg, 4),
            "MRR": round(self.mrr, 4),
            "p50_ms": round(self.p50_ms, 2),
            "p95_ms": round(self.p95_ms, 2),
        }


def read_questions(folder: Path, limit: int | None = None) -> list[Question]:
    """Return the questions of a set; raise `SourceError` where it is none."""
    path = folder / "questions.jsonl"
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise SourceError(f"{folder} is no retrieval set: {error}.") from error
    questions = []
    for number, line in enumerate(filter(str.strip, lines), start=1):
        try:
            row = json.loads(line)
            questions.append(
                Question(
                    str(row["id"]),
                    str(row["project"]),
                    str(row["query"]),
                    frozenset(row["relevant"]),
                )
            )
        except (ValueError, KeyError, TypeError) as error:
            raise SourceError(f"{path}, line {number}: {error!r}") from error
    return questions[:limit]


def evaluate(
    folder: Path,
    *,
    profile: str = "default",
    limit: int | None = None,
    keep: bool = False,
    report: Callable[[str], None] = lambda _: None,
) -> Scores:
    """Ingest the set into scratch projects of random names and ask its questions.

    Only the query is passed on. The scratch projects go away, unless `keep`.
    """
    questions = read_questions(folder, limit)
    by_project: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        by_project[question.project].append(question)
    found: list[tuple[Question, list[str], float]] = []
    with filled(folder, by_project, keep=keep, report=report) as projects:
        for name, asked in by_project.items():
            for question in asked:
                started = time.perf_counter()
                answer = search(
                    projects[name],
                    question.query,
                    user=None,
                    limit=max(CUTS),
                    profile=profile,
                )
                took = (time.perf_counter() - started) * 1000
                found.append((question, [r.key for r in answer.results], took))
    return _scores(folder.name, profile, found)


@contextmanager
def filled(
    folder: Path,
    names: Iterable[str],
    *,
    keep: bool = False,
    report: Callable[[str], None] = lambda _: None,
) -> Iterator[dict[str, Project]]:
    """Ingest the projects `names` of a set, each into a scratch project of random name.

    They go away at the end, unless `keep`.
    """
    projects: dict[str, Project] = {}
    try:
        for name in names:
            projects[name] = create_project(f"scratch/{secrets.token_hex(8)}")
            report(f"{folder.name}: reading {name}")
            _fill(projects[name], folder, name)
        yield projects
    finally:
        for project in () if keep else projects.values():
            remove_project(project)


def _fill(project: Project, folder: Path, name: str) -> None:
    documents = folder / "documents"
    if documents.is_dir():
        _read(project, "folder", documents)
        return
    for suffix, kind in KINDS.items():
        if (path := folder / f"{name}{suffix}").exists():
            _read(project, kind, path)
            return
    raise SourceError(f"{folder} has neither documents/ nor {name}.zip or {name}.json.")


def _read(project: Project, kind: str, path: Path) -> None:
    ingest(
        connect_source(project=project, kind=kind, location=path, audience="project")
    )
    embed_backlog(project.pk)
    refresh_communities(project)


def _scores(
    name: str, profile: str, found: Sequence[tuple[Question, list[str], float]]
) -> Scores:
    times = sorted(took for _, _, took in found) or [0.0]
    return Scores(
        set=name,
        profile=profile,
        questions=len(found),
        recall={
            cut: _mean(recall(keys, q.relevant, cut) for q, keys, _ in found)
            for cut in CUTS
        },
        ndcg=_mean(ndcg(keys, q.relevant, 10) for q, keys, _ in found),
        mrr=_mean(reciprocal_rank(keys, q.relevant) for q, keys, _ in found),
        p50_ms=statistics.median(times),
        p95_ms=times[min(len(times) - 1, math.ceil(0.95 * len(times)) - 1)],
    )


def _mean(values: Iterable[float]) -> float:
    collected = list(values)
    return statistics.fmean(collected) if collected else 0.0


def recall(keys: Sequence[str], relevant: frozenset[str], cut: int) -> float:
    """Return the share of `relevant` among the first `cut` keys."""
    return len(relevant & set(keys[:cut])) / len(relevant) if relevant else 0.0


def ndcg(keys: Sequence[str], relevant: frozenset[str], cut: int) -> float:
    """Return the discounted gain of the first `cut` keys against the best order."""
    gained = sum(
        1 / math.log2(place + 1)
        for place, key in enumerate(keys[:cut], start=1)
        if key in relevant
    )
    best = sum(
        1 / math.log2(place + 1) for place in range(1, min(cut, len(relevant)) + 1)
    )
    return gained / best if best else 0.0


def reciprocal_rank(keys: Sequence[str], relevant: frozenset[str]) -> float:
    places = (place for place, key in enumerate(keys, start=1) if key in relevant)
    return 1 / next(places, math.inf)
