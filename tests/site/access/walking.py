"""Every address of the resolver, filled with every row that there is for it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.apps import apps
from django.contrib import admin
from django.db.models import Model
from django.urls import get_resolver
from django.urls.resolvers import URLResolver

from connections.models import Database, DatabaseQuery, Project, Source
from graph.models import Edge, Node, Record, ReviewDecision, ReviewItem, Trashed
from memory.models import Conversation, Observation, SavedQuery, Turn

# Where the route's own model is not what its place names.
PLACES: dict[str, type[Model]] = {
    "erasure/source/": Source,
    "stalethreshold/<int:pk>/set/": Project,
    "records/<int:pk>/caused/": Record,
    "review/items/": ReviewItem,
    "review/trash/": Trashed,
}
PLACE = re.compile(r"<(?:(\w+):)?(\w+)>")
MODEL_ROUTE = re.compile(r"admin/(\w+)/(\w+)/")


def routes() -> list[str]:
    """Return every address of the site as its patterns say it, each once."""
    return list(_views())


def _walk(resolver: URLResolver, before: str) -> Iterator[tuple[str, Any]]:
    for pattern in resolver.url_patterns:
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _walk(pattern, route)
        else:
            yield route, pattern.callback


def model_of(route: str) -> str:
    """Return the model whose admin a route is of, or nothing."""
    found = MODEL_ROUTE.match(route)
    if not found:
        return ""
    label = f"{found[1]}.{found[2]}"
    return label if label in {m._meta.label_lower for m in admin.site._registry} else ""


def verb_of(route: str) -> str:
    """Return what a route of a model's admin is for: list, add, change, split, ..."""
    rest = MODEL_ROUTE.sub("", route, count=1).strip("/").split("/")
    if not rest[-1]:
        return "list"
    words = [each for each in rest if not each.startswith("<")]
    return words[-1] if words else "open"


def methods_of(route: str) -> tuple[str, ...]:
    """Return the methods by which a view of the API answers; the others are a 405."""
    view = _views()[route]
    named = getattr(view, "actions", None) or ()
    cls = getattr(view, "cls", None)
    if cls is None:
        return ("get", "post", "put", "patch", "delete")
    offered = named or [name.lower() for name in cls().allowed_methods]
    return tuple(name for name in offered if name not in ("head", "options"))


@cache
def _views() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for route, view in _walk(get_resolver(), ""):
        found.setdefault(route, view)
    return found


@dataclass(frozen=True, slots=True)
class Address:
    """Where a request goes, and the rows that are named there."""

    path: str
    rows: tuple[str, ...] = ()


def addresses(route: str) -> list[Address]:
    """Return the addresses of a route, one for each row that fits."""
    if "(?P<app_label>" in route:
        labels = ("connections", "graph", "memory", "retrieval", "axes")
        return [Address(f"/admin/{label}/") for label in labels]
    if "(?P<" in route:
        return [Address("/admin/zz/")]
    found = [Address(f"/{route}")]
    for _, name in PLACE.findall(route):
        pattern = re.compile(rf"<(?:\w+:)?{name}>")
        found = [
            Address(pattern.sub(str(value), each.path, count=1), (*each.rows, row))
            for each in found
            for value, row in values_of(route, name)
        ]
    return found


@cache
def _ids(label: str) -> list[object]:
    return list(
        apps.get_model(label)
        ._default_manager.order_by("pk")
        .values_list("pk", flat=True)
    )


# By which rows differ in who may see them; of each sort there is one request.
SORTS = (
    "project_id", "audience_id", "user_id", "owner_id", "conversation_id", "scope_id",
    "shared_with_id",
)  # fmt: skip
FIXED: dict[str, object] = {"act": "forget", "place": 0, "content_type_id": 1}


def values_of(route: str, name: str) -> list[tuple[object, str]]:
    """Return the values of a place in a route, each with the row that it names."""
    if name in FIXED:
        return [(FIXED[name], "")]
    label = _label_of(route, name)
    if not label:
        return [(1, "")]
    return [(pk, f"{label}:{pk}") for pk in _one_of_each_sort(label)]


@cache
def _one_of_each_sort(label: str) -> list[object]:
    """Return a row of each project, audience and owner that there is."""
    model = apps.get_model(label)
    columns = {field.attname for field in model._meta.concrete_fields}
    sorts = [name for name in SORTS if name in columns]
    found: dict[object, object] = {}
    for pk, *sort in model._default_manager.order_by("pk").values_list("pk", *sorts):
        found.setdefault(tuple(sort) if sorts else pk, pk)
    return list(found.values())


def _label_of(route: str, name: str) -> str:
    for begin, model in PLACES.items():
        if begin in route:
            return model._meta.label
    if name == "decision":
        return ReviewDecision._meta.label
    if name == "turn" or "turns/" in route:
        return Turn._meta.label
    if "saved-queries" in route or name == "saved":
        return SavedQuery._meta.label
    if "connections/queries" in route:
        return DatabaseQuery._meta.label
    if "databasetable" in route or "databases/" in route:
        return Database._meta.label
    if "edges/" in route:
        return Edge._meta.label
    if label := model_of(route):
        return apps.get_model(label)._meta.label
    if "conversations/" in route:
        return Conversation._meta.label
    if route.startswith(("memory/", "api/v1/memory/observations")):
        return Observation._meta.label
    return Node._meta.label if "nodes/" in route or "neighbourhood" in route else ""


def forget() -> None:
    """Look the rows up again."""
    _ids.cache_clear()
    _one_of_each_sort.cache_clear()


def known_rows() -> set[str]:
    """Return the keys of all rows that there are now, as addresses have them."""
    forget()
    labels = {model._meta.label for model in admin.site._registry} | {
        model._meta.label
        for model in (Turn, SavedQuery, ReviewItem, ReviewDecision, Trashed)
    }
    found = {f"{label}:{pk}" for label in labels for pk in _ids(label)}
    forget()
    return found


def rows_in(audiences: list[int]) -> set[str]:
    """Return the keys of all rows that only these audiences see."""
    found = set()
    for model in apps.get_models():
        if any(field.attname == "audience_id" for field in model._meta.concrete_fields):
            rows = model._default_manager.filter(audience_id__in=audiences)
            label = model._meta.label
            found |= {f"{label}:{pk}" for pk in rows.values_list("pk", flat=True)}
    return found
