"""The admin of communities: what belongs together, in words, with its members."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.timezone import localtime
from unfold.contrib.filters.admin import RangeDateTimeFilter
from unfold.decorators import display

from connections.admin_scope import ReadOnlyInline, staff
from graph.admin.scope import (
    ProjectFilter,
    VisibleAdmin,
    link,
    link_to,
    project_path,
)
from graph.models import Node
from retrieval.models import Community, CommunityMember, CommunityRun

TYPES_SHOWN = 4


class MemberInline(ReadOnlyInline):
    """The members that the reader may see, the most central first."""

    model = CommunityMember
    fk_name = "community"
    verbose_name_plural = "members"
    fields = ("member", "node_type", "said_at", "centrality_shown", "quoted")

    def get_queryset(self, request: HttpRequest) -> QuerySet[CommunityMember]:
        readable = Node.objects.visible_to(staff(request)).current()
        rows = super().get_queryset(request).filter(node__in=readable)
        return (
            rows.select_related("node")
            .defer(
                "node__embedding",
                "node__search_vector",
                "node__metadata_vector",
                "node__context",
            )
            .order_by("-centrality", "node_id")
        )

    @display(description="node")
    def member(self, row: CommunityMember) -> SafeString:
        return link_to("graph_node_change", row.node_id, str(row.node)[:120])

    @display(description="type")
    def node_type(self, row: CommunityMember) -> str:
        return row.node.node_type

    @display(description="when")
    def said_at(self, row: CommunityMember) -> str:
        said = row.node.occurred_at
        return date_format(localtime(said), "DATETIME_FORMAT") if said else ""

    @display(description="centrality")
    def centrality_shown(self, row: CommunityMember) -> str:
        return f"{row.centrality:.2f}"

    @display(description="source of the text", boolean=True)
    def quoted(self, row: CommunityMember) -> bool:
        return row.is_evidence


@admin.register(Community)
class CommunityAdmin(VisibleAdmin):
    """Communities of audiences the reader is in; all of each may be seen by them."""

    list_display = (
        "name",
        "size",
        "kinds",
        "part",
        project_path,
        "audience",
        "refreshed_at",
    )
    list_filter = (ProjectFilter, ("refreshed_at", RangeDateTimeFilter))
    list_select_related = ("project__tenant", "audience")
    search_fields = ("title",)
    search_help_text = "Words of the title."
    ordering = ("-size", "pk")
    inlines = (MemberInline,)
    fields = (
        "community_key",
        "title",
        "sentences",
        "size",
        "kinds",
        "part",
        "project",
        "audience",
        "found_at",
        "refreshed_at",
        "found_by",
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Community]:
        rows: QuerySet[Community] = super().get_queryset(request)
        return rows.defer("embedding", "lexemes", "title_lexemes")

    @display(description="community")
    def name(self, community: Community) -> str:
        return str(community)

    @display(description="key")
    def community_key(self, community: Community) -> str:
        return community.key

    @display(description="types")
    def kinds(self, community: Community) -> str:
        most = sorted(community.types.items(), key=lambda each: (-each[1], each[0]))
        shown = [f"{number} {name}" for name, number in most[:TYPES_SHOWN]]
        rest = sum(number for _, number in most[TYPES_SHOWN:])
        return ", ".join([*shown, f"{rest} other"] if rest else shown)

    @display(description="share of its audience's nodes", ordering="share")
    def part(self, community: Community) -> str:
        return f"{100 * community.share:.1f} %"

    @display(description="summary")
    def sentences(self, community: Community) -> SafeString | str:
        if not community.title:
            return "Its words changed; they are being gathered anew."
        lines = (
            (
                sentence["text"],
                link(reverse("node", args=[sentence["node_id"]]), "who says so"),
            )
            for sentence in community.summary
        )
        return format_html_join("", "<p>{} · {}</p>", lines)

    @display(description="found by")
    def found_by(self, community: Community) -> SafeString | str:
        run = CommunityRun.objects.filter(
            tenant_id=community.tenant_id, project_id=community.project_id
        ).first()
        if run is None:
            return ""
        return format_html("{}, resolution {}", run.algorithm, run.resolution)
