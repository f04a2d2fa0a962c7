"""The admin of nodes: what the sources speak of, each with why it exists."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.contrib.filters.admin import RangeDateTimeFilter
from unfold.decorators import display

from connections.admin_scope import ReadOnlyInline, once, projects_of, staff
from connections.roles import Act, projects_where
from graph.admin.scope import (
    FlaggedFilter,
    GoneFilter,
    ProjectFilter,
    SourceKindFilter,
    TypeFilter,
    VisibleAdmin,
    as_text,
    by_title_or_key,
    link,
    link_to,
    project_path,
)
from graph.models import Evidence, Node, Record


def _out_of_trash(request: HttpRequest) -> Q:
    """Return what hides what was pruned from those who may not put it back."""
    user = staff(request)
    reviewed = projects_where(user, Act.REVIEW).values("pk")
    elsewhere = once(
        request,
        "not reviewed",
        lambda: list(
            projects_of(user).exclude(pk__in=reviewed).values_list("pk", flat=True)
        ),
    )
    # By value, and nothing at all for who reviews everywhere: the list is long.
    return ~Q(project_id__in=elsewhere) | Q(trashed_at=None) if elsewhere else Q()


class EvidenceInline(ReadOnlyInline):
    """Why the row above exists, as far as the reader may see it."""

    model = Evidence
    tab = True
    fields = ("said_by", "source", "kind", "part", "quote", "first_fetched")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Evidence]:
        readable = Record.objects.visible_to(staff(request))
        rows = super().get_queryset(request).filter(record__in=readable)
        return rows.select_related("record__source").order_by("-pk")

    @display(description="record")
    def said_by(self, evidence: Evidence) -> SafeString:
        assert evidence.record is not None  # noqa: S101 # get_queryset keeps these
        return link_to("graph_record_change", evidence.record.pk, evidence.record.key)

    @display(description="source")
    def source(self, evidence: Evidence) -> str:
        return evidence.record.source.name if evidence.record else ""

    @display(description="first fetched")
    def first_fetched(self, evidence: Evidence) -> Any:
        return evidence.record.first_fetched_at if evidence.record else None


class NodeEvidenceInline(EvidenceInline):
    fk_name = "node"


@admin.register(Node)
class NodeAdmin(VisibleAdmin):
    """Nodes as they follow from their records; what is pruned shows here too."""

    list_display = (
        "name",
        "node_type",
        project_path,
        "source_kind",
        "occurred_at",
        "state",
    )
    list_filter = (
        ProjectFilter,
        TypeFilter,
        SourceKindFilter,
        GoneFilter,
        FlaggedFilter,
        ("occurred_at", RangeDateTimeFilter),
    )
    search_fields = ("title", "key")
    search_help_text = "Words of the title, or how the key begins."
    ordering = ("-id",)
    inlines = (NodeEvidenceInline,)
    fieldsets = (
        (
            None,
            {"fields": ("open", "node_type", "title", "content", "context", "tags")},
        ),
        (
            "When",
            {
                "fields": (
                    "occurred_at",
                    "valid_from",
                    "valid_to",
                    "confirmed_at",
                    "last_evidence_at",
                    "gone_at",
                    "trashed_at",
                    "created_at",
                    "updated_at",
                )
            },
        ),
        (
            "From where",
            {
                "fields": (
                    "key",
                    "project",
                    "source_kind",
                    "origin",
                    "audience",
                    "language",
                    "embedding_model",
                    "details",
                )
            },
        ),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Node]:
        rows: QuerySet[Node] = super().get_queryset(request)
        rows = rows.filter(_out_of_trash(request))
        return rows.defer("embedding", "search_vector", "metadata_vector")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Node], search_term: str
    ) -> tuple[QuerySet[Node], bool]:
        return by_title_or_key(request, queryset, search_term), False

    @display(description="node")
    def name(self, node: Node) -> str:
        text = str(node)
        return text if len(text) <= 90 else f"{text[:89]}…"

    @display(
        description="state",
        label={"gone": "warning", "pruned": "danger", "ended": "info"},
    )
    def state(self, node: Node) -> str:
        if node.trashed_at:
            return "pruned"
        if not node.is_current:
            return "ended"
        return "gone" if node.gone_at else ""

    @display(description="page")
    def open(self, node: Node) -> SafeString:
        page = format_html(
            "{} · {}",
            link(reverse("node", args=[node.pk]), "Open its page"),
            link(reverse("node_provenance", args=[node.pk]), "Provenance"),
        )
        graph = link(f"{reverse('graph')}?node={node.pk}", "in the graph")
        if not node.url:
            return format_html("{} · {}", page, graph)
        original = link(node.url, "the original")
        return format_html("{} · {} · {}", page, graph, original)

    @display(description="metadata")
    def details(self, node: Node) -> SafeString:
        return as_text(node.metadata)
