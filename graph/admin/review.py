"""The admin's list of the review queue, and the addresses of its pages."""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib import admin
from django.core.paginator import Page
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import URLPattern, path
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.views.decorators.http import require_POST
from unfold.contrib.filters.admin import DropdownFilter
from unfold.decorators import display

from connections.admin_scope import BoundedPaginator, ReadOnlyAdmin, staff
from connections.roles import Act, must_somewhere, projects_where
from graph.admin import review_item
from graph.admin.review_bulk import ask_bulk, decide_bulk, undo_bulk
from graph.admin.review_done import done_of
from graph.admin.review_queue import ANY, ME, Asked, left_of, with_nodes
from graph.admin.scope import ProjectFilter
from graph.explanations import named
from graph.models import ReviewItem
from graph.review.deciding import BULK_MOST
from graph.review.kinds import Verb, review_kinds
from graph.review.reading import COUNTED_MOST, ORDERS, queue_of, sizes_of

ORDER_NAMES = {
    "newest": "Newest first",
    "oldest": "Oldest first",
    "use": "Most used first",
}
State = ReviewItem.State


class KindFilter(DropdownFilter):
    title, parameter_name = "kind", "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(name, kind.title) for name, kind in review_kinds.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(kind=self.value()) if self.value() else queryset


class StateFilter(DropdownFilter):
    title, parameter_name = "state", "state"
    all_option = ("", "Open")

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        others = [each for each in State if each != State.OPEN]
        named_ones = [(each.value, each.label.capitalize()) for each in others]
        return [*named_ones, (ANY, "Any")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        wanted = self.value() or State.OPEN
        return queryset if wanted == ANY else queryset.filter(state=wanted)


class AssignedFilter(DropdownFilter):
    title, parameter_name = "assigned", "assigned"
    all_option = ("", "To anybody or nobody")

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(ME, "To me")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        mine = queryset.filter(assigned_to=staff(request))
        return mine if self.value() == ME else queryset


class OrderFilter(DropdownFilter):
    """Keeps every row; `get_ordering` puts them in the order."""

    title, parameter_name = "order", "order"
    all_option = ("", "Most urgent first")

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return list(ORDER_NAMES.items())

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset


class QueuePaginator(BoundedPaginator):
    """Pages whose items are found by themselves, by an index, and only then read whole:
    sorted with all that is joined to them, a page takes a tenth of a second longer."""

    def page(self, number: Any) -> Page:
        number = self.validate_number(number)
        rows = self.object_list
        if not isinstance(rows, QuerySet):
            return super().page(number)
        bottom = (number - 1) * self.per_page
        narrow = rows.select_related(None).prefetch_related(None)
        found = narrow.values_list("pk", flat=True)[bottom : bottom + self.per_page]
        return Page(rows.filter(pk__in=list(found)), number, self)


@admin.register(ReviewItem)
class ReviewItemAdmin(ReadOnlyAdmin):
    """What waits for a decision of the reader's, and each item on a page of its own."""

    paginator = QueuePaginator
    project_path = "project"
    view_act = Act.REVIEW
    list_display = ("about", "sort", "aged", "uses", project_path, "whose", "status")
    list_display_links = ("about",)
    list_filter = (
        KindFilter,
        StateFilter,
        ProjectFilter,
        AssignedFilter,
        OrderFilter,
    )
    list_filter_sheet = False
    list_select_related = ("project__tenant", "assigned_to", "held_by")
    sortable_by = ()
    actions = ("keep_them", "prune_them", "snooze_them", "assign_them")
    change_list_template = "admin/review/queue.html"

    def get_list_display(self, request: HttpRequest) -> tuple[str, ...]:
        """Leave out the columns that would say the same in every row."""
        same = set()
        if not request.GET.get("state"):
            same.add("status")
        if projects_where(staff(request), Act.REVIEW).count() < 2:
            same.add(self.project_path)
        return tuple(name for name in self.list_display if name not in same)

    def get_queryset(self, request: HttpRequest) -> QuerySet[ReviewItem]:
        return with_nodes(queue_of(staff(request), state=""), staff(request))

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:
        return ORDERS[Asked.of(request.GET.dict()).order]

    def has_decide_permission(self, request: HttpRequest) -> bool:
        """Whoever sees the queue decides it; each item asks again."""
        return self.has_view_permission(request)

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        self._check(request)
        user = staff(request)
        done = done_of(request, user)
        # What was just done is no filter of the list.
        kept = request.GET.copy()
        for name in ("done", "batch"):
            kept.pop(name, None)
        request.GET = kept  # type: ignore[assignment] # the one that can be changed
        asked = Asked.of(request.GET.dict())
        more = {
            "title": "Review",
            "asked": asked,
            "left": left_of(asked, user),
            "sizes": [size for size in sizes_of(user) if size.open or size.snoozed],
            "counted_most": COUNTED_MOST,
            "done": done,
            "keys": review_item.KEYS_OF_LIST,
        }
        return super().changelist_view(request, {**more, **(extra_context or {})})

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Return the item's own page; a decision is sent to an address of its own."""
        self._check(request)
        if not object_id.isascii() or not object_id.isdigit() or len(object_id) > 18:
            raise Http404("There is no such item.")
        return review_item.item_page(self, request, int(object_id))

    def get_urls(self) -> list[URLPattern]:
        own = [
            path("bulk/", self._post(self.bulk_view), name="graph_reviewitem_bulk"),
            path(
                "<int:pk>/decide/",
                self._post(self.decide_view),
                name="graph_reviewitem_decide",
            ),
            path(
                "<int:pk>/leave/",
                self._post(self.leave_view),
                name="graph_reviewitem_leave",
            ),
            path(
                "decisions/<int:decision>/undo/",
                self._post(self.undo_view),
                name="graph_reviewitem_undo",
            ),
            path(
                "batches/<uuid:batch>/undo/",
                self._post(self.undo_all_view),
                name="graph_reviewitem_undo_all",
            ),
        ]
        return [*own, *super().get_urls()]

    def _post(self, view: Any) -> Any:
        return self.admin_site.admin_view(require_POST(view))

    def _check(self, request: HttpRequest) -> None:
        must_somewhere(staff(request), Act.REVIEW)

    def bulk_view(self, request: HttpRequest) -> HttpResponse:
        self._check(request)
        return decide_bulk(self, request)

    def decide_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        self._check(request)
        return review_item.decide_item(self, request, pk)

    def leave_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        self._check(request)
        return review_item.leave_item(self, request, pk)

    def undo_view(self, request: HttpRequest, decision: int) -> HttpResponse:
        self._check(request)
        return review_item.undo_decision(self, request, decision)

    def undo_all_view(self, request: HttpRequest, batch: uuid.UUID) -> HttpResponse:
        self._check(request)
        return undo_bulk(self, request, batch)

    @display(description="what")
    def about(self, item: ReviewItem) -> SafeString | str:
        nodes = [named(node) for node in (item.node, item.other) if node]
        if not nodes:
            return item.why[:120] or item.subject
        return format_html("{}", " or ".join(nodes))

    @display(description="kind")
    def sort(self, item: ReviewItem) -> str:
        return review_kinds[item.kind].title

    @display(description="age")
    def aged(self, item: ReviewItem) -> str:
        if item.age_days is None:
            return "-"
        allowed = f" (limit\u00a0{item.threshold})" if item.threshold else ""
        return f"{item.age_days:,}\u00a0days{allowed}"

    @display(description="assigned to")
    def whose(self, item: ReviewItem) -> str:
        return str(item.assigned_to) if item.assigned_to else "-"

    @display(description="state")
    def status(self, item: ReviewItem) -> str:
        if item.state == State.SNOOZED and item.snoozed_until:
            return f"until {item.snoozed_until:%d %b %Y}"
        return State(item.state).label

    @admin.action(description="Keep…", permissions=["decide"])
    def keep_them(self, request: HttpRequest, queryset: Any) -> HttpResponse | None:
        return self._ask(request, queryset, Verb.KEEP)

    @admin.action(description="Prune…", permissions=["decide"])
    def prune_them(self, request: HttpRequest, queryset: Any) -> HttpResponse | None:
        return self._ask(request, queryset, Verb.PRUNE)

    @admin.action(description="Snooze…", permissions=["decide"])
    def snooze_them(self, request: HttpRequest, queryset: Any) -> HttpResponse | None:
        return self._ask(request, queryset, Verb.SNOOZE)

    @admin.action(description="Assign…", permissions=["decide"])
    def assign_them(self, request: HttpRequest, queryset: Any) -> HttpResponse | None:
        return self._ask(request, queryset, Verb.ASSIGN)

    def _ask(
        self, request: HttpRequest, queryset: Any, verb: Verb
    ) -> HttpResponse | None:
        # One more than may be, so that too many are told apart.
        chosen = list(queryset.order_by().values_list("pk", flat=True)[: BULK_MOST + 1])
        return ask_bulk(self, request, verb, chosen)
