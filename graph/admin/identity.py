"""The admin of persons: who is held to be one human, why, and where that is wrong."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import Count, Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.decorators import action, display

from connections.admin_scope import (
    OwnRelatedFilter,
    ReadOnlyAdmin,
    ReadOnlyInline,
    ask_first,
    projects_of,
    staff,
)
from connections.roles import Act, may
from graph.admin.scope import (
    ProjectFilter,
    VisibleAdmin,
    by_title_or_key,
    link,
    link_to,
    project_path,
)
from graph.decisions import NothingToDecide, merge_persons, split_identity
from graph.models import Identity, IdentityDecision, Node


class Person(Node):
    """The nodes that are persons, as the admin lists them."""

    class Meta:
        proxy = True


def may_decide(request: HttpRequest, project_id: int) -> bool:
    """Return whether the user reviews that project; a superuser does where a member."""
    return may(staff(request), Act.DECIDE_IDENTITIES, project_id)


class IdentityInline(ReadOnlyInline):
    model = Identity
    fk_name = "person"
    fields = ("named", "known_as", "why", "split")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Identity]:
        nodes = Node.objects.visible_to(staff(request))
        return super().get_queryset(request).filter(node__in=nodes).order_by("key")

    @display(description="identity")
    def named(self, identity: Identity) -> SafeString:
        return link_to("graph_identity_change", identity.pk, identity.key)

    @display(description="known as")
    def known_as(self, identity: Identity) -> str:
        names = [*identity.names, identity.address]
        return ", ".join(name for name in names if name)

    @display(description="why it is this person")
    def why(self, identity: Identity) -> SafeString:
        return reasons(identity)

    @display(description="")
    def split(self, identity: Identity) -> SafeString:
        address = reverse("admin:graph_identity_split", args=[identity.pk])
        return link(address, "Split off…")


def reasons(identity: Identity) -> SafeString:
    """Return why an identity is its person, a line for each link."""
    lines = ((each["with"], each["because"]) for each in identity.reasons)
    joined = format_html_join(SafeString("<br>"), "with {}: {}", lines)
    return joined or SafeString("it stands alone")


@admin.register(Person)
class PersonAdmin(VisibleAdmin):
    list_display = ("title", project_path, "identity_count", "context")
    list_filter = (ProjectFilter,)
    search_fields = ("title", "key")
    search_help_text = "A name, or how the key begins."
    ordering = ("title", "id")
    inlines = (IdentityInline,)
    actions = ("merge",)
    fields = ("title", "context", "key", "project", "audience", "page")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Person]:
        rows = super().get_queryset(request).filter(node_type="person", trashed_at=None)
        return rows.defer("embedding", "search_vector", "metadata_vector").annotate(
            held=Count("identities")
        )

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        return by_title_or_key(request, queryset, search_term), False

    def has_merge_permission(self, request: HttpRequest) -> bool:
        return self.allows(request, Act.DECIDE_IDENTITIES)

    @display(description="identities", ordering="held")
    def identity_count(self, person: Any) -> int:
        return int(person.held)

    @display(description="page")
    def page(self, person: Person) -> SafeString:
        return link(reverse("node", args=[person.pk]), "Open the page")

    @admin.action(description="Merge selected persons", permissions=["merge"])
    def merge(
        self, request: HttpRequest, queryset: QuerySet[Person]
    ) -> HttpResponse | None:
        persons = list(queryset.order_by("key"))
        if not all(
            may_decide(request, project) for project in {p.project_id for p in persons}
        ):
            self.message_user(
                request, "You do not review that project.", messages.ERROR
            )
            return None
        page = ask_first(
            self,
            request,
            title="Are these one person?",
            action="merge",
            rows=persons,
            consequence="They become one, and all that was said of any of them is said "
            "of that one. Splitting an identity off takes it back.",
            submit="Merge them",
            with_reason=True,
        )
        if page:
            return page
        try:
            merge_persons(
                persons, actor=staff(request), reason=request.POST.get("reason", "")
            )
        except NothingToDecide as error:
            self.message_user(request, str(error), messages.ERROR)
            return None
        self.message_user(request, f"{len(persons)} are one now.", messages.SUCCESS)
        return None


@admin.register(Identity)
class IdentityAdmin(ReadOnlyAdmin):
    list_display = ("key", "side", "address", "held_to_be", project_path)
    list_filter = (ProjectFilter,)
    list_select_related = ("person", "project__tenant")
    search_fields = ("key", "address")
    search_help_text = "How the key begins."
    ordering = ("key",)
    actions_detail = ("split",)
    fields = ("key", "side", "address", "names", "held_to_be", "why", "project")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Identity]:
        nodes = Node.objects.visible_to(staff(request))
        both = (
            Exists(nodes.filter(pk=OuterRef(end))) for end in ("node_id", "person_id")
        )
        return super().get_queryset(request).filter(*both)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Identity], search_term: str
    ) -> tuple[QuerySet[Identity], bool]:
        term = search_term.strip()
        if not term:
            return queryset, False
        mine = projects_of(staff(request)).values_list("pk", flat=True)
        return queryset.filter(project_id__in=mine, key__startswith=term), False

    @display(description="person")
    def held_to_be(self, identity: Identity) -> SafeString:
        return link_to("graph_person_change", identity.person_id, str(identity.person))

    @display(description="why")
    def why(self, identity: Identity) -> SafeString:
        return reasons(identity)

    @action(description="Split it off its person", url_path="split", icon="call_split")
    def split(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask first; then part an identity from the others of its person."""
        if request.method not in ("GET", "POST"):
            return HttpResponseNotAllowed(("GET", "POST"))
        if not object_id.isdigit():
            object_id = "0"
        identity = get_object_or_404(self.get_queryset(request), pk=int(object_id))
        if not may_decide(request, identity.project_id):
            self.message_user(
                request, "You do not review that project.", messages.ERROR
            )
            return redirect("admin:graph_identity_change", identity.pk)
        page = ask_first(
            self,
            request,
            title="Is this somebody else?",
            rows=[identity],
            consequence=f"It is parted from the other identities of {identity.person}, "
            "whatever held them together. Merging the persons takes it back.",
            submit="Split it off",
            with_reason=True,
        )
        if page:
            return page
        try:
            split_identity(
                identity, actor=staff(request), reason=request.POST.get("reason", "")
            )
            self.message_user(
                request, "It is a person of its own now.", messages.SUCCESS
            )
        except NothingToDecide as error:
            self.message_user(request, str(error), messages.ERROR)
        return redirect("admin:graph_identity_change", identity.pk)


@admin.register(IdentityDecision)
class IdentityDecisionAdmin(ReadOnlyAdmin):
    """Decisions of persons both of whose identities the reader may see."""

    project_path = "project"
    list_display = (
        "first_key",
        "verb",
        "second_key",
        "decided_by",
        "decided_at",
        "reason",
    )
    list_filter = (("verb", ChoicesDropdownFilter), ("project", OwnRelatedFilter))
    list_select_related = ("decided_by",)
    ordering = ("-id",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[IdentityDecision]:
        nodes = Node.objects.visible_to(staff(request))
        both = (
            Exists(
                Identity.objects.filter(
                    tenant_id=OuterRef("tenant_id"),
                    project_id=OuterRef("project_id"),
                    key=OuterRef(key),
                    node__in=nodes,
                )
            )
            for key in ("first_key", "second_key")
        )
        rows: QuerySet[IdentityDecision] = super().get_queryset(request)
        return rows.filter(*both)
