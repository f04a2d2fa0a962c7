"""How common each word of a project is, counted after ingest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connection, transaction

from connections.models import Project
from graph.embed import structure_types
from graph.models import Node
from graph.models.node import EXTRACTION
from retrieval import sql
from retrieval.models import Lexeme, LexemeCount

# Rarity barely moves while the project grows by less than this share.
GROWTH = 0.1
# What is no letter of a language's words, and how many letters are told of one that
# has a sign for each word.
RARE_LETTER, LETTERS = 0.0005, 64


def count_lexemes(project: Project, *, always: bool = False) -> bool:
    """Count the project's words anew where it has grown by a tenth; say if it was."""
    searched = (
        Node.objects.of(project).current().exclude(node_type__in=structure_types())
    )
    nodes = searched.exclude(origin=EXTRACTION).count()
    known = LexemeCount.objects.filter(project=project).first()
    if known and not always and abs(nodes - known.nodes) <= GROWTH * known.nodes:
        return False
    languages = Node.objects.of(project).order_by().values_list("language", flat=True)
    # ts_stat takes a statement as text; the numbers in it are ours.
    of_project = f"tenant_id = {project.tenant_id:d} AND project_id = {project.pk:d}"
    vectors = (
        "SELECT search_vector FROM graph_nodes"  # noqa: S608
        f" WHERE {of_project} AND trashed_at IS NULL AND origin <> '{EXTRACTION}'"
        f" AND node_type <> ALL('{{{','.join(structure_types())}}}')"
    )
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_advisory_xact_lock(%s, %s)", [0x6C65_786D, project.pk]
        )
        Lexeme.objects.filter(project=project).delete()
        cursor.execute(sql.COUNT_LEXEMES, {"project": project.pk, "vectors": vectors})
        cursor.execute(sql.LETTERS, {"project": project.pk})
        LexemeCount.objects.update_or_create(
            project=project,
            defaults={
                "nodes": nodes,
                "languages": sorted(set(languages.distinct())),
                "letters": _alphabet(cursor.fetchall()),
            },
        )
    return True


def _alphabet(counted: Iterable[tuple[str, int]]) -> str:
    """Return the letters that words are written in, the commonest first; one that is
    too seldom is somebody else's."""
    letters = {letter: count for letter, count in counted if letter.isalpha()}
    least = sum(letters.values()) * RARE_LETTER
    common = [letter for letter, count in letters.items() if count >= least]
    return "".join(sorted(common, key=lambda each: (-letters[each], each))[:LETTERS])


def weigh_words(project: Project, question: str) -> dict[str, float]:
    """Return the question's lexemes, each with its idf in the project."""
    with connection.cursor() as cursor:
        cursor.execute(sql.WEIGH_WORDS, {"question": question, **_scope(project)})
        return dict(cursor.fetchall())


def words_of(project: Project, texts: Sequence[str]) -> list[set[str]]:
    """Return the lexemes of each text, as the index has them."""
    with connection.cursor() as cursor:
        cursor.execute(sql.WORDS_OF, {"texts": list(texts), **_scope(project)})
        return [set(row[0] or ()) for row in cursor.fetchall()]


def _scope(project: Project) -> dict[str, Any]:
    return {"project": project.pk, "languages": languages_of(project)}


def languages_of(project: Project) -> list[str]:
    """Return the text-search configurations the project's texts are in."""
    counted = LexemeCount.objects.filter(project=project).first()
    return (counted.languages if counted else None) or [project.language]
