"""The admin of edges: who said what to whom, and why it is held to be so."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString
from unfold.contrib.filters.admin import RangeDateTimeFilter
from unfold.decorators import display

from connections.admin_scope import staff
from graph.admin.nodes import EvidenceInline
from graph.admin.scope import (
    ProjectFilter,
    RelationFilter,
    VisibleAdmin,
    by_title_or_key,
    link_to,
    project_path,
)
from graph.models import Edge, Node

# A word that half the nodes have would join half the edges.
ENDS_SOUGHT = 200


class EdgeEvidenceInline(EvidenceInline):
    fk_name = "edge"


@admin.register(Edge)
class EdgeAdmin(VisibleAdmin):
    """Edges both of whose ends the reader may see."""

    list_display = (
        "from_node",
        "relation",
        "to_node",
        project_path,
        "weight",
        "occurred_at",
        "valid_to",
    )
    list_filter = (
        ProjectFilter,
        RelationFilter,
        ("occurred_at", RangeDateTimeFilter),
        ("valid_to", RangeDateTimeFilter),
    )
    list_select_related = ("source", "target", "project__tenant")
    list_display_links = ("relation",)
    search_fields = ("source__title", "target__title")
    search_help_text = (
        "Words of the title of either end, or how its key begins: edges of the "
        f"{ENDS_SOUGHT} newest nodes found."
    )
    ordering = ("-id",)
    inlines = (EdgeEvidenceInline,)
    fields = (
        "from_node",
        "relation",
        "to_node",
        "weight",
        "position",
        "scope",
        "occurred_at",
        "valid_from",
        "valid_to",
        "origin",
        "project",
        "audience",
        "created_at",
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Edge]:
        rows: QuerySet[Edge] = super().get_queryset(request)
        return rows.defer(
            "source__embedding",
            "source__search_vector",
            "source__context",
            "target__embedding",
            "target__search_vector",
            "target__context",
        )

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Edge], search_term: str
    ) -> tuple[QuerySet[Edge], bool]:
        if not search_term.strip():
            return queryset, False
        nodes = Node.objects.visible_to(staff(request)).current()
        found = by_title_or_key(request, nodes, search_term).order_by("-pk")
        ends = list(found.values_list("pk", flat=True)[:ENDS_SOUGHT])
        return queryset.filter(Q(source__in=ends) | Q(target__in=ends)), False

    @display(description="from")
    def from_node(self, edge: Edge) -> SafeString:
        return link_to("graph_node_change", edge.source_id, str(edge.source)[:80])

    @display(description="to")
    def to_node(self, edge: Edge) -> SafeString:
        return link_to("graph_node_change", edge.target_id, str(edge.target)[:80])
