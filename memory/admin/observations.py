"""The admin of what is remembered: how strong, from where, why, and what left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import admin, messages
from django.db.models import Q, QuerySet, Value
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from unfold.contrib.filters.admin import ChoicesDropdownFilter, DropdownFilter
from unfold.decorators import display

from connections.admin_scope import ReadOnlyAdmin, ask_first, staff
from connections.models import User
from connections.refusals import Refused
from graph.admin.scope import ProjectFilter, link_to, project_path
from graph.models import Evidence, Node, Record
from graph.pruned import out_of_trash
from memory.fading import KEPT_DAYS
from memory.models import Observation
from memory.observations import forget, importance_of, pin, restore
from memory.scopes import IS_CURRENT

STATES = {
    "held": IS_CURRENT,
    "left": Q(left_at__isnull=False),
    "superseded": Q(superseded_by__isnull=False, left_at=None),
}


class StateFilter(DropdownFilter):
    title, parameter_name = "state", "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [
            ("held", "in memory"),
            ("left", f"left, restorable for {KEPT_DAYS} days"),
            ("superseded", "superseded"),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        condition = STATES.get(self.value() or "")
        return queryset if condition is None else queryset.filter(condition)


@admin.register(Observation)
class ObservationAdmin(ReadOnlyAdmin):
    """What the reader may see of what is remembered, and what they may do to it."""

    list_display = (
        "text",
        "observation_type",
        project_path,
        "whose",
        "importance",
        "state",
        "fades",
    )
    list_filter = (
        ProjectFilter,
        StateFilter,
        ("observation_type", ChoicesDropdownFilter),
    )
    list_select_related = ("node", "scope__user", "project__tenant")
    search_fields = ("node__content",)
    ordering = ("-node_id",)
    actions = ("pin_selected", "unpin_selected", "restore_selected", "forget_selected")
    fieldsets = (
        (
            None,
            {"fields": ("text", "observation_type", "importance", "state", "fades")},
        ),
        (
            "Why",
            {"fields": ("proofs", "rationale", "subject", "who", "due_at", "status")},
        ),
        (
            "From where",
            {
                "fields": (
                    "node_link",
                    "whose",
                    "conversation",
                    "origin",
                    "conversations",
                    "created_at",
                    "left_at",
                    "left_because",
                    "superseded_by",
                )
            },
        ),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Observation]:
        reader = staff(request)
        rows: QuerySet[Observation] = super().get_queryset(request)
        # A column of a row knows no request: the row says who reads it.
        readable = Node.objects.visible_to(reader).current()
        return rows.filter(node__in=readable).annotate(reader_id=Value(reader.pk))

    @display(description="remembered")
    def text(self, observation: Observation) -> str:
        return observation.node.content

    @display(description="whose")
    def whose(self, observation: Observation) -> str:
        return str(observation.scope.user or "the project's")

    @display(description="importance")
    def importance(self, observation: Observation) -> str:
        pinned = ", pinned" if observation.is_pinned else ""
        return f"{importance_of(observation):.3f}{pinned}"

    @display(description="state", label={"left": "warning", "superseded": "info"})
    def state(self, observation: Observation) -> str:
        if observation.superseded_by_id:
            return "superseded"
        has_left = observation.counted.has_left(observation.scope.ticks)
        return "left" if observation.left_at or has_left else ""

    @display(description="fades")
    def fades(self, observation: Observation) -> str:
        if observation.left_at:
            return f"left: {observation.get_left_because_display()}"
        if observation.leaves_at is None:
            return "stays"
        ticks = max(0, observation.leaves_at - observation.scope.ticks)
        return f"leaves after {ticks} more without it"

    @display(description="node")
    def node_link(self, observation: Observation) -> SafeString:
        node = observation.node
        return link_to("graph_node_change", node.pk, node.key)

    @display(description="because of")
    def proofs(self, observation: Any) -> SafeString:
        reader = User.objects.get(pk=observation.reader_id)
        said = Evidence.objects.filter(
            tenant_id=observation.tenant_id,
            project_id=observation.project_id,
            node_id=observation.pk,
            record__in=Record.objects.visible_to(reader),
        )
        rows = out_of_trash(said).select_related("record")
        if not rows:
            return format_html("{}", "nothing but what a person wrote")
        return format_html_join(
            "",
            "<p>{}<br>{}</p>",
            (
                (
                    row.quote,
                    link_to("graph_record_change", row.record.pk, row.record.key),
                )
                for row in rows
                if row.record is not None
            ),
        )

    @admin.action(description="Pin")
    def pin_selected(
        self, request: HttpRequest, queryset: QuerySet[Observation]
    ) -> None:
        self._each(request, queryset, lambda one, by: pin(one, by=by), "Pinned")

    @admin.action(description="Unpin")
    def unpin_selected(
        self, request: HttpRequest, queryset: QuerySet[Observation]
    ) -> None:
        def unpin(one: Observation, by: User) -> object:
            return pin(one, by=by, pinned=False)

        self._each(request, queryset, unpin, "Unpinned")

    @admin.action(description="Restore what left")
    def restore_selected(
        self, request: HttpRequest, queryset: QuerySet[Observation]
    ) -> None:
        self._each(request, queryset, lambda one, by: restore(one, by=by), "Restored")

    @admin.action(description="Forget for good")
    def forget_selected(
        self, request: HttpRequest, queryset: QuerySet[Observation]
    ) -> HttpResponse | None:
        page = ask_first(
            self,
            request,
            title="Forget these?",
            action="forget_selected",
            rows=list(queryset.select_related("node")),
            consequence="They are deleted for good, with why they were remembered. "
            "What they replaced does not come back by itself.",
            submit="Forget them",
        )
        if page:
            return page
        self._each(request, queryset, lambda one, by: forget(one, by=by), "Forgotten")
        return None

    def _each(
        self,
        request: HttpRequest,
        queryset: QuerySet[Observation],
        act: Callable[[Observation, User], object],
        done: str,
    ) -> None:
        """Do `act` to each row; what is refused says why, and the others go on."""
        count = 0
        for observation in queryset.select_related("node", "owner", "project__tenant"):
            try:
                act(observation, staff(request))
            except Refused as refusal:
                self.message_user(request, str(refusal), messages.ERROR)
            else:
                count += 1
        self.message_user(request, f"{done}: {count}.", messages.SUCCESS)
