"""The offline translator on questions that others wrote, with rows that are right."""

from __future__ import annotations

import csv
import json
import os
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any

from benchmarks.foreign import Foreign, opened
from benchmarks.report import Table, percentile, progress, real_data, warn
from benchmarks.same_rows import expanded, same_rows
from connections.databases.base import Schema
from memory.sql.translator import Declined, Translation, translate
from memory.sql.translator.building import Builder
from memory.sql.translator.lexicon import Lexicon
from memory.sql.translator.linking import link
from tests.targets import mariadb_server, postgres_server

# Rules and threshold were made looking at these databases only.
DEVELOPED_ON = range(ord("a"), ord("n"))
DEFOG_DEVELOPED_ON = ("academic", "advising", "atis")
DEFOG_FILES = ("questions_gen", "instruct_basic", "instruct_advanced")
VERDICTS = ("right", "wrong", "declined")
Answer = Callable[[str, Schema], Translation | Declined | str]


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the database it is asked of, and statements or rows that are right.

    Without either, no answer is right.
    """

    set: str
    database: str
    text: str
    gold: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] | None = None
    ordered: bool = False

    @property
    def part(self) -> str:
        if self.set.startswith("defog"):
            seen = self.database in DEFOG_DEVELOPED_ON
        else:
            seen = ord(self.database[0]) in DEVELOPED_ON
        return "development" if seen else "held out"


def run() -> list[Table]:
    """Ask every question of the sets, on PostgreSQL and, of spider, on MariaDB."""
    questions = [*_spider("spider_en"), *_spider("spider_de"), *_defog(), *_idk()]
    counts: dict[tuple[str, str, str, str], Counter[str]] = defaultdict(Counter)
    took: list[float] = []
    with postgres_server() as target, opened(target) as foreign:
        _ask_all(questions, foreign, "PostgreSQL", counts, took)
    some = [question for question in questions if question.set.startswith("spider")]
    with mariadb_server() as target, opened(target) as foreign:
        _ask_all(some, foreign, "MariaDB", counts, took)
    return [_accuracy(counts), _times(took)]


def _spider(name: str) -> Iterator[Question]:
    path = real_data("nl2sql", name, "questions.jsonl")
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield Question(
            name,
            row["db_id"],
            row["question"],
            rows=tuple(tuple(cells) for cells in row["expected_rows"]),
            ordered=row["ordered"],
        )


def _defog() -> Iterator[Question]:
    for file in DEFOG_FILES:
        path = real_data("nl2sql", "defog", f"{file}_postgres.csv")
        with path.open(encoding="utf-8", newline="") as lines:
            for row in csv.DictReader(lines):
                gold = tuple(expanded(row["query"]))
                yield Question("defog", row["db_name"], row["question"], gold)


def _idk() -> Iterator[Question]:
    path = real_data("nl2sql", "defog", "idk.csv")
    with path.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            yield Question("defog unanswerable", row["db_name"], row["question"])


def _ask_all(
    questions: Iterable[Question],
    foreign: Foreign,
    engine: str,
    counts: dict[tuple[str, str, str, str], Counter[str]],
    took: list[float],
) -> None:
    by_database: dict[tuple[str, str], list[Question]] = defaultdict(list)
    for question in questions:
        folder = question.set.split(" ")[0]
        by_database[folder, question.database].append(question)
    dialect = "postgres" if foreign.flavour == "postgres" else "mysql"
    for (folder, name), some in by_database.items():
        progress(f"{engine} {folder} {name}")
        schema = foreign.load(real_data("nl2sql", folder, dialect, f"{name}.sql"))
        for question in some:
            for who, answer in (("Fabric", _ours(took)), ("baseline", naive)):
                verdict = _verdict(question, foreign, schema, answer)
                counts[question.set, engine, question.part, who][verdict] += 1


def _ours(took: list[float]) -> Answer:
    def answer(text: str, schema: Schema) -> Translation | Declined:
        started = time.perf_counter()
        found = translate(text, schema, today=date.today())
        took.append((time.perf_counter() - started) * 1000)
        return found

    return answer


def naive(text: str, schema: Schema) -> str | Declined:
    """Return all columns of the table named first, whatever is asked."""
    items, _, _ = link(text, Lexicon(schema), today=date.today())
    named = [item.tables[0][0] for item in items if item.tables]
    if not named:
        return Declined("No table is named.")
    return Builder.everything(named[0], schema).sql(dialect=schema.dialect)


def _verdict(
    question: Question, foreign: Foreign, schema: Schema, answer: Answer
) -> str:
    found = answer(question.text, schema)
    if isinstance(found, Declined):
        _tell(question, "declined", found.reason)
        return "declined"
    sql = found if isinstance(found, str) else found.sql
    rows = foreign.rows(sql)
    verdict = "wrong"
    if rows is not None and any(
        same_rows(rows, gold, ordered=question.ordered)
        for gold in _gold(question, foreign)
    ):
        verdict = "right"
    if not isinstance(found, str):
        _tell(question, verdict, f"{found.confidence} {sql}")
    return verdict


def _gold(question: Question, foreign: Foreign) -> Iterator[Iterable[tuple[Any, ...]]]:
    if question.rows is not None:
        yield question.rows
    for statement in question.gold:
        rows = foreign.rows(statement)
        if rows is not None:
            yield rows


def _tell(question: Question, verdict: str, what: str) -> None:
    """Say on stderr what became of a question seen in development, where asked to."""
    if os.environ.get("FABRIC_BENCH_TELL") and question.part == "development":
        warn(f"{verdict}\t{question.set}\t{question.database}\t{question.text}\t{what}")


def _accuracy(counts: dict[tuple[str, str, str, str], Counter[str]]) -> Table:
    table = Table(
        "set", "engine", "part", "translator", "questions", *VERDICTS,
        caption="Execution accuracy: the same rows, as often; columns in any order.",
    )  # fmt: skip
    for (name, engine, part, who), counted in sorted(counts.items()):
        total = counted.total()
        cells = [f"{counted[v]} ({counted[v] / total:.0%})" for v in VERDICTS]
        table.add(name, engine, part, who, total, *cells)
    return table


def _times(took: list[float]) -> Table:
    table = Table("one question read", "p50", "p95", "slowest")
    shares = [percentile(took, share) for share in (0.5, 0.95, 1.0)]
    table.add("ms", *(f"{value:.1f}" for value in shares))
    return table
