"""The admin's frame: what stands in its sidebar, by what people come to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib import admin
from django.db.models import Sum
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from connections.admin_scope import staff
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
    SavedView,
    Source,
    SyncRun,
    Tenant,
    User,
)
from connections.roles import Act, projects_where
from graph.admin.identity import Person
from graph.models import (
    DailyFigure,
    Edge,
    EmbeddingModel,
    Erasure,
    Identity,
    IdentityDecision,
    Node,
    Record,
    RefusedText,
    ReviewItem,
    StaleThreshold,
    Trashed,
)
from memory.models import Conversation, Feedback, Observation, VerifiedExample
from retrieval.models import Community

MOST_IN_BADGE = 999


@dataclass(frozen=True, slots=True)
class Section:
    """A model's place in the admin: its name there and its icon."""

    model: type[Any]
    name: str
    icon: str


@dataclass(frozen=True, slots=True)
class Page:
    """A page of its own in the admin, for all who may enter it."""

    address: str
    name: str
    icon: str


# What waits for a person comes first; each page of a queue belongs into "Review".
SECTIONS: dict[str, tuple[Section | Page, ...]] = {
    "": (Page("admin:index", "Dashboard", "dashboard"),),
    "Review": (
        Section(ReviewItem, "Review", "fact_check"),
        Section(Trashed, "Trash", "delete"),
        Section(Feedback, "Feedback on answers", "thumbs_up_down"),
        Section(IdentityDecision, "Identity decisions", "call_merge"),
        Section(StaleThreshold, "Stale after", "schedule"),
    ),
    "Knowledge": (
        Section(Node, "Nodes", "hub"),
        Section(Edge, "Edges", "timeline"),
        Section(Person, "Persons", "person"),
        Section(Identity, "Identities", "badge"),
        Section(Record, "Records", "receipt_long"),
        Section(Community, "Communities", "bubble_chart"),
    ),
    "Sources": (
        Section(Source, "Sources", "database"),
        Section(SyncRun, "Runs", "sync"),
    ),
    "Databases": (
        Section(Database, "Databases", "storage"),
        Section(DatabaseTable, "Schemas of databases", "table"),
        Section(DatabaseQuery, "Runs of statements", "query_stats"),
        Section(VerifiedExample, "Verified examples", "verified"),
    ),
    "Memory": (
        Section(Observation, "Memory", "psychology"),
        Section(Conversation, "Your conversations", "forum"),
    ),
    "Models": (
        Section(ModelCredential, "Model keys", "vpn_key"),
        Section(ModelUsage, "Model usage", "monitoring"),
        Section(EmbeddingModel, "Embedding models", "scatter_plot"),
        Section(RefusedText, "Refused texts", "block"),
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
        Section(Audit, "Audit", "history"),
        Section(SavedView, "Saved views", "bookmark"),
        Section(Erasure, "Erasures", "delete_forever"),
    ),
}


def navigation(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the sidebar: what the user may view, and what waits beside "Review".

    No row of a model is counted: the badge is the sum of a few daily figures.
    """
    groups = [
        {"title": title, "separator": n > 1, "items": items}
        for n, (title, sections) in enumerate(SECTIONS.items())
        if (items := _items(request, sections))
    ]
    for group in groups:
        if group["title"] == "Review" and (waiting := waiting_for(staff(request))):
            group["badge"] = waiting
            group["badge_variant"] = "primary"
    return groups


def waiting_for(user: User) -> str:
    """Return how many items wait in the queues of the projects `user` reviews.

    It is what was counted last today: five minutes ago at most.
    """
    mine = list(projects_where(user, Act.REVIEW).values_list("tenant_id", "pk"))
    total = DailyFigure.objects.filter(
        tenant_id__in={tenant for tenant, _ in mine},
        project_id__in={project for _, project in mine},
        name="queue",
        day=timezone.localdate(),
    ).aggregate(total=Sum("value"))["total"]
    if not total:
        return ""
    return f"{MOST_IN_BADGE}+" if total > MOST_IN_BADGE else f"{total:.0f}"


def pages_of(request: HttpRequest) -> list[tuple[str, str, str, str]]:
    """Return the admin's pages that the user may open: section, name, icon, address."""
    return [
        (title, item["title"], item["icon"], item["link"])
        for title, sections in SECTIONS.items()
        for item in _items(request, sections)
    ]


def may_view(model: type[Any], request: HttpRequest) -> bool:
    """Return whether the user may open the list of a model at all."""
    return admin.site._registry[model].has_view_permission(request)


def address_of(model: type[Any]) -> str:
    """Return the address of a model's list."""
    name = f"{model._meta.app_label}_{model._meta.model_name}"
    return reverse(f"admin:{name}_changelist")


def _items(
    request: HttpRequest, sections: tuple[Section | Page, ...]
) -> list[dict[str, Any]]:
    return [
        {
            "title": section.name,
            "icon": section.icon,
            "link": (
                reverse(section.address)
                if isinstance(section, Page)
                else address_of(section.model)
            ),
        }
        for section in sections
        if _may_open(section, request)
    ]


def _may_open(section: Section | Page, request: HttpRequest) -> bool:
    return isinstance(section, Page) or may_view(section.model, request)
