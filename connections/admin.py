"""The admin of tenants, projects and audiences; importing it registers all of it."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.models import Group
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest
from unfold.admin import TabularInline
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.decorators import display
from unfold.widgets import UnfoldAdminTextareaWidget

from connections import (  # register their own
    admin_audit,  # noqa: F401
    admin_databases,  # noqa: F401
    admin_models,  # noqa: F401
    admin_people,  # noqa: F401
    admin_queries,  # noqa: F401
    admin_runs,  # noqa: F401
    admin_schema,  # noqa: F401
    admin_tokens,  # noqa: F401
    admin_views,  # noqa: F401
)
from connections.admin_scope import (
    AuditedAdmin,
    OwnRelatedFilter,
    ReadOnlyAdmin,
    ReadOnlyInline,
    audiences_of,
    projects_of,
    staff,
)
from connections.models import (
    Audience,
    AudienceMember,
    Membership,
    Project,
    Role,
    Tenant,
)
from connections.people import (
    LAST_ADMIN,
    admins_without,
    is_active_admin,
    keep_membership,
    may_manage,
    remove_membership,
)
from connections.roles import Act

# Rights come from the role in a project; Django's groups and permissions give none.
admin.site.unregister(Group)


@admin.register(Tenant)
class TenantAdmin(AuditedAdmin):
    """Tenants are made and named by operators."""

    operators, subject = True, "tenant"
    list_display = ("name", "slug", "project_count", "created_at")
    search_fields = ("name", "slug")
    prepopulated_fields = {"slug": ("name",)}
    fields = ("name", "slug")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_prepopulated_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return {} if obj else self.prepopulated_fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[Tenant]:
        rows = super().get_queryset(request)
        user = staff(request)
        if not user.is_superuser:
            rows = rows.filter(pk__in=projects_of(user).values("tenant"))
            mine = Q(projects__in=projects_of(user))
            return rows.annotate(number=Count("projects", filter=mine))
        return rows.annotate(number=Count("projects"))

    @display(description="projects", ordering="number")
    def project_count(self, tenant: Tenant) -> int:
        return int(tenant.number)  # type: ignore[attr-defined] # annotated


class MembershipFormSet(forms.BaseInlineFormSet):
    """The members of a project; one of them stays its admin."""

    def clean(self) -> None:
        super().clean()
        if any(self.errors) or self.instance.pk is None:
            return
        leaving = [
            form.instance
            for form in self.initial_forms
            if self._should_delete_form(form)  # type: ignore[attr-defined] # not in the stubs
            or form.cleaned_data.get("role") != Role.ADMIN
        ]
        if not any(is_active_admin(each) for each in leaving):
            return
        kept = [form for form in self.forms if form not in self.deleted_forms]
        admins = [f for f in kept if f.cleaned_data.get("role") == Role.ADMIN]
        gone = [each.pk for each in leaving]
        if not any(f.cleaned_data["user"].is_active for f in admins) and (
            not admins_without(self.instance, gone)
        ):
            raise forms.ValidationError(LAST_ADMIN)


class ProjectMembershipInline(TabularInline):
    model = Membership
    formset = MembershipFormSet
    fields = ("user", "role")
    extra = 0
    tab = True

    def formfield_for_foreignkey(
        self, db_field: Any, request: HttpRequest, **kwargs: Any
    ) -> Any:
        other = self.admin_site._registry.get(db_field.related_model)
        if other is not None:
            kwargs["queryset"] = other.get_queryset(request)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def has_view_permission(
        self, request: HttpRequest, obj: Project | None = None
    ) -> bool:
        user = staff(request)
        return user.is_superuser if obj is None else may_manage(user, obj)

    has_change_permission = has_delete_permission = has_view_permission

    def has_add_permission(
        self, request: HttpRequest, obj: Project | None = None
    ) -> bool:
        return self.has_view_permission(request, obj)


class LinesField(forms.CharField):
    """A list of texts, one a line."""

    widget = UnfoldAdminTextareaWidget

    def prepare_value(self, value: object) -> object:
        return "\n".join(value) if isinstance(value, list) else value

    def clean(self, value: object) -> list[str]:
        lines = str(super().clean(value)).splitlines()
        return [line.strip() for line in lines if line.strip()]


class ProjectForm(forms.ModelForm):
    sample_questions = LinesField(
        required=False,
        help_text="One a line, for an empty chat page; without any, questions come "
        "from the data.",
    )

    class Meta:
        model = Project
        fields = (
            "tenant",
            "name",
            "slug",
            "language",
            "sample_questions",
            "tokens_a_day",
        )


@admin.register(Project)
class ProjectAdmin(AuditedAdmin):
    """Projects are made by operators; their admins change what they are like."""

    form = ProjectForm
    operators, subject = True, "project"
    change_act = Act.MANAGE_PROJECT
    list_display = (
        "path",
        "name",
        "language",
        "member_count",
        "source_count",
        "created_at",
    )
    list_filter = (("tenant", OwnRelatedFilter),)
    list_select_related = ("tenant",)
    search_fields = ("name", "slug", "tenant__name")
    prepopulated_fields = {"slug": ("name",)}
    inlines = (ProjectMembershipInline,)

    def place_of(self, obj: Any) -> Project | Tenant | None:
        return obj if isinstance(obj, Project) else None

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """A project goes with its whole graph, which a form's cascade cannot do."""
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """A project stays its tenant's: all that it holds says whose it is."""
        return ("tenant",) if obj else ()

    def get_prepopulated_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return {} if obj else self.prepopulated_fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[Project]:
        rows, user = super().get_queryset(request), staff(request)
        rows = rows.annotate(
            members=Count("memberships", distinct=True),
            places=Count("sources", distinct=True),
        )
        return rows if user.is_superuser else rows.filter(pk__in=projects_of(user))

    def save_formset(
        self, request: HttpRequest, form: Any, formset: Any, change: bool
    ) -> None:
        """Save the members, each with its line in the audit."""
        formset.save(commit=False)
        by = staff(request)
        for membership in formset.deleted_objects:
            remove_membership(membership, by=by)
        changed = [row for row, _ in formset.changed_objects]
        for membership in [*changed, *formset.new_objects]:
            keep_membership(membership, by=by)

    @display(description="members", ordering="members")
    def member_count(self, project: Project) -> int:
        return int(project.members)  # type: ignore[attr-defined] # annotated

    @display(description="sources", ordering="places")
    def source_count(self, project: Project) -> int:
        return int(project.places)  # type: ignore[attr-defined] # annotated


class AudienceMemberInline(ReadOnlyInline):
    model = AudienceMember
    fields = ("user", "member")
    per_page = 50


@admin.register(Audience)
class AudienceAdmin(ReadOnlyAdmin):
    """Who may see what, of the audiences that the reader is in; it follows from the
    sources and is not edited here."""

    project_path = "project"
    list_display = ("__str__", "kind", "combines", "project", "member_count")
    list_filter = (("kind", ChoicesDropdownFilter), ("project", OwnRelatedFilter))
    list_select_related = ("project__tenant",)
    search_fields = ("title", "key")
    inlines = (AudienceMemberInline,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Audience]:
        mine = audiences_of(request)
        rows: QuerySet[Audience] = super().get_queryset(request).filter(pk__in=mine)
        return rows.annotate(number=Count("members"))

    @display(description="listed members")
    def member_count(self, audience: Audience) -> int:
        return int(audience.number)  # type: ignore[attr-defined] # annotated
