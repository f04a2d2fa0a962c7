"""What Ctrl-K finds in the admin: pages, saved views, and a few rows of each model.

Unfold's own search reads every row that matches and keeps what it found for five
minutes; ours reads a few, anew each time, so that nobody finds what was closed since.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from django.contrib import admin
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from unfold.dataclasses import SearchResult

from connections.admin_scope import staff
from connections.models import Database, Project, SavedView, Source
from connections.saved_views import address_of_view
from fabric_site.admin_site import may_view, pages_of
from graph.admin.identity import Person
from graph.models import Node

EACH, FEWEST, LONGEST = 5, 2, 200
# Whose lists are searched as well: each has an index for it, or few rows.
SEARCHED: tuple[tuple[type[Any], str], ...] = (
    (Project, "workspaces"),
    (Source, "database"),
    (Database, "storage"),
    (Person, "person"),
    (Node, "hub"),
)


def search(request: HttpRequest) -> HttpResponse:
    """Return what Ctrl-K shows for the words typed; nothing for none."""
    words = request.GET.get("s", "").strip()[:LONGEST]
    if not words:
        return HttpResponse()
    begun = time.monotonic()
    found = Paginator(list(results(request, words)), 100)
    return TemplateResponse(
        request,
        "admin/palette.html",
        {
            "results": found.page(1),
            "page_obj": found,
            "page_counter": 0,
            "execution_time": time.monotonic() - begun,
        },
        headers={"HX-Trigger": "search"},
    )


def results(request: HttpRequest, words: str) -> Iterator[SearchResult]:
    """Yield the pages, the saved views and the rows that `words` find, a few of each."""
    lower = words.lower()
    for section, name, icon, link in pages_of(request):
        if lower in name.lower() or lower in section.lower():
            yield SearchResult(name, section or "Page", link, icon)
    views = SavedView.objects.visible_to(staff(request)).filter(name__icontains=words)
    for view in views.order_by("name", "pk")[:EACH]:
        if address := address_of_view(view):
            yield SearchResult(view.name, "Saved view", address, "bookmark")
    if len(words) >= FEWEST:
        for model, icon in SEARCHED:
            yield from _rows(request, model, icon, words)


def _rows(
    request: HttpRequest, model: type[Any], icon: str, words: str
) -> Iterator[SearchResult]:
    if not may_view(model, request):
        return
    model_admin = admin.site._registry[model]
    rows = model_admin.get_queryset(request)
    if model is Node:
        # Persons have a list of their own.
        rows = rows.exclude(node_type="person")
    rows, _ = model_admin.get_search_results(request, rows, words)
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}_change"
    for row in rows.order_by("-pk")[:EACH]:
        title = str(row)[:100]
        kind = str(getattr(row, "node_type", model._meta.verbose_name))
        link = reverse(name, args=[row.pk])
        yield SearchResult(title, kind.replace("_", " "), link, icon)
