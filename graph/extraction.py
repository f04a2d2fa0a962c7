"""What texts say of names, decisions and the like, in the graph: one derived step.

Each text is read once for its words, by the rules and, where a model has answered for
these words, by what of its answer holds. A text that changed loses what it no longer
says; what has no evidence left ends. Killed anywhere and run again, it goes on; run
twice, it writes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from connections import entities  # noqa: F401 - registers node types and relations
from connections.models import Project
from graph import extraction_sql
from graph.audiences import Audiences
from graph.claims import CLAIM_TYPES
from graph.copying import copy_rows, execute, fetch
from graph.edges import GraphScope
from graph.embed import structure_types
from graph.extract import (
    RULES_VERSION,
    Extraction,
    extract,
    extract_names,
    vocabulary_with,
)
from graph.extraction_proofs import Text
from graph.extraction_settings import asked_model
from graph.extraction_writer import ExtractionWriter
from graph.locks import lock_project
from graph.models.node import EXTRACTION, MEMORY
from graph.proposals import accept
from graph.same_names import merge_same_names
from graph.vocabulary import NAME_TYPES, Name, Vocabulary

CHUNK = 2000
EXTRACTED_TYPES = sorted(NAME_TYPES | CLAIM_TYPES)
# Names of tables and columns say nothing of decisions, and a model costs for each.
SCHEMA_TYPES = ("db_column", "db_table")
# An own name is one that people, agents or a source gave; a longer one is a sentence.
NOT_OWN = [EXTRACTION, MEMORY]
MOST_WORDS, FEWEST_CHARACTERS = 5, 3
TEXT_COLUMNS = (
    "tenant_id",
    "project_id",
    "node_id",
    "record_id",
    "audience_id",
    "words",
    "extractor",
)


@dataclass(frozen=True, slots=True)
class Reader:
    """How the texts of a project are read: its names, and who is asked besides."""

    vocabulary: Vocabulary
    own: dict[tuple[str, str], str]
    asked: str

    @property
    def rules(self) -> str:
        return f"rules-{RULES_VERSION}-{self.vocabulary.fingerprint}"

    @property
    def both(self) -> str:
        return f"{self.rules}+{self.asked}"

    def read(self, text: Text, proposed: str | None) -> Extraction:
        """Return what `text` says; of its title only the names."""
        found = extract(text.content, self.vocabulary)
        if text.title:
            for entity in extract_names(text.title, self.vocabulary).entities:
                found.entities.setdefault(entity, None)
        if proposed is not None:
            accept(json.loads(proposed), text.content, found)
        return found


def extract_texts(
    project: Project, *, progress: Callable[[int], None] | None = None
) -> int:
    """Write what the texts of `project` say that were not read yet; return how many."""
    scope = GraphScope(project, Audiences(project), timezone.now())
    reader = reader_of(project)
    with transaction.atomic():
        lock_project(project)
        _forget(scope)
    params = _params(scope, reader)
    waiting = [row[0] for row in fetch(extraction_sql.UNREAD, params)]
    for start in range(0, len(waiting), CHUNK):
        _read_some(scope, reader, params | {"ids": waiting[start : start + CHUNK]})
        if progress:
            progress(min(start + CHUNK, len(waiting)))
    if waiting:
        merge_same_names(project)
    return len(waiting)


def reader_of(project: Project) -> Reader:
    """Return how the texts of `project` are read now."""
    key = [project.tenant_id, project.pk]
    names: list[Name] = []
    own: dict[tuple[str, str], str] = {}
    for node_key, kind, title in fetch(
        extraction_sql.OWN_NAMES, [*key, sorted(NAME_TYPES), NOT_OWN]
    ):
        name = title or node_key.rpartition(":")[2]
        if len(name) >= FEWEST_CHARACTERS and len(name.split()) <= MOST_WORDS:
            names.append(Name(name, kind))
            own.setdefault((kind, name), node_key)
    return Reader(vocabulary_with(names), own, asked_model())


def _params(scope: GraphScope, reader: Reader) -> dict[str, Any]:
    return {
        "tenant": scope.key[0],
        "project": scope.key[1],
        "untold": [*structure_types(), *EXTRACTED_TYPES, *SCHEMA_TYPES],
        "asked": reader.asked,
        "rules": reader.rules,
        "both": reader.both,
    }


def _read_some(scope: GraphScope, reader: Reader, params: dict[str, Any]) -> None:
    """Read the texts that are still unread, and write what they say, all or nothing."""
    with transaction.atomic():
        lock_project(scope.project)
        texts, answers = [], []
        for *values, proposed in fetch(extraction_sql.UNREAD_TEXTS, params):
            texts.append(Text(*values))
            answers.append(proposed)
        found = [
            reader.read(text, proposed)
            for text, proposed in zip(texts, answers, strict=True)
        ]
        ExtractionWriter(scope, reader.own).write(texts, found)
        extractors = [reader.rules if a is None else reader.both for a in answers]
        _remember(scope, texts, extractors)


def _remember(
    scope: GraphScope, texts: Sequence[Text], extractors: Sequence[str]
) -> None:
    rows = [
        (t.node_id, t.record_id, t.audience_id, t.words, by)
        for t, by in zip(texts, extractors, strict=True)
    ]
    is_new = [text.was_record is None for text in texts]
    new = [row for row, fresh in zip(rows, is_new, strict=True) if fresh]
    copy_rows(
        "graph_extracted_texts", TEXT_COLUMNS, ((*scope.key, *row) for row in new)
    )
    if old := [row for row, fresh in zip(rows, is_new, strict=True) if not fresh]:
        columns = [list(column) for column in zip(*old, strict=True)]
        execute(extraction_sql.REMEMBER, [*columns, *scope.key])


def _forget(scope: GraphScope) -> None:
    """Take back what texts said that are gone, and end what lost its records."""
    vanished = fetch(extraction_sql.VANISHED_TEXTS, scope.key)
    if vanished:
        writer = ExtractionWriter(scope, {})
        writer.take_back([(key, record) for _, key, record in vanished])
        execute(
            "DELETE FROM graph_extracted_texts WHERE id = ANY(%s)",
            [[row[0] for row in vanished]],
        )
    execute(extraction_sql.END_BARE_EDGES, scope.key)
    execute(extraction_sql.END_BARE_NODES, [*scope.key, EXTRACTED_TYPES])
    execute(extraction_sql.FORGET_ANSWERS, scope.key)
