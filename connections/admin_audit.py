"""The admin of the audit: searched, filtered, exported, and only read."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from datetime import datetime
from typing import Any

from asgiref.sync import sync_to_async
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db import connection
from django.db.models import Q, QuerySet
from django.db.models.expressions import RawSQL
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseNotAllowed,
    StreamingHttpResponse,
)
from django.urls import NoReverseMatch, URLPattern, path, reverse
from django.utils import timezone
from django.utils.dateparse import parse_date
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.contrib.filters.admin import DropdownFilter, RangeDateTimeFilter
from unfold.decorators import display

from connections import audit_sql
from connections.admin_scope import OwnRelatedFilter, ReadOnlyAdmin, once, staff
from connections.audit_export import FIRST, LAST, exported, readable_by
from connections.models import Audit, AuditCheck, User
from connections.roles import Act, projects_where, tenants_where

SEARCH_CHARACTERS = 200
# What a target names, by how it begins: the page in the admin that shows it.
PAGES = {
    "memory": "admin:graph_node_change",
    "node": "admin:graph_node_change",
    "edge": "admin:graph_edge_change",
    "record": "admin:graph_record_change",
    "review": "admin:graph_reviewitem_change",
}

# What a target is whose number or id stands alone, by what its verb begins with.
NUMBERED = {"feedback": "answer", "question": "conversation"}


class VerbFilter(DropdownFilter):
    title, parameter_name = "verb", "verb"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        user, found = staff(request), set()
        mine = projects_where(user, Act.READ_AUDIT)
        with connection.cursor() as cursor:
            for tenant in mine.values_list("tenant_id", flat=True).distinct():
                cursor.execute(audit_sql.VERBS, {"tenant": tenant})
                found.update(cursor.fetchall())
            if user.is_superuser:
                cursor.execute(audit_sql.VERBS_OF_NOBODY)
                found.update(cursor.fetchall())
        return [(verb, verb) for (verb,) in sorted(found)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(verb=self.value()) if self.value() else queryset


@admin.register(Audit)
class AuditAdmin(ReadOnlyAdmin):
    """What was done, by whom, in what one administers; nothing here can be changed."""

    view_act = Act.READ_AUDIT
    list_before_template = "admin/audit/state.html"
    list_display = ("at", "verb", "target_link", "who", "of_project", "state")
    list_filter = (
        VerbFilter,
        ("project", OwnRelatedFilter),
        ("tenant", OwnRelatedFilter),
        ("at", RangeDateTimeFilter),
    )
    list_select_related = ("actor", "project__tenant")
    ordering = ("-id",)
    search_fields = ("target",)
    search_help_text = (
        "How a target begins, the address of who did it, or words of the detail."
    )
    fields = (
        "at",
        "verb",
        "target_link",
        "who",
        "token_id",
        "project",
        "tenant",
        "detail_text",
        "state",
        "detail_sha256",
        "seal",
    )

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Operators read of the installation itself, also without any project."""
        user = request.user
        is_operator = isinstance(user, User) and user.is_active and user.is_superuser
        return is_operator or super().has_view_permission(request)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Audit]:
        """Return rows of projects that one administers, of tenants all of whose
        projects these are, and to operators those of no tenant."""
        user = staff(request)
        # As lists, not subqueries: then the newest rows are found by their index.
        projects, tenants = once(request, "audited", lambda: _audited_by(user))
        mine = Q(project_id__in=projects) | Q(project_id=None, tenant_id__in=tenants)
        if user.is_superuser:
            mine |= Q(tenant_id=None)
        return super().get_queryset(request).filter(mine)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Audit], search_term: str
    ) -> tuple[QuerySet[Audit], bool]:
        term = search_term.replace("\0", "").strip()[:SEARCH_CHARACTERS]
        if not term:
            return queryset, False
        actors = [*User.objects.filter(email__iexact=term).values_list("pk", flat=True)]
        words = RawSQL(audit_sql.WITH_WORDS, [term])  # noqa: S611 # bound
        return (
            queryset.filter(
                Q(target__startswith=term) | Q(actor_id__in=actors) | Q(pk__in=words)
            ),
            False,
        )

    def get_urls(self) -> list[URLPattern]:
        export = self.admin_site.admin_view(self.export_view)
        own = [path("export/", export, name="connections_audit_export")]
        return [*own, *super().get_urls()]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        shown = {"checks": self._checks(request), **(extra_context or {})}
        return super().changelist_view(request, shown)  # type: ignore[no-any-return]

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Return a row; it is never changed, so that it has no history of its own."""
        shown = {"show_history": False, **(extra_context or {})}
        return super().changeform_view(request, object_id, form_url, shown)  # type: ignore[no-any-return]

    def export_view(self, request: HttpRequest) -> HttpResponse | StreamingHttpResponse:
        """Send the rows that one may read as JSON lines; that one did is audited."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        if not self.has_view_permission(request):
            raise PermissionDenied
        user = staff(request)
        since = _day(request.POST.get("since", "")) or FIRST
        until = _day(request.POST.get("until", "")) or LAST
        lines = exported(readable_by(user, since=since, until=until), by=user)
        name = f"audit-{timezone.localdate():%Y-%m-%d}.jsonl"
        return StreamingHttpResponse(
            _chunks(lines),
            content_type="application/jsonl; charset=utf-8",
            headers={
                "Content-Disposition": f'attachment; filename="{name}"',
                "Cache-Control": "private, no-store",
            },
        )

    def _checks(self, request: HttpRequest) -> list[dict[str, Any]]:
        """Return what the last verification found, of the chains that are one's own."""
        user = staff(request)
        tenants = tenants_where(user, Act.READ_AUDIT).in_bulk()
        names = {pk: tenant.name for pk, tenant in tenants.items()}
        if user.is_superuser:
            names[0] = "The installation"
        rows = AuditCheck.objects.filter(chain__in=names).order_by("chain")
        return [{"name": names[row.chain], "check": row} for row in rows]

    @display(description="who", ordering="actor__email")
    def who(self, audit: Audit) -> str:
        return audit.actor.email if audit.actor else "the system"

    @display(description="project")
    def of_project(self, audit: Audit) -> str:
        if audit.project_id is None:
            return ""
        project = getattr(audit, "project", None)
        return project.path if project else f"{audit.project_id}, removed"

    @display(description="chain")
    def state(self, audit: Audit) -> str:
        if audit.position is None:
            return "waiting to be sealed"
        return f"sealed, position {audit.position:,}"

    @display(description="target")
    def target_link(self, audit: Audit) -> SafeString | str:
        address, name = _address(audit), _named(audit)
        if not address:
            return name
        return format_html(
            '<a class="text-primary-600 dark:text-primary-500" href="{}">{}</a>',
            address,
            name,
        )

    @display(description="detail")
    def detail_text(self, audit: Audit) -> str:
        detail = getattr(audit, "detail", None)
        if detail is None or not detail.salt:
            return "erased"
        text = json.dumps(detail.detail, indent=2, ensure_ascii=False)
        return format_html("<pre>{}</pre>", text)


def _audited_by(user: User) -> tuple[list[int], list[int]]:
    """Return the projects, and the tenants, whose audit `user` reads."""
    projects = projects_where(user, Act.READ_AUDIT).values_list("pk", flat=True)
    tenants = tenants_where(user, Act.READ_AUDIT).values_list("pk", flat=True)
    return list(projects), list(tenants)


def _named(audit: Audit) -> str:
    """Return a target with what it is, where it is stored as a bare number."""
    subject = audit.verb.partition(".")[0]
    kind = "answer" if audit.verb == "memory.turn_remembered" else NUMBERED.get(subject)
    if kind is None or not audit.target:
        return audit.target
    return f"{kind} {audit.target.partition('-')[0]}"


def _address(audit: Audit) -> str:
    """Return where a target is shown; what one may not see there does not exist."""
    kind, _, key = audit.target.partition(":")
    try:
        if kind in PAGES and key.isdecimal():
            return reverse(PAGES[kind], args=[int(key)])
        if audit.verb.startswith("question."):
            return reverse("conversation", args=[audit.target])
        if audit.verb.startswith(("user.", "auth.", "membership.")):
            user = User.objects.filter(email=audit.target).only("pk").first()
            if user is not None:
                return reverse("admin:connections_user_change", args=[user.pk])
    except NoReverseMatch:
        pass
    return ""


def _day(given: str) -> datetime | None:
    try:
        day = parse_date(given)
    except ValueError:
        return None
    if day is None:
        return None
    midnight = datetime.combine(day, datetime.min.time())
    return timezone.make_aware(midnight)


async def _chunks(lines: Iterator[str]) -> AsyncIterator[str]:
    """Yield the lines many at once, each step in the request's own thread."""

    def some() -> str:
        return "".join(line for _, line in zip(range(2000), lines, strict=False))

    step = sync_to_async(some)
    while text := await step():
        yield text
