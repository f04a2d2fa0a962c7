"""The admin of saved views: kept from any list, opened from it and from the dashboard."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.contrib.filters.admin import AutocompleteSelectFilter
from unfold.decorators import display

from connections.admin_scope import FabricAdmin, projects_of, staff
from connections.models import Project, SavedView
from connections.roles import Act, may, must
from connections.saved_views import (
    NAME_MOST,
    NotKept,
    address_of_view,
    keep_view,
    named,
    remove_view,
)


class SavedViewForm(forms.ModelForm):
    """A view's name, and with whom it is shared."""

    class Meta:
        model = SavedView
        fields = ("name", "shared_with")

    def clean_name(self) -> str:
        """Return the name, which its owner has given no other view of the list."""
        name = " ".join(self.cleaned_data["name"].split())
        others = SavedView.objects.filter(
            owner_id=self.instance.owner_id, model=self.instance.model, name=name
        ).exclude(pk=self.instance.pk)
        if others.exists():
            raise ValidationError("Another view of this list has this name.")
        return name


@admin.register(SavedView)
class SavedViewAdmin(FabricAdmin):
    """One's own views and those shared with one's projects; kept from a list."""

    form = SavedViewForm
    list_display = ("name", "open_it", "owner", "shared_with", "created_at")
    list_display_links = ("name",)
    list_filter = (("shared_with", AutocompleteSelectFilter),)
    list_select_related = ("owner", "shared_with__tenant")
    search_fields = ("name",)
    ordering = ("name", "id")
    fields = ("name", "shared_with", "open_it", "query")
    readonly_fields = ("open_it", "query")

    def get_queryset(self, request: HttpRequest) -> QuerySet[SavedView]:
        rows: QuerySet[SavedView] = super().get_queryset(request)
        return rows & SavedView.objects.visible_to(staff(request))

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Everybody who is let into the admin keeps lists; each list asks for itself."""
        return bool(request.user.is_active and request.user.is_staff)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        if obj is None:
            return self.has_view_permission(request)
        return bool(obj.owner_id == staff(request).pk)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        if obj is None or obj.owner_id == staff(request).pk:
            return self.has_view_permission(request)
        shared = obj.shared_with_id
        return shared is not None and may(staff(request), Act.REMOVE_VIEWS, shared)

    def formfield_for_foreignkey(
        self, db_field: Any, request: HttpRequest, **kwargs: Any
    ) -> Any:
        kwargs["queryset"] = projects_of(staff(request)).select_related("tenant")
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def save_model(
        self, request: HttpRequest, obj: SavedView, form: Any, change: bool
    ) -> None:
        """Save; sharing with a project asks for an editor of it, as keeping does."""
        if obj.shared_with_id is not None:
            must(staff(request), Act.SHARE_VIEWS, obj.shared_with_id)
        super().save_model(request, obj, form, change)

    def delete_model(self, request: HttpRequest, obj: SavedView) -> None:
        remove_view(obj, by=staff(request))

    def delete_queryset(
        self, request: HttpRequest, queryset: QuerySet[SavedView]
    ) -> None:
        for view in queryset.select_related("shared_with"):
            remove_view(view, by=staff(request))

    @display(description="list")
    def open_it(self, view: SavedView) -> SafeString | str:
        address, model_admin = address_of_view(view), named(view.model)
        if not address:
            return "its list is gone"
        title = model_admin.opts.verbose_name_plural
        return format_html(
            '<a class="text-primary-600 dark:text-primary-500" href="{}">{}</a>',
            address,
            f"Open it in {title}",
        )

    def get_urls(self) -> list[URLPattern]:
        keep = path(
            "keep/",
            self.admin_site.admin_view(self.keep),
            name="connections_savedview_keep",
        )
        return [keep, *super().get_urls()]

    def keep(self, request: HttpRequest) -> HttpResponse:
        """Keep the list that was open, and return to it."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        label, query = request.POST.get("model", ""), request.POST.get("query", "")
        model_admin = named(label)
        if model_admin is None:
            raise PermissionDenied("There is no such list.")
        back = reverse(f"admin:{label.replace('.', '_', 1)}_changelist")
        try:
            view = keep_view(
                request,
                by=staff(request),
                name=request.POST.get("name", "")[: NAME_MOST + 1],
                label=label,
                query=query,
                shared_with=_shared_with(request),
            )
        except NotKept as error:
            messages.error(request, " ".join(error.messages))
            return redirect(back)
        messages.success(request, f"“{view.name}” is kept.")
        return redirect(address_of_view(view))


def _shared_with(request: HttpRequest) -> Project | None:
    """Return the project named by the form: one of the user's, or a refusal."""
    given = request.POST.get("shared_with", "")
    if not given:
        return None
    mine = projects_of(staff(request)).select_related("tenant")
    found = mine.filter(pk=given).first() if given.isdigit() else None
    if found is None:
        raise PermissionDenied("You are in no such project.")
    return found
