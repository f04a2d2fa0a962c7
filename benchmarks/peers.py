"""What a user would pick instead: LanceDB's hybrid search, and tantivy for the words.

Both hold the rows that the arms see, under the same texts, and filter by project. Each
has the settings its own documentation recommends for a filtered search, English stems
and no stop words; each, PostgreSQL too, may use every core.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import lancedb
import numpy as np
import pyarrow as pa
import tantivy
from lancedb.index import FTS, Bitmap, IvfRq
from lancedb.query import LanceHybridQueryBuilder, LanceVectorQueryBuilder
from lancedb.rerankers import RRFReranker

from benchmarks.database import server
from benchmarks.report import progress
from connections.models import Project

# What search ranks, with the text that the keyword arm sees.
ROWS = """
    SELECT n.key, n.project_id,
           concat_ws(E'\\n', n.context, n.title, n.content), n.embedding::text
      FROM graph_nodes n
     WHERE n.embedding IS NOT NULL AND n.trashed_at IS NULL ORDER BY n.id
"""
BATCH = 5000
TABLE, FINISHED = "nodes", "finished"
# Its documentation's index for filtered searches; refined, for without it the nearest
# ten are half missed (docs/benchmarks.md), and no slower.
REFINED = 10
HEAP = 256 << 20  # bytes that tantivy collects before it writes a segment
_WORDS = re.compile(r"\w+")

Rows = list[tuple[str, int, str, str]]
Asked = Callable[[str, np.ndarray], list[str]]  # question and vector to keys


@dataclass(frozen=True, slots=True)
class Peers:
    """Searches of one project, each to at most `limit` keys."""

    hybrid: Asked
    vector: Asked
    lance_words: Asked
    words: Asked


def peers(folder: Path, project: Project, limit: int) -> Peers:
    """Return the peers' searches, after indexing the database where `folder` is new."""
    if not (folder / FINISHED).exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        _index(folder)
        (folder / FINISHED).touch()
    table = lancedb.connect(folder / "lance").open_table(TABLE)
    index = tantivy.Index.open(str(folder / "tantivy"))
    _use_stems(index)
    return Peers(
        _hybrid(table, project, limit),
        _vector(table, project, limit),
        _lance_words(table, project, limit),
        _tantivy_words(index, project, limit),
    )


def as_array(vector: str) -> np.ndarray:
    """Return a vector from the text that PostgreSQL reads."""
    return np.fromstring(vector[1:-1], dtype=np.float32, sep=",")


def _index(folder: Path) -> None:
    schema = tantivy.SchemaBuilder()
    schema.add_text_field(
        "key", stored=True, tokenizer_name="raw", index_option="basic"
    )
    schema.add_unsigned_field("project", indexed=True)
    schema.add_text_field("text", tokenizer_name="stems", index_option="freq")
    (folder / "tantivy").mkdir()
    index = tantivy.Index(schema.build(), str(folder / "tantivy"))
    _use_stems(index)
    writer = index.writer(HEAP)
    table = None
    for number, rows in enumerate(_rows()):
        progress(f"peers: {number * BATCH:,} rows")
        for key, project, text, _ in rows:
            document = tantivy.Document(key=key, text=text)
            document.add_unsigned("project", project)
            writer.add_document(document)
        batch = _as_arrow(rows)
        if table is None:
            table = lancedb.connect(folder / "lance").create_table(TABLE, batch)
        else:
            table.add(batch)
    writer.commit()
    writer.wait_merging_threads()
    assert table is not None
    progress("peers: indexes")
    table.optimize()
    table.create_index("vector", config=IvfRq(distance_type="cosine"))
    table.create_index("text", config=FTS())
    table.create_index("project", config=Bitmap())


def _rows() -> Iterator[Rows]:
    with server() as reader, reader.transaction(), reader.cursor("peers") as cursor:
        cursor.execute(ROWS)
        while rows := cursor.fetchmany(BATCH):
            yield rows


def _as_arrow(rows: Rows) -> pa.Table:
    keys, projects, texts, vectors = zip(*rows, strict=True)
    flat = np.concatenate([as_array(vector) for vector in vectors])
    return pa.table(
        {
            "key": list(keys),
            "project": list(projects),
            "text": list(texts),
            "vector": pa.FixedSizeListArray.from_arrays(
                pa.array(flat), len(flat) // len(rows)
            ),
        }
    )


def _hybrid(table: lancedb.table.Table, project: Project, limit: int) -> Asked:
    fusing = RRFReranker()

    def ask(question: str, vector: np.ndarray) -> list[str]:
        found = (
            cast(
                LanceHybridQueryBuilder,
                table.search(query_type="hybrid", fts_columns="text"),
            )
            .vector(vector)
            .text(question)
            .where(f"project = {project.pk:d}", prefilter=True)
            .distance_type("cosine")
            .refine_factor(REFINED)
            .rerank(fusing)
            .select(["key"])
            .limit(limit)
        )
        return found.to_arrow()["key"].to_pylist()

    return ask


def _vector(table: lancedb.table.Table, project: Project, limit: int) -> Asked:
    def ask(question: str, vector: np.ndarray) -> list[str]:
        found = (
            cast(LanceVectorQueryBuilder, table.search(vector, query_type="vector"))
            .where(f"project = {project.pk:d}", prefilter=True)
            .distance_type("cosine")
            .refine_factor(REFINED)
            .select(["key", "_distance"])
            .limit(limit)
        )
        return found.to_arrow()["key"].to_pylist()

    return ask


def _lance_words(table: lancedb.table.Table, project: Project, limit: int) -> Asked:
    def ask(question: str, vector: np.ndarray) -> list[str]:
        found = (
            table.search(question, query_type="fts", fts_columns="text")
            .where(f"project = {project.pk:d}", prefilter=True)
            .select(["key", "_score"])
            .limit(limit)
        )
        return found.to_arrow()["key"].to_pylist()

    return ask


def _use_stems(index: tantivy.Index) -> None:
    stems = (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
        .filter(tantivy.Filter.lowercase())
        .filter(tantivy.Filter.stopword("english"))
        .filter(tantivy.Filter.stemmer("english"))
        .build()
    )
    index.register_tokenizer("stems", stems)


def _tantivy_words(index: tantivy.Index, project: Project, limit: int) -> Asked:
    index.reload()
    searcher = index.searcher()
    of_project = tantivy.Query.term_query(index.schema, "project", project.pk)
    # The filter may not add to the score.
    within = tantivy.Query.const_score_query(of_project, 0.0)
    must = tantivy.Occur.Must

    def ask(question: str, vector: np.ndarray) -> list[str]:
        words = " ".join(_WORDS.findall(question.lower()))
        query = tantivy.Query.boolean_query(
            [(must, within), (must, index.parse_query(words, ["text"]))]
        )
        hits = searcher.search(query, limit, count=False).hits
        return [searcher.doc(address)["key"][0] for _, address in hits]

    return ask
