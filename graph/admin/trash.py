"""The trash: what was pruned, by whom and why, until when it can be put back."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import Count, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.views.decorators.http import require_POST
from unfold.decorators import display

from connections.admin_scope import ReadOnlyAdmin, staff
from connections.refusals import Refused
from connections.roles import Act, must_somewhere
from graph.admin.review_queue import with_nodes
from graph.admin.scope import ProjectFilter
from graph.explanations import named
from graph.models import Trashed
from graph.review.pruning import restore
from graph.review.reading import trash_of

TRASH = "admin:graph_trashed_changelist"
WITHHELD = "(closed to you)"


@admin.register(Trashed)
class TrashedAdmin(ReadOnlyAdmin):
    """Nothing here can be deleted before its day; until then it is put back."""

    project_path = "project"
    view_act = Act.REVIEW
    list_display = (
        "what",
        "sort",
        "along",
        project_path,
        "who",
        "pruned_on",
        "reason",
        "gone_on",
        "back",
    )
    list_display_links = None
    list_filter = (ProjectFilter,)
    list_select_related = ("project__tenant", "trashed_by")
    sortable_by = ()
    ordering = ("-trashed_at", "-pk")
    actions = ("put_back",)
    change_list_template = "admin/review/trash.html"
    fields = ("what", "sort", "along", "project", "who", "reason", "gone_on")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Trashed]:
        user = staff(request)
        others = Trashed.objects.filter(
            tenant_id=OuterRef("tenant_id"),
            project_id=OuterRef("project_id"),
            chosen=OuterRef("chosen"),
        ).exclude(node_id=OuterRef("chosen"))
        number = others.order_by().values("chosen").annotate(n=Count("pk")).values("n")
        rows = trash_of(user).annotate(
            with_it=Coalesce(Subquery(number, output_field=IntegerField()), 0)
        )
        return with_nodes(rows, user)

    def has_restore_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(require_POST(self.restore_view))
        own = path("<int:pk>/restore/", view, name="graph_trashed_restore")
        return [own, *super().get_urls()]

    def restore_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Put one back with all that went along."""
        must_somewhere(staff(request), Act.REVIEW)
        row = self.get_queryset(request).filter(pk=pk).first()
        if row is None:
            raise Http404("There is nothing of that id in the trash.")
        self._restore(request, [row])
        return redirect(TRASH)

    @admin.action(description="Put back", permissions=["restore"])
    def put_back(self, request: HttpRequest, queryset: QuerySet[Trashed]) -> None:
        self._restore(request, list(queryset.select_related("project__tenant")))

    def _restore(self, request: HttpRequest, rows: list[Trashed]) -> None:
        """Put each back, whole; what is refused says why, and the others go on."""
        back = 0
        for row in rows:
            try:
                back += len(restore(row.project, [row.chosen], by=staff(request)))
            except Refused as error:
                self.message_user(request, str(error), messages.ERROR)
        if back:
            nodes = f"{back} node{'s' * (back != 1)}"
            self.message_user(request, f"Put back: {nodes}.", messages.SUCCESS)

    @display(description="what")
    def what(self, row: Trashed) -> str:
        return named(row.node) if row.node else WITHHELD

    @display(description="type")
    def sort(self, row: Trashed) -> str:
        return row.node.node_type.replace("_", " ") if row.node else ""

    @display(description="with it")
    def along(self, row: Any) -> str:
        return f"{row.with_it:,} more" if row.with_it else "-"

    @display(description="by")
    def who(self, row: Trashed) -> str:
        return str(row.trashed_by or "somebody who is gone")

    @display(description="pruned")
    def pruned_on(self, row: Trashed) -> str:
        return f"{timezone.localtime(row.trashed_at):%d\u00a0%b\u00a0%Y}"

    @display(description="gone on")
    def gone_on(self, row: Trashed) -> str:
        return f"{timezone.localtime(row.purge_at):%d\u00a0%b\u00a0%Y}"

    @display(description="")
    def back(self, row: Trashed) -> SafeString:
        """A button of the list's form, sent to an address of its own."""
        return format_html(
            '<button class="rv-button" type="submit" formaction="{}" '
            'aria-label="Put back {}">Put back</button>',
            reverse("admin:graph_trashed_restore", args=[row.pk]),
            self.what(row),
        )
