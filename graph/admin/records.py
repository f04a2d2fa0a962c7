"""The admin of records: what a source said, whole, and what follows from it."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.safestring import SafeString
from unfold.contrib.filters.admin import RangeDateTimeFilter
from unfold.decorators import display

from connections.admin_scope import OwnRelatedFilter, ReadOnlyInline, staff
from graph.admin.scope import (
    GoneFilter,
    ProjectFilter,
    VisibleAdmin,
    link,
    link_to,
    project_path,
)
from graph.models import Edge, Evidence, Node, Record


class AssertedInline(ReadOnlyInline):
    """The nodes and edges that a record is evidence of."""

    model = Evidence
    fields = ("of", "kind", "part", "quote", "weight")
    verbose_name_plural = "what it is evidence of"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Evidence]:
        nodes = Node.objects.visible_to(staff(request)).current()
        edges = Edge.objects.visible_to(staff(request))
        rows = super().get_queryset(request)
        rows = rows.filter(node__in=nodes) | rows.filter(edge__in=edges)
        return rows.select_related("node", "edge").order_by("pk")

    @display(description="of")
    def of(self, evidence: Evidence) -> SafeString:
        if evidence.node:
            return link_to(
                "graph_node_change", evidence.node.pk, str(evidence.node)[:80]
            )
        assert evidence.edge is not None  # noqa: S101 # the table's check constraint
        return link_to(
            "graph_edge_change", evidence.edge.pk, str(evidence.edge.relation)
        )


@admin.register(Record)
class RecordAdmin(VisibleAdmin):
    list_display = (
        "key",
        "source",
        project_path,
        "occurred_at",
        "first_fetched_at",
        "gone_at",
    )
    list_filter = (
        ProjectFilter,
        ("source", OwnRelatedFilter),
        GoneFilter,
        ("first_fetched_at", RangeDateTimeFilter),
    )
    list_select_related = ("source", "project__tenant")
    search_fields = ("key",)
    search_help_text = "How the key begins."
    ordering = ("-id",)
    inlines = (AssertedInline,)
    fields = (
        "key",
        "caused",
        "kind",
        "body",
        "permalink",
        "source",
        "run",
        "project",
        "audience",
        "occurred_at",
        "first_fetched_at",
        "gone_at",
        "moved_to",
        "version",
        "content_hash",
        "raw_sha256",
    )

    @display(description="provenance")
    def caused(self, record: Record) -> SafeString:
        return link(reverse("record_caused", args=[record.pk]), "What this caused")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Record], search_term: str
    ) -> tuple[QuerySet[Record], bool]:
        term = search_term.strip()
        return (queryset.filter(key__startswith=term) if term else queryset), False
