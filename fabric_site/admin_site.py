"""The admin's frame: what stands in its sidebar and on its first page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse

from connections.admin_scope import capped_count, staff
from connections.models import (
    ApiToken,
    Audience,
    Audit,
    Database,
    DatabaseQuery,
    DatabaseTable,
    Membership,
    ModelCredential,
    ModelUsage,
    Project,
    Source,
    SyncRun,
    Tenant,
    User,
)
from graph.admin.identity import Person
from graph.models import (
    Edge,
    EmbeddingModel,
    Identity,
    IdentityDecision,
    Node,
    Record,
    RefusedText,
    ReviewItem,
    Trashed,
)
from memory.models import Conversation, Feedback, Observation
from retrieval.models import Community

IN_SIDEBAR, ON_INDEX = 1_000, 50_000


@dataclass(frozen=True, slots=True)
class Section:
    """A model's place in the admin: its name there and its icon."""

    model: type[Any]
    name: str
    icon: str


SECTIONS: dict[str, tuple[Section, ...]] = {
    "Review": (
        Section(ReviewItem, "Review", "fact_check"),
        Section(Trashed, "Trash", "delete"),
    ),
    "Knowledge": (
        Section(Node, "Nodes", "hub"),
        Section(Edge, "Edges", "timeline"),
        Section(Person, "Persons", "person"),
        Section(Identity, "Identities", "badge"),
        Section(IdentityDecision, "Identity decisions", "call_merge"),
        Section(Record, "Records", "receipt_long"),
        Section(EmbeddingModel, "Embedding models", "scatter_plot"),
        Section(RefusedText, "Refused texts", "block"),
        Section(Community, "Communities", "bubble_chart"),
        Section(Observation, "Memory", "psychology"),
    ),
    "Sources": (
        Section(Source, "Sources", "database"),
        Section(SyncRun, "Runs", "sync"),
        Section(Database, "Databases", "storage"),
        Section(DatabaseTable, "Schemas of databases", "table"),
    ),
    "Models": (
        Section(ModelCredential, "Model keys", "vpn_key"),
        Section(ModelUsage, "Model usage", "monitoring"),
    ),
    "People and access": (
        Section(User, "Users", "group"),
        Section(Tenant, "Tenants", "apartment"),
        Section(Project, "Projects", "workspaces"),
        Section(Membership, "Memberships", "how_to_reg"),
        Section(Audience, "Audiences", "visibility"),
        Section(ApiToken, "API tokens", "key"),
    ),
    "History": (
        Section(Conversation, "Your conversations", "forum"),
        Section(Feedback, "Feedback on answers", "thumbs_up_down"),
        Section(DatabaseQuery, "Runs of statements", "query_stats"),
        Section(Audit, "Audit", "history"),
    ),
}


def navigation(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the sidebar: the sections the user may view, each with its count."""
    return [
        {"title": title, "separator": n > 0, "items": items}
        for n, (title, sections) in enumerate(SECTIONS.items())
        if (items := _items(request, sections, IN_SIDEBAR))
    ]


def dashboard(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Return the first page's context: sections with counts, and the latest runs."""
    runs = admin.site._registry[SyncRun].get_queryset(request)
    return {
        **context,
        "title": "Fabric",
        "sections": [
            {"title": title, "items": _items(request, sections, ON_INDEX)}
            for title, sections in SECTIONS.items()
        ],
        "runs": runs.select_related("source__project__tenant")[:8],
        "who": staff(request),
    }


def _items(
    request: HttpRequest, sections: tuple[Section, ...], most: int
) -> list[dict[str, Any]]:
    return [
        {
            "title": section.name,
            "icon": section.icon,
            "link": _address(section.model),
            "badge": _count(section, request, most),
            "badge_variant": "primary",
            "add": _add_address(section.model, request),
        }
        for section in sections
        if _may_view(section.model, request)
    ]


def _may_view(model: type[Any], request: HttpRequest) -> bool:
    return admin.site._registry[model].has_view_permission(request)


def _address(model: type[Any]) -> str:
    name = f"{model._meta.app_label}_{model._meta.model_name}"
    return reverse(f"admin:{name}_changelist")


def _add_address(model: type[Any], request: HttpRequest) -> str:
    if not admin.site._registry[model].has_add_permission(request):
        return ""
    name = f"{model._meta.app_label}_{model._meta.model_name}"
    return reverse(f"admin:{name}_add")


def _count(section: Section, request: HttpRequest, most: int) -> str:
    pages = admin.site._registry[section.model]
    # A queue counts what waits in it.
    rows: QuerySet[Any] = getattr(pages, "waiting", pages.get_queryset)(request)
    number = capped_count(rows, most)
    return f"{number:,}+" if number >= most else f"{number:,}"
