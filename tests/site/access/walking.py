"""Every address of the resolver, filled with every row that there is for it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from django.apps import apps
from django.contrib import admin
from django.urls import get_resolver
from django.urls.resolvers import URLResolver

from connections.models import Database, DatabaseQuery
from graph.models import Edge, Node
from memory.models import Conversation, Observation, SavedQuery, Turn

PLACE = re.compile(r"<(?:(\w+):)?(\w+)>")
MODEL_ROUTE = re.compile(r"admin/(\w+)/(\w+)/")


def routes() -> list[str]:
    """Return every address of the site as its patterns say it, each once."""
    return list(dict.fromkeys(_walk(get_resolver(), "")))


def _walk(resolver: URLResolver, before: str) -> Iterator[str]:
    for pattern in resolver.url_patterns:
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _walk(pattern, route)
        else:
            yield route


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
    last = rest[-1]
    if not last:
        return "list"
    return "open" if last.startswith("<") else last


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


MOST = 4
FIXED: dict[str, object] = {"act": "forget", "place": 0, "content_type_id": 1}


def values_of(route: str, name: str) -> list[tuple[object, str]]:
    """Return the values of a place in a route, each with the row that it names."""
    if name in FIXED:
        return [(FIXED[name], "")]
    label = _label_of(route, name)
    if not label:
        return [(1, "")]
    rows = _ids(label)
    # Spread over what there is: open, private, somebody's own, and another tenant's.
    some = [rows[place * (len(rows) - 1) // (MOST - 1)] for place in range(MOST)]
    return [(pk, f"{label}:{pk}") for pk in dict.fromkeys(some if rows else ())]


def _label_of(route: str, name: str) -> str:
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


def known_rows() -> set[str]:
    """Return the keys of all rows that there are now, as addresses have them."""
    forget()
    labels = {model._meta.label for model in admin.site._registry} | {
        model._meta.label for model in (Turn, SavedQuery)
    }
    found = {f"{label}:{pk}" for label in labels for pk in _ids(label)}
    forget()
    return found
