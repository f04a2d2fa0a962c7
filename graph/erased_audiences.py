"""Audiences that nothing is shown to any more, gone with their lists of people."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from django.db.models import Exists, ForeignKey, OuterRef, QuerySet

from connections.models import Audience, AudienceMember, Project
from graph.copying import execute
from graph.erasing_sql import DETAILS_OF_TARGETS


def forget_audiences(
    project: Project, candidates: Collection[int], source: str = ""
) -> int:
    """Delete those of `candidates`, and of what is combined of them, that nothing is
    shown to; return how many. The public one and those of one user stay."""
    own = Audience.objects.filter(tenant_id=project.tenant_id, project=project)
    first = set(candidates)
    if source:
        first |= set(own.filter(key=f"source:{source}").values_list("pk", flat=True))
    combined = set(own.filter(parts__in=first).values_list("pk", flat=True))
    gone = 0
    # What is combined first: it holds its parts.
    for some in (combined, first):
        unused = _unused(own.filter(pk__in=some))
        gone += len(unused)
        # Who came into a list and left it is said there by their addresses.
        execute(
            DETAILS_OF_TARGETS,
            {
                "tenant": project.tenant_id,
                "project": project.pk,
                "targets": [f"audience:{pk}" for pk in unused],
            },
        )
        Audience.parts.through.objects.filter(from_audience_id__in=unused).delete()
        own.filter(pk__in=unused).delete()
    return gone


def _unused(rows: QuerySet[Audience]) -> list[int]:
    rows = rows.exclude(kind=Audience.Kind.PUBLIC).exclude(key__startswith="user:")
    for column in _columns():
        used = column.model._base_manager.filter(**{column.name: OuterRef("pk")})
        rows = rows.exclude(Exists(used))
    return list(rows.values_list("pk", flat=True))


def _columns() -> Iterator[ForeignKey]:
    """Yield every foreign key that keeps an audience: all but its own lists."""
    own = {AudienceMember}
    for relation in Audience._meta.get_fields(include_hidden=True):
        column = getattr(relation, "field", None)
        if not isinstance(column, ForeignKey) or column.related_model is not Audience:
            continue
        if column.model not in own and column.name != "from_audience":
            yield column
