"""The admin of vectors: which models made them, how far a change is, what is refused."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString
from unfold.decorators import display

from connections.admin_scope import ReadOnlyAdmin, projects_of, staff
from graph.admin.scope import ProjectFilter, link_to, project_path
from graph.embed import backlog
from graph.models import EmbeddingModel, Node, RefusedText


@admin.register(EmbeddingModel)
class EmbeddingModelAdmin(ReadOnlyAdmin):
    """Models of vectors; `manage.py reembed` changes to another."""

    list_display = (
        "name",
        "provider",
        "dimensions",
        "storage",
        "index",
        "state",
        "progress_text",
        "refused",
    )
    ordering = ("-is_active", "-filling_since", "name")
    fields = (
        "provider",
        "name",
        "dimensions",
        "storage",
        "index",
        "m",
        "ef_construction",
        "lists",
        "probes",
        "state",
        "filling_since",
        "progress_text",
        "error",
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[EmbeddingModel]:
        rows: QuerySet[EmbeddingModel] = super().get_queryset(request)
        mine = Q(refused__project__in=projects_of(staff(request)))
        return rows.annotate(refusals=Count("refused", filter=mine))

    @display(
        description="state",
        label={"active": "success", "filling": "info", "stopped": "danger"},
    )
    def state(self, model: EmbeddingModel) -> str:
        if model.is_active:
            return "active"
        if model.filling_since is None:
            return ""
        return "stopped" if model.error else "filling"

    @display(description="progress")
    def progress_text(self, model: EmbeddingModel) -> str:
        if model.is_active:
            waiting = backlog()
            return f"{waiting:,} nodes wait" if waiting else "all nodes"
        return model.progress

    @display(description="refused", ordering="refusals")
    def refused(self, model: Any) -> int:
        return int(model.refusals)


@admin.register(RefusedText)
class RefusedTextAdmin(ReadOnlyAdmin):
    """Texts without a vector, and why; those of nodes that the reader may see."""

    list_display = ("said_by", "model", "reason", project_path, "refused_at")
    list_filter = (ProjectFilter,)
    list_select_related = ("node", "model", "project__tenant")
    ordering = ("-id",)
    fields = ("said_by", "model", "reason", "project", "refused_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[RefusedText]:
        readable = Node.objects.visible_to(staff(request))
        rows: QuerySet[RefusedText] = super().get_queryset(request)
        return rows.filter(node__in=readable)

    @display(description="node")
    def said_by(self, refused: RefusedText) -> SafeString:
        return link_to("graph_node_change", refused.node_id, str(refused.node))
