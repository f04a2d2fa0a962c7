"""The admin of users, tenants, projects, tokens, sources and the audit."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import AdminUserCreationForm
from django.contrib.auth.models import Group
from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from unfold.admin import ModelAdmin, TabularInline
from unfold.contrib.filters.admin import (
    ChoicesDropdownFilter,
)
from unfold.decorators import display
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm
from unfold.widgets import UnfoldAdminTextareaWidget

from connections import (  # register their own
    admin_databases,  # noqa: F401
    admin_models,  # noqa: F401
    admin_queries,  # noqa: F401
    admin_runs,  # noqa: F401
    admin_schema,  # noqa: F401
    admin_tokens,  # noqa: F401
    admin_views,  # noqa: F401
)
from connections.admin_scope import (
    FabricAdmin,
    OwnRelatedFilter,
    ReadOnlyAdmin,
    ReadOnlyInline,
    projects_of,
    staff,
)
from connections.models import (
    Audience,
    AudienceMember,
    Membership,
    Project,
    Tenant,
    User,
    UserAddress,
    record_audit,
)

admin.site.unregister(Group)


@admin.register(Group)
class GroupAdmin(ModelAdmin):
    search_fields = ("name",)
    filter_horizontal = ("permissions",)


class NewUserForm(UserCreationForm):
    class Meta(AdminUserCreationForm.Meta):
        model = User
        fields = ("email", "name")

    def clean_email(self) -> str:
        email: str = self.cleaned_data["email"]
        if UserAddress.objects.filter(address=email.lower()).exists():
            raise forms.ValidationError("This address is another user's.")
        return email


class ChangedUserForm(UserChangeForm):
    class Meta(UserChangeForm.Meta):
        model = User
        fields = "__all__"


class AddressInline(TabularInline):
    model = UserAddress
    extra = 0
    tab = True


class MembershipInline(TabularInline):
    model = Membership
    extra = 0
    tab = True

    def get_queryset(self, request: HttpRequest) -> QuerySet[Membership]:
        rows = super().get_queryset(request)
        user = staff(request)
        return rows if user.is_superuser else rows.filter(project__in=projects_of(user))

    def formfield_for_foreignkey(
        self, db_field: Any, request: HttpRequest, **kwargs: Any
    ) -> Any:
        other = self.admin_site._registry.get(db_field.related_model)
        if other is not None:
            kwargs["queryset"] = other.get_queryset(request)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)


@admin.register(User)
class FabricUserAdmin(UserAdmin, FabricAdmin):  # type: ignore[misc] # untyped bases
    """Users; who is no superuser sees those they share a project with."""

    form, add_form = ChangedUserForm, NewUserForm
    change_password_form = AdminPasswordChangeForm
    superuser_sees_all = True
    list_display = (
        "email",
        "name",
        "is_active",
        "is_staff",
        "is_superuser",
        "last_login",
    )
    list_filter = ("is_active", "is_staff", "is_superuser")
    search_fields = ("email", "name")
    ordering = ("email",)
    readonly_fields = ("last_login", "date_joined")
    filter_horizontal = ("groups", "user_permissions")
    inlines = (AddressInline, MembershipInline)
    fieldsets = (
        (None, {"fields": ("email", "name", "password")}),
        (
            "May",
            {
                "fields": (
                    "is_active",
                    "is_staff",
                    "is_superuser",
                    "groups",
                    "user_permissions",
                )
            },
        ),
        ("Since", {"fields": ("date_joined", "last_login")}),
    )
    add_fieldsets = (
        (
            None,
            {"fields": ("email", "name", "usable_password", "password1", "password2")},
        ),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        rows, user = super().get_queryset(request), staff(request)
        if user.is_superuser:
            return rows
        shares = Membership.objects.filter(project__in=projects_of(user)).values("user")
        return rows.filter(Q(pk__in=shares) | Q(pk=user.pk))

    def get_inlines(self, request: HttpRequest, obj: User | None = None) -> Any:
        return self.inlines if obj else ()

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> Any:
        """Let only a superuser make others mighty."""
        if staff(request).is_superuser:
            return self.readonly_fields
        might = ("is_staff", "is_superuser", "groups", "user_permissions")
        return (*self.readonly_fields, *might)

    def has_change_permission(
        self, request: HttpRequest, obj: User | None = None
    ) -> bool:
        if obj is not None and obj.is_superuser and not staff(request).is_superuser:
            return False
        return super().has_change_permission(request, obj)

    def save_model(
        self, request: HttpRequest, obj: User, form: Any, change: bool
    ) -> None:
        """Save; the address of a new user counts as theirs, as with `create_user`."""
        super().save_model(request, obj, form, change)
        if not change:
            obj.addresses.create(address=obj.email.lower(), verified_at=timezone.now())
        verb = "user.changed" if change else "user.created"
        record_audit(
            verb, target=obj.email, actor=staff(request), fields=form.changed_data
        )


@admin.register(Tenant)
class TenantAdmin(FabricAdmin):
    superuser_sees_all = True
    list_display = ("name", "slug", "project_count", "created_at")
    search_fields = ("name", "slug")
    prepopulated_fields = {"slug": ("name",)}
    fields = ("name", "slug")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Tenant]:
        rows = super().get_queryset(request).annotate(number=Count("projects"))
        user = staff(request)
        if user.is_superuser:
            return rows
        return rows.filter(pk__in=projects_of(user).values("tenant"))

    @display(description="projects", ordering="number")
    def project_count(self, tenant: Tenant) -> int:
        return int(tenant.number)  # type: ignore[attr-defined] # annotated


class ProjectMembershipInline(MembershipInline):
    fields = ("user", "role")


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
class ProjectAdmin(FabricAdmin):
    form = ProjectForm
    superuser_sees_all = True
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

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """A project goes with its whole graph, which a form's cascade cannot do."""
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Project]:
        rows, user = super().get_queryset(request), staff(request)
        rows = rows.annotate(
            members=Count("memberships", distinct=True),
            places=Count("sources", distinct=True),
        )
        return rows if user.is_superuser else rows.filter(pk__in=projects_of(user))

    @display(description="members", ordering="members")
    def member_count(self, project: Project) -> int:
        return int(project.members)  # type: ignore[attr-defined] # annotated

    @display(description="sources", ordering="places")
    def source_count(self, project: Project) -> int:
        return int(project.places)  # type: ignore[attr-defined] # annotated


@admin.register(Membership)
class MembershipAdmin(FabricAdmin):
    project_path, superuser_sees_all = "project", True
    list_display = ("user", "project", "role")
    list_filter = (("role", ChoicesDropdownFilter), ("project", OwnRelatedFilter))
    list_select_related = ("user", "project__tenant")
    search_fields = ("user__email", "user__name", "project__slug")

    def save_model(
        self, request: HttpRequest, obj: Membership, form: Any, change: bool
    ) -> None:
        super().save_model(request, obj, form, change)
        record_audit(
            "membership.changed" if change else "membership.created",
            target=obj.user.email,
            project=obj.project,
            actor=staff(request),
            role=obj.role,
        )

    def delete_model(self, request: HttpRequest, obj: Membership) -> None:
        record_audit(
            "membership.deleted",
            target=obj.user.email,
            project=obj.project,
            actor=staff(request),
            role=obj.role,
        )
        super().delete_model(request, obj)

    def delete_queryset(
        self, request: HttpRequest, queryset: QuerySet[Membership]
    ) -> None:
        with transaction.atomic():
            for membership in queryset:
                self.delete_model(request, membership)


class AudienceMemberInline(ReadOnlyInline):
    model = AudienceMember
    fields = ("user", "member")
    per_page = 50


@admin.register(Audience)
class AudienceAdmin(ReadOnlyAdmin):
    """Who may see what; it follows from the sources and is not edited here."""

    project_path = "project"
    list_display = ("__str__", "kind", "combines", "project", "member_count")
    list_filter = (("kind", ChoicesDropdownFilter), ("project", OwnRelatedFilter))
    list_select_related = ("project__tenant",)
    search_fields = ("title", "key")
    inlines = (AudienceMemberInline,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Audience]:
        return super().get_queryset(request).annotate(number=Count("members"))

    @display(description="listed members")
    def member_count(self, audience: Audience) -> int:
        return int(audience.number)  # type: ignore[attr-defined] # annotated
