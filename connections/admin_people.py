"""The admin of people: users, and who is what in which project."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import AdminUserCreationForm
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from unfold.admin import TabularInline
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from connections.admin_scope import (
    FabricAdmin,
    OwnRelatedFilter,
    ReadOnlyInline,
    staff,
)
from connections.models import (
    Membership,
    Project,
    Role,
    User,
    UserAddress,
    record_audit,
)
from connections.people import (
    LAST_ADMIN,
    LAST_OPERATOR,
    is_last_operator,
    keep_membership,
    leaves_no_admin,
    only_admin_in,
    remove_membership,
)
from connections.roles import Act, projects_where
from connections.signing_in import tenants_of

MIGHT = ("is_active", "is_staff", "is_superuser")


class NewUserForm(UserCreationForm):
    """A new user; who is no superuser says at once in which project, as what."""

    by: User
    project = forms.ModelChoiceField(
        Project.objects.none(), required=False, help_text="Where they become a member."
    )
    role = forms.ChoiceField(choices=Role, required=False, initial=Role.VIEWER)

    class Meta(AdminUserCreationForm.Meta):
        model = User
        fields = ("email", "name")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        rows = Project.objects.select_related("tenant")
        if not self.by.is_superuser:
            ruled = projects_where(self.by, Act.MANAGE_PEOPLE)
            rows = rows.filter(pk__in=ruled.values("pk"))
            self.fields["project"].required = True
        self.fields["project"].queryset = rows  # type: ignore[attr-defined]

    def clean_email(self) -> str:
        email: str = self.cleaned_data["email"]
        if UserAddress.objects.filter(address=email.lower()).exists():
            raise forms.ValidationError("This address is another user's.")
        return email


class ChangedUserForm(UserChangeForm):
    class Meta(UserChangeForm.Meta):
        model = User
        fields = ("email", "name", "password", "is_active", "is_staff", "is_superuser")

    def clean(self) -> dict[str, Any]:
        """Refuse to lock the last admin of a project, or the last operator, out."""
        cleaned: dict[str, Any] = super().clean() or {}
        stays = cleaned.get("is_active", self.instance.is_active)
        before = User.objects.get(pk=self.instance.pk)
        if not stays and (projects := only_admin_in(before)):
            names = ", ".join(project.path for project in projects)
            self.add_error("is_active", f"{LAST_ADMIN} ({names})")
        still = stays and cleaned.get("is_superuser", before.is_superuser)
        if not still and is_last_operator(before):
            raise forms.ValidationError(LAST_OPERATOR)
        return cleaned


class AddressInline(TabularInline):
    """Addresses: a verified one opens what it was addressed to, so operators say."""

    model = UserAddress
    extra = 0
    tab = True

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return staff(request).is_superuser

    has_change_permission = has_delete_permission = has_view_permission

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return staff(request).is_superuser


class UserMembershipInline(ReadOnlyInline):
    """Where a user is a member, as far as the reader manages people there."""

    model = Membership
    tab = True
    fields = ("project", "role")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Membership]:
        rows = super().get_queryset(request).select_related("project__tenant", "user")
        user = staff(request)
        if user.is_superuser:
            return rows
        ruled = projects_where(user, Act.MANAGE_PEOPLE).values("pk")
        return rows.filter(Q(project__in=ruled) | Q(user=user))


@admin.register(User)
class FabricUserAdmin(FabricAdmin, UserAdmin):  # type: ignore[misc] # untyped bases
    """Users. Operators change everybody; others themselves, and who manages people
    sees those of their projects and adds new ones to them."""

    form, add_form = ChangedUserForm, NewUserForm
    change_password_form = AdminPasswordChangeForm
    operators = True
    view_act = add_act = change_act = Act.MANAGE_PEOPLE
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
    filter_horizontal = ()
    inlines = (AddressInline, UserMembershipInline)
    fieldsets = (
        (None, {"fields": ("email", "name", "password")}),
        ("May", {"fields": ("is_active", "is_staff", "is_superuser")}),
        ("Since", {"fields": ("date_joined", "last_login")}),
    )
    add_fieldsets = (
        (
            None,
            {"fields": ("email", "name", "usable_password", "password1", "password2")},
        ),
        ("Member of", {"fields": ("project", "role")}),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        rows, user = super().get_queryset(request), staff(request)
        if user.is_superuser:
            return rows
        ruled = projects_where(user, Act.MANAGE_PEOPLE).values("pk")
        shares = Membership.objects.filter(project__in=ruled).values("user")
        return rows.filter(Q(pk__in=shares) | Q(pk=user.pk))

    def get_form(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Return the form, which knows who fills it."""
        form = super().get_form(request, *args, **kwargs)
        return type(form.__name__, (form,), {"by": staff(request)})

    def get_inlines(self, request: HttpRequest, obj: User | None = None) -> Any:
        return self.inlines if obj else ()

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> Any:
        """Let only an operator make others mighty, or change how one signs in."""
        if obj is None or staff(request).is_superuser:
            return self.readonly_fields
        might = ("email", "is_active", "is_staff", "is_superuser")
        return (*self.readonly_fields, *might)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return obj == request.user or super().has_view_permission(request, obj)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whose name or password one sets, as that person one may sign in."""
        if obj is None:
            return super().has_change_permission(request)
        return obj == request.user or staff(request).is_superuser

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        if not staff(request).is_superuser:
            return False
        return obj is None or not (only_admin_in(obj) or is_last_operator(obj))

    @transaction.atomic
    def save_model(
        self, request: HttpRequest, obj: User, form: Any, change: bool
    ) -> None:
        """Save. The address of a new user opens what was sent to it only once an
        operator vouches for it: who adds a person is not that address."""
        super().save_model(request, obj, form, change)
        by = staff(request)
        project = form.cleaned_data.get("project")
        if not change:
            verified = timezone.now() if by.is_superuser else None
            obj.addresses.create(address=obj.email.lower(), verified_at=verified)
        verb = "user.changed" if change else "user.created"
        for tenant in tenants_of(obj) if change else [project and project.tenant]:
            record_audit(
                verb,
                target=obj.email,
                tenant=tenant,
                actor=by,
                fields=form.changed_data,
                now={name: bool(getattr(obj, name)) for name in MIGHT},
            )
        if not change and project is not None:
            role = form.cleaned_data.get("role") or Role.VIEWER
            keep_membership(Membership(project=project, user=obj, role=role), by=by)

    @transaction.atomic
    def delete_model(self, request: HttpRequest, obj: User) -> None:
        for tenant in tenants_of(obj):
            record_audit(
                "user.deleted", target=obj.email, tenant=tenant, actor=staff(request)
            )
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        """Delete one by one: together they may be all admins of a project."""
        for user in queryset:
            if self.has_delete_permission(request, user):
                self.delete_model(request, user)
            else:
                self.message_user(request, f"{user}: {LAST_ADMIN}", messages.ERROR)


class MembershipForm(forms.ModelForm):
    """A role of a user; the last admin of a project keeps theirs."""

    class Meta:
        model = Membership
        fields = ("project", "user", "role")

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if self.instance.pk and cleaned.get("role") != Role.ADMIN:
            before = Membership.objects.select_related("project").get(
                pk=self.instance.pk
            )
            if leaves_no_admin(before):
                raise forms.ValidationError(LAST_ADMIN)
        return cleaned


@admin.register(Membership)
class MembershipAdmin(FabricAdmin):
    """Who is what where; of the projects whose people one manages."""

    form = MembershipForm
    project_path, operators = "project", True
    view_act = add_act = change_act = delete_act = Act.MANAGE_PEOPLE
    list_display = ("user", "project", "role")
    list_filter = (("role", ChoicesDropdownFilter), ("project", OwnRelatedFilter))
    list_select_related = ("user", "project__tenant")
    search_fields = ("user__email", "user__name", "project__slug")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Of a membership only the role changes: it is somebody's, somewhere."""
        return ("project", "user") if obj else ()

    def formfield_for_foreignkey(
        self, db_field: Any, request: HttpRequest, **kwargs: Any
    ) -> Any:
        """Offer the projects whose people one manages, not all that one may read."""
        user = staff(request)
        if db_field.name == "project" and not user.is_superuser:
            kwargs["queryset"] = projects_where(user, Act.MANAGE_PEOPLE)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        if not super().has_delete_permission(request, obj):
            return False
        if not isinstance(obj, Membership):
            return True
        with transaction.atomic():
            return not leaves_no_admin(obj)

    def save_model(
        self, request: HttpRequest, obj: Membership, form: Any, change: bool
    ) -> None:
        keep_membership(obj, by=staff(request))

    @transaction.atomic
    def delete_model(self, request: HttpRequest, obj: Membership) -> None:
        if not remove_membership(obj, by=staff(request)):
            self.message_user(request, f"{obj}: {LAST_ADMIN}", messages.ERROR)

    def delete_queryset(
        self, request: HttpRequest, queryset: QuerySet[Membership]
    ) -> None:
        """Delete one by one: together they may be all admins of a project."""
        for membership in queryset:
            self.delete_model(request, membership)
