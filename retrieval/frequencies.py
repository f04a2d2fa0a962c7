"""How common each word of a project is, counted after ingest."""

from __future__ import annotations

from django.db import connection, transaction

from connections.models import Project
from graph.models import Node
from retrieval import sql
from retrieval.models import Lexeme, LexemeCount

# Rarity barely moves while the project grows by less than this share.
GROWTH = 0.1


def count_lexemes(project: Project, *, always: bool = False) -> bool:
    """Count the project's words anew where it has grown by a tenth; say if it was."""
    nodes = Node.objects.of(project).current().count()
    known = LexemeCount.objects.filter(project=project).first()
    if known and not always and abs(nodes - known.nodes) <= GROWTH * known.nodes:
        return False
    languages = Node.objects.of(project).order_by().values_list("language", flat=True)
    # ts_stat takes a statement as text; the numbers in it are ours.
    vectors = (
        "SELECT search_vector FROM graph_nodes"
        f" WHERE tenant_id = {project.tenant_id:d} AND project_id = {project.pk:d}"
        " AND trashed_at IS NULL"
    )
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [0x6C65_786D, project.pk])
        Lexeme.objects.filter(project=project).delete()
        cursor.execute(sql.COUNT_LEXEMES, {"project": project.pk, "vectors": vectors})
        LexemeCount.objects.update_or_create(
            project=project,
            defaults={"nodes": nodes, "languages": sorted(set(languages.distinct()))},
        )
    return True
