"""What the admin's pages share: whose rows they show, counts with a bound, asking."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from django.contrib.admin import helpers
from django.core.paginator import Paginator
from django.db import models, transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.functional import cached_property
from unfold.admin import ModelAdmin, TabularInline
from unfold.contrib.filters.admin import AutocompleteSelectFilter

from connections.models import Audience, Project, Tenant, User, record_audit
from connections.roles import (
    Act,
    acts_somewhere,
    may,
    projects_where,
    tenants_where,
)

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


class ByRole:
    """What is asked of `connections.roles` for a list, its rows, and rows below them.

    `project_path` or `tenant_path` leads from a row to what must be the user's;
    `view_act` and the others name what one has to be allowed there, None: nobody is.
    Django's own model permissions count for nothing. With `operators`, a superuser
    sees and does all, member or not: what is the installation's own.
    """

    project_path: ClassVar[str] = ""
    tenant_path: ClassVar[str] = ""
    view_act: ClassVar[Act] = Act.READ
    add_act: ClassVar[Act | None] = None
    change_act: ClassVar[Act | None] = None
    delete_act: ClassVar[Act | None] = None
    operators: ClassVar[bool] = False

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.allows(request, self.view_act, obj)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.allows(request, self.add_act, obj)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.allows(request, self.change_act, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.allows(request, self.delete_act, obj)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def allows(self, request: HttpRequest, act: Act | None, obj: Any = None) -> bool:
        """Return whether the user may do `act` where `obj` is; anywhere, without one."""
        user = request.user
        if not isinstance(user, User) or not (user.is_active and user.is_staff):
            return False
        if self.operators and user.is_superuser:
            return True
        if act is None:
            return False
        where = self.place_of(obj)
        if isinstance(where, Project):
            return may(user, act, where.pk)
        if isinstance(where, Tenant):
            return tenants_where(user, act).filter(pk=where.pk).exists()
        return _anywhere(request, user, act)

    def place_of(self, obj: Any) -> Project | Tenant | None:
        """Return the project, else the tenant, that `obj` belongs to; None: no row."""
        for given in (self.project_path, self.tenant_path):
            if not given or not isinstance(obj, self.model):  # type: ignore[attr-defined]
                continue
            found = obj
            for name in given.split("__"):
                found = getattr(found, name, None) if name != "pk" else found
            if found is not None:
                return found  # type: ignore[no-any-return] # one of the two
        return None


def _anywhere(request: HttpRequest, user: User, act: Act) -> bool:
    """Return whether there is a project where `user` may do `act`, asked once."""
    known: frozenset[Act] = once(request, "acts", lambda: acts_somewhere(user))
    return act in known


def audiences_of(request: HttpRequest) -> list[int]:
    """Return the audiences that the user is in, asked once a request."""
    found: list[int] = once(
        request, "audiences", lambda: Audience.objects.ids_of(staff(request))
    )
    return found


def once(request: HttpRequest, name: str, ask: Callable[[], Any]) -> Any:
    """Return what `ask` returned for this request the first time."""
    known: dict[str, Any] = request.__dict__.setdefault("_asked_once", {})
    if name not in known:
        known[name] = ask()
    return known[name]


class FabricAdmin(ByRole, ModelAdmin):  # type: ignore[misc] # untyped bases
    """Rows of the user's own projects or tenants, in a bounded list; by role."""

    list_per_page = 50
    show_full_result_count = False
    paginator = BoundedPaginator
    list_filter_submit = True
    list_before_template = "admin/list_begins.html"
    compressed_fields = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = super().get_queryset(request)
        user = staff(request)
        if self.operators and user.is_superuser:
            return rows
        if self.project_path:
            mine = projects_where(user, self.view_act).values("pk")
            rows = rows.filter(**{f"{self.project_path}__in": mine})
        elif self.tenant_path:
            tenants = tenants_where(user, self.view_act).values("pk")
            rows = rows.filter(**{f"{self.tenant_path}__in": tenants})
        return rows

    def formfield_for_foreignkey(
        self, db_field: models.ForeignKey, request: HttpRequest, **kwargs: Any
    ) -> Any:
        """Offer only what the other model's own list would show."""
        other = self.admin_site._registry.get(db_field.related_model)
        if other is not None and "queryset" not in kwargs:
            kwargs["queryset"] = other.get_queryset(request)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)


class AuditedAdmin(FabricAdmin):
    """Rows whose changes here are each a line of the audit, in its transaction."""

    subject: ClassVar[str] = ""

    @transaction.atomic
    def save_model(
        self, request: HttpRequest, obj: Any, form: Any, change: bool
    ) -> None:
        super().save_model(request, obj, form, change)
        self._record(request, obj, "changed" if change else "created", form)

    @transaction.atomic
    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        self._record(request, obj, "deleted")
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        with transaction.atomic():
            for row in queryset:
                self.delete_model(request, row)

    def _record(
        self, request: HttpRequest, obj: Any, done: str, form: Any = None
    ) -> None:
        """Note the act, with the names of the fields and no value of them."""
        project = obj if isinstance(obj, Project) else getattr(obj, "project", None)
        tenant = obj if isinstance(obj, Tenant) else getattr(obj, "tenant", None)
        record_audit(
            f"{self.subject}.{done}",
            target=str(obj),
            project=project,
            tenant=tenant,
            actor=staff(request),
            fields=list(form.changed_data) if form else [],
        )


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

    def get_ordering(self, request: HttpRequest) -> Sequence[Any]:
        """Rows without an order of their own come as they were made: without any, a
        page might hold what the one before it held."""
        own = super().get_ordering(request) or self.model._meta.ordering
        return own or ("pk",)

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
