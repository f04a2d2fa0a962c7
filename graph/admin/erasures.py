"""The admin of erasures: what was erased and how that was proven, and asking for one.

Only an admin of the project sees them and asks for them; nothing goes before its name
was typed under the list of what goes with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db import transaction
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from unfold.decorators import display
from unfold.widgets import (
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanWidget,
)

from connections.admin_scope import ReadOnlyAdmin, audiences_of, staff
from connections.models import Project, Source
from connections.roles import Act, must_somewhere, projects_where
from graph.admin.scope import ProjectFilter, project_path
from graph.erasing import begin
from graph.erasing_plan import ErasingError, Plan, plan_person, plan_source
from graph.models import Erasure
from graph.tasks import carry_on_erasure

# What a plan counts, as its page says it.
COUNTED = {
    "graph_evidence": "pieces of evidence",
    "graph_nodes": "nodes that nothing else supports",
    "graph_nodes kept": "nodes that stay, with other evidence",
    "graph_edges": "edges that nothing else supports",
    "graph_edges kept": "edges that stay, with other evidence",
}


class WhoForm(forms.Form):
    """Whom to erase, and from where."""

    project = forms.ModelChoiceField(
        Project.objects.none(), widget=UnfoldAdminSelectWidget
    )
    name = forms.CharField(
        max_length=600,
        label="Address, or key of an account or a person",
        help_text="Such as ann@example.com, or slack-user:U123 as a node's page has it.",
        widget=UnfoldAdminTextInputWidget,
    )
    keep_messages = forms.BooleanField(
        required=False,
        label="Keep what they wrote, without its author",
        widget=UnfoldBooleanWidget,
    )
    scrub_first = forms.BooleanField(
        required=False,
        label="Take out their bare first name, too, where nobody else bears it",
        widget=UnfoldBooleanWidget,
    )


@admin.register(Erasure)
class ErasureAdmin(ReadOnlyAdmin):
    """Erasures of the user's own projects; a row names nobody once it is finished."""

    view_act = Act.ERASE
    list_display = (
        "__str__",
        project_path,
        "state_label",
        "progress",
        "left",
        "asked_by",
        "started_at",
        "finished_at",
    )
    # After the column of that name, which shows it.
    project_path = "project"  # type: ignore[assignment]
    list_filter = (ProjectFilter, "kind", "state")
    list_select_related = ("project__tenant", "asked_by")
    ordering = ("-id",)
    change_list_template = "admin/graph/erasures.html"
    fields = (
        "kind",
        "project",
        "state",
        "reason",
        "asked_by",
        "started_at",
        "finished_at",
        "what_went",
        "proof",
    )

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        own = [
            path(
                "source/<int:pk>/",
                view(self.erase_source),
                name="graph_erasure_source",
            ),
            path("person/", view(self.erase_person), name="graph_erasure_person"),
        ]
        return own + super().get_urls()

    def erase_source(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Ask for the erasure of a source, and begin it."""
        mine = projects_where(staff(request), Act.ERASE)
        rows = Source.objects.filter(project__in=mine)
        # As the list of sources: one that is closed to an admin, they do not know of.
        open_to = Q(audience=None) | Q(audience__in=audiences_of(request))
        source = get_object_or_404(rows.filter(open_to), pk=pk)
        return self._asked(request, plan_source(source))

    def erase_person(self, request: HttpRequest) -> HttpResponse:
        """Ask whom to erase, show what goes with them, and begin it."""
        must_somewhere(staff(request), Act.ERASE)
        mine = projects_where(staff(request), Act.ERASE).select_related("tenant")
        form = WhoForm(request.POST or request.GET or None)
        form.fields["project"].queryset = mine  # type: ignore[attr-defined] # a choice
        if len(mine) == 1:
            form.initial["project"] = mine[0]
        if form.is_valid():
            try:
                given = form.cleaned_data
                plan = plan_person(
                    given["project"],
                    given["name"],
                    keep_messages=given["keep_messages"],
                    scrub_first=given["scrub_first"],
                )
                return self._asked(request, plan)
            except ErasingError as error:
                form.add_error("name", str(error))
        return self._page(request, form=form, plan=None)

    def _asked(self, request: HttpRequest, plan: Plan) -> HttpResponse:
        problem = ""
        if request.method == "POST" and "token" in request.POST:
            if request.POST.get("typed", "").strip() == plan.name:
                try:
                    return self._begin(request, plan)
                except ErasingError as error:
                    problem = str(error)
            else:
                problem = "That is not its name. Nothing was erased."
        return self._page(request, form=None, plan=plan, problem=problem)

    def _begin(self, request: HttpRequest, plan: Plan) -> HttpResponse:
        with transaction.atomic():
            erasure = begin(
                plan,
                by=staff(request),
                reason=request.POST.get("reason", "")[:500],
                token=request.POST["token"],
            )
            transaction.on_commit(lambda: carry_on_erasure.delay(erasure.pk))
        messages.success(
            request, "It is being erased. This page says when it is done, and proven."
        )
        return redirect(reverse("admin:graph_erasure_change", args=[erasure.pk]))

    def _page(self, request: HttpRequest, **context: Any) -> HttpResponse:
        shown = {
            **self.admin_site.each_context(request),
            "title": "Erase for good",
            "page_title": "Erase for good",
            "opts": self.opts,
            **context,
        }
        if plan := context["plan"]:
            shown["counted"] = [
                (said, plan.counts.get(name, 0)) for name, said in COUNTED.items()
            ]
        return TemplateResponse(request, "admin/graph/erase.html", shown)

    @display(description="state", label={"running": "info", "finished": "success"})
    def state_label(self, erasure: Erasure) -> str:
        return erasure.state

    @display(description="records")
    def progress(self, erasure: Erasure) -> str:
        return f"{erasure.done:,} of {max(erasure.total, erasure.done):,}"

    @display(description="rows left")
    def left(self, erasure: Erasure) -> str:
        found = erasure.residue.get("found")
        return "-" if found is None else f"{sum(found.values()):,}"

    @display(description="rows gone or changed, by table")
    def what_went(self, erasure: Erasure) -> SafeString:
        return _table(("table", "rows"), erasure.counts)

    @display(description="what was read to prove it")
    def proof(self, erasure: Erasure) -> SafeString | str:
        """The scan in a sentence, and each place where something was left."""
        read = erasure.residue
        found = read.get("found")
        if found is None:
            return "Nothing yet: it is read when all is erased."
        said = (
            f"{read.get('rows', 0):,} rows of {read.get('tables', 0):,} tables "
            f"({read.get('columns', 0):,} columns) and {read.get('vectors', 0):,} "
            f"vectors were searched for {read.get('probes', 0):,} traces of it: "
        )
        if not found:
            return f"{said}none is left."
        left = f"{sum(found.values()):,} rows are left. Begin the erasure again."
        return format_html("{}{}", said + left, _table(("place", "rows"), found))


def _table(heads: tuple[str, str], counts: Mapping[str, int]) -> SafeString:
    """Return numbers by name as a table, the largest first."""
    if not counts:
        return format_html("{}", "Nothing yet.")
    ordered = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    return format_html(
        '<table class="fabric-counts"><thead><tr><th scope="col">{}</th>'
        '<th scope="col">{}</th></tr></thead><tbody>{}</tbody></table>',
        *(head.capitalize() for head in heads),
        format_html_join(
            "",
            '<tr><th scope="row">{}</th><td>{}</td></tr>',
            ((name, f"{number:,}") for name, number in ordered),
        ),
    )
