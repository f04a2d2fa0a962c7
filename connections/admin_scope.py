"""What the admin's pages share: whose rows they show, counts with a bound, asking."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django.contrib.admin import helpers
from django.core.paginator import Paginator
from django.db import models
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.functional import cached_property
from unfold.admin import ModelAdmin, TabularInline
from unfold.contrib.filters.admin import AutocompleteSelectFilter

from connections.models import Project, User

ROWS_COUNTED = 5_000


class BoundedPaginator(Paginator):
    """Pages over the first rows; beyond them one searches or filters.

    `count(*)` reads every row that matches, which takes seconds over millions.
    """

    @cached_property
    def count(self) -> int:
        return capped_count(self.object_list, ROWS_COUNTED)  # type: ignore[arg-type]


def capped_count(rows: QuerySet[Any], most: int) -> int:
    """Return how many `rows` there are, `most` when there are more."""
    return len(rows.order_by().values_list("pk", flat=True)[:most])


def staff(request: HttpRequest) -> User:
    """Return who is signed in; the admin lets nobody else in."""
    if not isinstance(request.user, User):
        raise TypeError("The admin was opened without a user.")
    return request.user


def projects_of(user: User) -> QuerySet[Project]:
    return Project.objects.visible_to(user)


class FabricAdmin(ModelAdmin):
    """Rows of the user's own projects or tenants, in a bounded list.

    `project_path` or `tenant_path` leads from a row to what must be the user's.
    """

    project_path: ClassVar[str] = ""
    tenant_path: ClassVar[str] = ""
    superuser_sees_all: ClassVar[bool] = False
    list_per_page = 50
    show_full_result_count = False
    paginator = BoundedPaginator
    list_filter_submit = True
    list_before_template = "admin/list_begins.html"
    compressed_fields = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = super().get_queryset(request)
        user = staff(request)
        if self.superuser_sees_all and user.is_superuser:
            return rows
        if self.project_path:
            rows = rows.filter(**{f"{self.project_path}__in": projects_of(user)})
        elif self.tenant_path:
            mine = projects_of(user).values("tenant_id")
            rows = rows.filter(**{f"{self.tenant_path}__in": mine})
        return rows

    def formfield_for_foreignkey(
        self, db_field: models.ForeignKey, request: HttpRequest, **kwargs: Any
    ) -> Any:
        """Offer only what the other model's own list would show."""
        other = self.admin_site._registry.get(db_field.related_model)
        if other is not None and "queryset" not in kwargs:
            kwargs["queryset"] = other.get_queryset(request)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)


class OwnRelatedFilter(AutocompleteSelectFilter):
    """A filter by another model's row, typed for: those that its own list would show."""


class ReadOnlyAdmin(FabricAdmin):
    """Rows that are read here and written elsewhere."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class ReadOnlyInline(TabularInline):
    """Rows below another that are only read, a page of them at a time."""

    extra = 0
    can_delete = False
    per_page = 20
    hide_title = True

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.fields

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whoever may see the row may see what belongs to it."""
        return True


def ask_first(
    model_admin: ModelAdmin,
    request: HttpRequest,
    *,
    title: str,
    consequence: str,
    submit: str,
    rows: QuerySet[Any] | list[Any],
    action: str = "",
    with_reason: bool = False,
    more: Mapping[str, Any] | None = None,
) -> HttpResponse | None:
    """Return the page that asks, or None once the answer was yes."""
    if request.method == "POST" and request.POST.get("confirmed"):
        return None
    context = {
        **model_admin.admin_site.each_context(request),
        "title": title,
        "opts": model_admin.opts,
        "consequence": consequence,
        "submit": submit,
        "rows": rows,
        "action": action,
        "with_reason": with_reason,
        "action_checkbox_name": helpers.ACTION_CHECKBOX_NAME,
        "back_to": f"admin:{model_admin.opts.label_lower.replace('.', '_')}_changelist",
        **(more or {}),
    }
    return TemplateResponse(request, "admin/ask_first.html", context)
