"""The admin of model keys, written only, and of what models cost, read only."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.decorators import method_decorator
from django.views.decorators.debug import sensitive_post_parameters
from unfold.contrib.filters.admin import ChoicesDropdownFilter, RangeDateFilter
from unfold.decorators import action, display
from unfold.widgets import UnfoldAdminPasswordWidget

from connections.admin_scope import (
    FabricAdmin,
    OwnRelatedFilter,
    ReadOnlyAdmin,
    staff,
)
from connections.models import ModelCredential, ModelUsage, record_audit
from connections.providers.check import check
from connections.roles import Act


class CredentialForm(forms.ModelForm):
    """What is set is never shown; an empty key keeps the one that is there."""

    class Meta:
        model = ModelCredential
        fields = (
            "tenant",
            "project",
            "provider",
            "base_url",
            "key",
            "chat_model",
            "small_model",
            "enabled",
        )
        widgets = {
            "key": UnfoldAdminPasswordWidget(
                render_value=False, attrs={"autocomplete": "new-password"}
            )
        }


@admin.register(ModelCredential)
@method_decorator(sensitive_post_parameters("key"), name="changeform_view")
class ModelCredentialAdmin(FabricAdmin):
    """Keys of the user's tenants: entered, replaced, tried; never shown."""

    form = CredentialForm
    tenant_path = "tenant"
    view_act = add_act = change_act = delete_act = Act.MANAGE_KEYS
    list_display = ("__str__", "provider", "address", "key_state", "enabled")
    list_filter = (
        ("tenant", OwnRelatedFilter),
        ("project", OwnRelatedFilter),
        ("provider", ChoicesDropdownFilter),
    )
    list_select_related = ("tenant", "project__tenant")
    search_fields = ("tenant__slug", "project__slug", "base_url", "chat_model")
    readonly_fields = ("key_state",)
    actions_submit_line = ("save_and_test",)

    def get_readonly_fields(
        self, request: HttpRequest, obj: ModelCredential | None = None
    ) -> Any:
        """A key stays its tenant's: it is encrypted for it."""
        return (*self.readonly_fields, "tenant") if obj else self.readonly_fields

    @display(description="address")
    def address(self, credential: ModelCredential) -> str:
        return credential.base_url or "the provider's own"

    @display(description="key stored", label={"set": "success", "none": "warning"})
    def key_state(self, credential: ModelCredential) -> str:
        return "set" if credential.key else "none"

    @action(description="Save and test", permissions=["change"])
    def save_and_test(self, request: HttpRequest, obj: ModelCredential) -> None:
        """Ask the models once the row is saved: not while a transaction is open."""

        def test() -> None:
            for tried in check(obj):
                level = messages.SUCCESS if tried.is_fine else messages.ERROR
                self.message_user(request, tried.sentence, level)

        transaction.on_commit(test)

    def save_model(
        self, request: HttpRequest, obj: ModelCredential, form: Any, change: bool
    ) -> None:
        """Save; the audit names the fields that were changed, and no value of them."""
        with transaction.atomic():
            super().save_model(request, obj, form, change)
            record_audit(
                "model_key.changed" if change else "model_key.created",
                target=str(obj),
                tenant=obj.tenant,
                project=obj.project,
                actor=staff(request),
                fields=form.changed_data,
            )

    def delete_model(self, request: HttpRequest, obj: ModelCredential) -> None:
        with transaction.atomic():
            record_audit(
                "model_key.deleted",
                target=str(obj),
                tenant=obj.tenant,
                project=obj.project,
                actor=staff(request),
            )
            super().delete_model(request, obj)

    def delete_queryset(
        self, request: HttpRequest, queryset: QuerySet[ModelCredential]
    ) -> None:
        with transaction.atomic():
            for credential in queryset:
                self.delete_model(request, credential)


@admin.register(ModelUsage)
class ModelUsageAdmin(ReadOnlyAdmin):
    """What models cost, by project and day."""

    project_path, view_act = "project", Act.READ_COSTS
    list_display = (
        "day",
        "project",
        "provider",
        "model",
        "purpose",
        "requests",
        "failed",
        "tokens_read",
        "tokens_written",
        "estimated",
    )
    list_filter = (
        ("project", OwnRelatedFilter),
        ("day", RangeDateFilter),
    )
    list_select_related = ("project__tenant",)
    search_fields = ("model", "provider", "purpose")
