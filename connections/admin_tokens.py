"""The admin of API tokens: made, shown once, revoked."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.html import format_html
from unfold.contrib.filters.admin import RangeDateTimeFilter
from unfold.decorators import display
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from connections.admin_scope import FabricAdmin, OwnRelatedFilter, ask_first, staff
from connections.models import (
    ApiToken,
    Project,
    Scope,
    Tenant,
    User,
    record_audit,
)
from connections.roles import Act, gives_no_more, projects_where, tenants_where

NO_MORE = (
    "This user may see or do more there than you: a token acts as its user, so only "
    "they make one for themselves."
)


class TokenForm(forms.ModelForm):
    """A token of oneself, or of one who may nothing that one may not oneself."""

    by: User
    scopes = forms.MultipleChoiceField(
        choices=Scope.choices, widget=UnfoldAdminCheckboxSelectMultipleWidget
    )

    class Meta:
        model = ApiToken
        fields = ("user", "tenant", "name", "scopes", "expires_at")

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        user, tenant = cleaned.get("user"), cleaned.get("tenant")
        if user and tenant and not gives_no_more(self.by, user, tenant):
            self.add_error("user", NO_MORE)
        return cleaned


@admin.register(ApiToken)
class ApiTokenAdmin(FabricAdmin):
    """Tokens are made and revoked; their text is shown once and never stored."""

    form = TokenForm
    tenant_path = "tenant"
    add_act = change_act = Act.MANAGE_TOKENS
    list_display = (
        "name",
        "shown_prefix",
        "user",
        "tenant",
        "state",
        "last_used_at",
        "expires_at",
    )
    list_filter = (
        ("tenant", OwnRelatedFilter),
        ("expires_at", RangeDateTimeFilter),
    )
    list_select_related = ("user", "tenant")
    search_fields = ("name", "prefix", "user__email")
    actions = ("revoke",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[ApiToken]:
        """Return one's own, and all of tenants whose tokens one manages."""
        user = staff(request)
        ruled = tenants_where(user, Act.MANAGE_TOKENS).values("pk")
        rows = ApiToken.objects.filter(Q(user=user) | Q(tenant__in=ruled))
        ordering = self.get_ordering(request)
        return rows.order_by(*ordering) if ordering else rows

    def place_of(self, obj: Any) -> Project | Tenant | None:
        """A token that is in the list may be seen, and revoked."""
        return None

    def get_form(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Return the form, which knows who fills it."""
        form = super().get_form(request, *args, **kwargs)
        return type(form.__name__, (form,), {"by": staff(request)})

    def formfield_for_foreignkey(
        self, db_field: Any, request: HttpRequest, **kwargs: Any
    ) -> Any:
        if db_field.name == "tenant":
            ruled = projects_where(staff(request), Act.MANAGE_TOKENS)
            kwargs["queryset"] = Tenant.objects.filter(projects__in=ruled).distinct()
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return obj is None and super().has_change_permission(request)

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    @display(description="begins with")
    def shown_prefix(self, token: ApiToken) -> str:
        return f"fab_{token.prefix}_"

    @display(
        description="state",
        label={"live": "success", "revoked": "danger", "expired": "warning"},
    )
    def state(self, token: ApiToken) -> str:
        if token.revoked_at:
            return "revoked"
        return "live" if token.is_live else "expired"

    def save_model(
        self, request: HttpRequest, obj: ApiToken, form: Any, change: bool
    ) -> None:
        """Issue the token, and show its text this once."""
        with transaction.atomic():
            token, text = ApiToken.objects.issue(**form.cleaned_data)
            record_audit(
                "token.issued",
                target=str(token),
                tenant=token.tenant,
                actor=staff(request),
                scopes=[*token.scopes],
            )
        obj.pk, obj.prefix, obj._state.adding = token.pk, token.prefix, False
        self.message_user(
            request,
            format_html(
                "Copy the token now, it is not shown again: <code>{}</code>", text
            ),
            messages.WARNING,
        )

    @admin.action(description="Revoke selected tokens", permissions=["revoke"])
    def revoke(
        self, request: HttpRequest, queryset: QuerySet[ApiToken]
    ) -> HttpResponse | None:
        live = queryset.filter(revoked_at=None)
        page = ask_first(
            self,
            request,
            title="Revoke these tokens?",
            action="revoke",
            rows=live,
            consequence="Whatever uses them is refused from now on; a revoked token "
            "cannot be made live again.",
            submit="Revoke them",
        )
        if page:
            return page
        with transaction.atomic():
            tokens = list(live.select_for_update(of=("self",)))
            for token in tokens:
                ApiToken.objects.filter(pk=token.pk).update(revoked_at=timezone.now())
                record_audit(
                    "token.revoked",
                    target=str(token),
                    tenant=token.tenant,
                    actor=staff(request),
                )
        self.message_user(request, f"Revoked: {len(tokens)}.", messages.SUCCESS)
        return None
