"""The admin of connections to databases: entered, tested, their passwords never shown."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.html import format_html
from django.views.decorators.debug import sensitive_post_parameters
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.decorators import action, display
from unfold.widgets import UnfoldAdminPasswordWidget

from connections.admin_scope import FabricAdmin, OwnRelatedFilter, staff
from connections.databases import changing
from connections.databases.rights import test_database
from connections.models import Database, User
from connections.roles import Act

BUTTON = "connections_database_save_and_test"
SHOWN = (
    "project",
    "name",
    "title",
    "audience",
    "engine",
    "host",
    "port",
    "database",
    "user",
    "password",
    "encryption",
    "certificate",
    "rows_most",
    "seconds_most",
    "superuser_allowed",
    "enabled",
)
STATES = {
    "not tested": "info",
    "fine": "success",
    "fails": "danger",
    "off": "warning",
}


class DatabaseForm(forms.ModelForm):
    """A connection; an empty password keeps the one that is stored."""

    by: User

    class Meta:
        model = Database
        fields = SHOWN
        labels = {"password": "Password"}
        widgets = {
            "password": UnfoldAdminPasswordWidget(
                render_value=False, attrs={"autocomplete": "new-password"}
            )
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "audience" in self.fields:
            self.fields["audience"].required = False
            self.fields["audience"].help_text += " Empty: everybody in the project."

    def clean(self) -> dict[str, Any]:
        """Refuse what the API refuses too; the audience is everybody's if none is set."""
        cleaned: dict[str, Any] = super().clean() or {}
        project = cleaned.get("project") or getattr(self.instance, "project", None)
        if project is not None and not cleaned.get("audience"):
            cleaned["audience"] = changing.public_audience(project)
        return cleaned

    def _post_clean(self) -> None:
        """Check the row as it would be stored, once the form has filled it."""
        self.before = Database.objects.filter(pk=self.instance.pk).first()
        super()._post_clean()  # type: ignore[misc] # Django's own
        if self.errors or self.instance.project_id is None:
            return
        self.instance.tenant_id = self.instance.project.tenant_id
        entered = bool(self.cleaned_data.get("password"))
        wrong = changing.wrong_changes(
            self.instance, self.before, by=self.by, has_password=entered
        )
        if self.before is None and not self._is_of(self.by):
            wrong["project"] = "You need to be an admin of that project."
        for name, said in wrong.items():
            self.add_error(name if name in self.fields else None, said)

    def _is_of(self, user: User) -> bool:
        return changing.may_change(user, self.instance.project)


@admin.register(Database)
@method_decorator(sensitive_post_parameters("password"), name="changeform_view")
class DatabaseAdmin(FabricAdmin):
    """Connections of the user's projects that they may see; its admins change them."""

    form = DatabaseForm
    project_path, view_act = "project", Act.SEE_SOURCES
    add_act = change_act = delete_act = Act.MANAGE_CONNECTIONS
    list_display = ("__str__", "project", "engine", "address", "state", "enabled")
    list_filter = (
        ("project", OwnRelatedFilter),
        ("engine", ChoicesDropdownFilter),
    )
    list_select_related = ("project__tenant",)
    search_fields = ("name", "title", "host", "database")
    readonly_fields = ("test_result", "schema_page", "password_state")
    autocomplete_fields = ("audience",)
    actions_submit_line = ("save_and_test",)
    fieldsets = (
        ("Test", {"fields": ("test_result", "schema_page")}),
        (
            "Connection",
            {"fields": ("project", "name", "title", "audience", "enabled")},
        ),
        (
            "Server and login",
            {
                "fields": (
                    ("engine", "host", "port"),
                    ("database", "user"),
                    ("password", "password_state"),
                ),
                "description": "Of a login that only reads. Whoever changes the server "
                "or the database enters the password anew.",
            },
        ),
        ("Encryption", {"fields": ("encryption", "certificate")}),
        ("Bounds", {"fields": (("rows_most", "seconds_most"), "superuser_allowed")}),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Database]:
        rows = super().get_queryset(request)
        seen = Database.objects.visible_to(staff(request))
        return rows.filter(pk__in=seen.values("pk"))

    def get_form(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Return the form, which knows who fills it."""
        form = super().get_form(request, *args, **kwargs)
        return type(form.__name__, (form,), {"by": staff(request)})

    def get_readonly_fields(
        self, request: HttpRequest, obj: Database | None = None
    ) -> Any:
        """A connection stays its project's: its password is encrypted for it."""
        return (*self.readonly_fields, "project") if obj else self.readonly_fields

    def get_fieldsets(self, request: HttpRequest, obj: Database | None = None) -> Any:
        """Leave out the result of a test that nobody could have made."""
        return self.fieldsets if obj else self.fieldsets[1:]

    @display(description="address")
    def address(self, database: Database) -> str:
        return f"{database.host}:{database.port}/{database.database}"

    @display(description="stored password")
    def password_state(self, database: Database) -> str:
        return "set; leave empty to keep it" if database.password else "none stored"

    @display(description="last test", label=STATES)
    def state(self, database: Database) -> str:
        if not database.enabled:
            return "off"
        if not database.test_report:
            return "not tested"
        return "fine" if database.test_report.get("is_fine") else "fails"

    @display(description="last test")
    def test_result(self, database: Database) -> str:
        context = {"database": database, "report": database.test_report}
        return render_to_string("admin/database_test.html", context)

    @display(description="schema")
    def schema_page(self, database: Database) -> str:
        address = reverse("admin:database_schema", args=[database.pk])
        if database.discovery_error:
            said = f"not discovered: {database.discovery_error}"
        elif database.discovered_at:
            said = f"as of {timezone.localtime(database.discovered_at):%Y-%m-%d %H:%M}"
        else:
            said = "not discovered yet"
        return format_html('<a href="{}">Tables and columns</a>, {}', address, said)

    @action(description="Save and test", permissions=["change"])
    def save_and_test(self, request: HttpRequest, obj: Database) -> None:
        """Connect once the row is saved: not while a transaction is open."""

        def test() -> None:
            report = test_database(obj, by=staff(request))
            level = messages.SUCCESS if report.is_fine else messages.ERROR
            self.message_user(request, report.sentence, level)

        transaction.on_commit(test)

    def response_add(
        self, request: HttpRequest, obj: Database, *args: Any, **kwargs: Any
    ) -> HttpResponse:
        return self._to_result(request, obj) or super().response_add(
            request, obj, *args, **kwargs
        )

    def response_change(self, request: HttpRequest, obj: Database) -> HttpResponse:
        return self._to_result(request, obj) or super().response_change(request, obj)

    def _to_result(self, request: HttpRequest, obj: Database) -> HttpResponse | None:
        """Return to the page that shows what the test found."""
        if BUTTON not in request.POST:
            return None
        return redirect("admin:connections_database_change", obj.pk)

    def save_model(
        self, request: HttpRequest, obj: Database, form: Any, change: bool
    ) -> None:
        """Save and audit; then the buttons of the form do what they do."""
        changing.keep_database(
            obj, form.before, by=staff(request), fields=form.changed_data
        )
        if BUTTON in request.POST:
            self.save_and_test(request, obj)

    def delete_model(self, request: HttpRequest, obj: Database) -> None:
        changing.remove_database(obj, by=staff(request))

    def delete_queryset(
        self, request: HttpRequest, queryset: QuerySet[Database]
    ) -> None:
        with transaction.atomic():
            for database in queryset:
                self.delete_model(request, database)
