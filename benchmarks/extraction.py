"""Extraction: messages a second by the rules alone, and what it adds to ingest."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from benchmarks.corpus import SEED, MadeUp
from benchmarks.database import read
from benchmarks.report import Table, progress, ratio, size
from connections.records import Failure, Record
from connections.sources.base import Pull, connectors
from graph.copying import execute
from graph.extract import extract, listed
from graph.extraction import extract_texts
from graph.models import Edge, Evidence, Node
from graph.models.node import EXTRACTION
from graph.vocabulary import Use, listed_names

RATE, SHARE = 5000.0, 0.15
# One message in three names something, one in twelve states something.
NAMING, STATING = 0.33, 0.08
STATED = (
    "We decided to use {a} for {b}.",
    "There is a problem with {a}.",
    "The launch is blocked by {a}.",
    "Ann prefers {a} over {b}.",
)
SAID = ("{a} uses {b}.", "Ask about {a}.", "{a} depends on {b} here.", "{a} and {b}.")


@connectors.register("made-up-technical")
class MadeUpTechnical(MadeUp):
    """The made-up workspace, a part of whose messages names technologies."""

    kind: ClassVar[str] = "made-up-technical"

    def pull(self, request: Pull) -> Iterator[Record | Failure]:
        rng = random.Random(f"{SEED}extraction")  # noqa: S311 - repeatable on purpose
        names = [n.name for n in listed_names() if n.use is Use.ALWAYS]
        for item in super().pull(request):
            yield _naming(item, rng, names)


def _naming(
    item: Record | Failure, rng: random.Random, names: list[str]
) -> Record | Failure:
    if isinstance(item, Failure) or item.kind != "message":
        return item
    drawn = rng.random()
    said = STATED if drawn < STATING else SAID if drawn < NAMING else ()
    if not said:
        return item
    # Few names are in most mouths.
    a, b = (names[int(len(names) * rng.random() ** 3)] for _ in range(2))
    text = f"{item.body} {rng.choice(said).format(a=a, b=b)}"
    first, *others = item.nodes
    return replace(item, body=text, nodes=(replace(first, content=text), *others))


def run() -> list[Table]:
    """Measure the rules alone, then the step beside the ingest it follows."""
    count = size()
    name = f"told-{count}"
    pull = MadeUpTechnical().pull(Pull(location=Path("/"), source=name))
    texts = [r.body for r in pull if isinstance(r, Record) and r.kind == "message"]
    listed()
    began = time.perf_counter()
    found = sum(bool(extract(text)) for text in texts)
    alone = len(texts) / (time.perf_counter() - began)

    began = time.perf_counter()
    project, _ = read("bench/told", "made-up-technical", Path("/"), name=name)
    whole = time.perf_counter() - began
    again = _seconds(lambda: extract_texts(project))
    execute("DELETE FROM graph_extracted_texts WHERE project_id = %s", [project.pk])
    execute("DELETE FROM graph_evidence WHERE part LIKE 'text:%%'", [])
    execute("DELETE FROM graph_edges WHERE origin = %s", [EXTRACTION])
    execute("DELETE FROM graph_nodes WHERE origin = %s", [EXTRACTION])
    step = _seconds(lambda: extract_texts(project, progress=_show))

    table = Table("x target", "measure", "Fabric", "target")
    table.add(
        ratio(alone, RATE),
        f"rules alone, {found / count:.0%} of the messages say something",
        f"{alone:,.0f}/s",
        f"{RATE:,.0f}/s",
    )
    without = whole - step
    table.add(
        ratio(SHARE, step / without),
        "share of extraction in an ingest with it, of the ingest without",
        f"{step / without:.1%} ({step:.1f} s of {without:.1f} s)",
        f"{SHARE:.0%}",
    )
    table.add("", "the step again, nothing new", f"{again * 1000:.0f} ms", "")
    of_step = {"origin": EXTRACTION, "project": project}
    table.add("", "(nodes)", f"{Node.objects.filter(**of_step).count():,}", "")
    table.add("", "(edges)", f"{Edge.objects.filter(**of_step).count():,}", "")
    proofs = Evidence.objects.filter(project=project, part__startswith="text:")
    table.add("", "(evidence)", f"{proofs.count():,}", "")
    return [table]


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _show(done: int) -> None:
    progress(f"{done} texts")
