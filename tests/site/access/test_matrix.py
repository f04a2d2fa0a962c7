"""Every address, by every role, with canaries: nothing leaks, nobody writes beyond it."""

from __future__ import annotations

import logging
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from typing import Any

import pytest
from django.contrib import admin
from django.db import connection, transaction
from rest_framework.throttling import UserRateThrottle

from connections import admin_scope, roles
from connections.models import Audience, Role
from fabric_site import admin_site
from graph.embed import forget_model
from graph.models.node import NodeQuerySet
from tests.site.access import walking
from tests.site.access.canaries import CLASSES, Company, Person, make_company
from tests.site.access.expected import (
    ANYONE,
    BODIES,
    MEMBER,
    MODELS,
    NOBODY,
    OPERATOR,
    OTHERS,
    OWNER,
    PUBLIC,
    QUERIES,
    ROUTES,
    SIGNED_IN,
)
from tests.site.access.walking import Address, addresses, model_of, routes, verb_of

WRITES = re.compile(r'\s*(?:INSERT INTO|UPDATE|DELETE FROM)\s+"?(\w+)"?', re.IGNORECASE)
# Written by whoever comes: sessions, the lock on guessing, and the audit of it.
NOISE = re.compile(
    r'"?(django_session|axes_\w+|audit|audit_details)"?\b|'
    r'UPDATE "connections_apitoken" SET "last_used_at"|'
    r'UPDATE "connections_user" SET "last_login"'
)
API = "api/v1/"


@dataclass
class Walk:
    """What a walk over the addresses came to."""

    asked: int = 0
    refused: int = 0
    written: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def company(django_db_setup: None, django_db_blocker: Any) -> Iterator[Company]:
    with django_db_blocker.unblock(), transaction.atomic():
        forget_model()
        known: set[str] = set()
        made = make_company(lambda: known.update(walking.known_rows()))
        made.rows = known
        yield made
        transaction.set_rollback(True)
    walking.forget()
    forget_model()


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Leave out what has tests of its own: the sidebar's counts, and the rate."""
    monkeypatch.setattr(admin_site, "navigation", lambda request: [])
    monkeypatch.setattr(UserRateThrottle, "allow_request", lambda *args: True)
    # Thousands of refusals, each with its traceback, take longer than the requests.
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def test_every_address_and_every_model_of_the_admin_has_an_expectation() -> None:
    unknown = [
        route
        for route in routes()
        if route not in ROUTES
        and not model_of(route)
        and "(?P<app_label>" not in route
        and not any(f"admin/{app}/" in route for app in OTHERS)
    ]
    assert unknown == []
    labels = {model._meta.label_lower for model in admin.site._registry}
    ours = {label for label in labels if label.split(".")[0] not in OTHERS}
    assert ours == set(MODELS)
    for model, model_admin in admin.site._registry.items():
        label = model._meta.label_lower
        if label not in MODELS:
            continue
        named = {str(action) for action in model_admin.actions or ()}
        named |= {verb_of(route) for route in routes() if model_of(route) == label}
        plain = {"list", "open", "history", "add", "change", "delete", "picture"}
        assert named - plain <= set(MODELS[label]), label


def test_nothing_leaks_and_nobody_writes_beyond_their_role(company: Company) -> None:
    walk = walked(company)
    sys.stdout.write(
        f"{walk.asked} requests, {walk.refused} refused, "
        f"{sum(walk.written.values())} wrote: {dict(walk.written)}; "
        f"{len(walk.faults)} faults\n"
    )
    assert walk.faults == [], "\n".join(walk.faults[:60])
    assert walk.asked >= 6000
    assert walk.refused >= 3000
    assert walk.written["admin"] > walk.written["editor"] > 0


def test_a_filter_that_is_missing_is_found(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(NodeQuerySet, "visible_to", lambda rows, user: rows)
    walk = walked(company, only="nodes/<int:pk>/", people=("viewer", "stranger"))
    assert any("zzprivatezz" in fault for fault in walk.faults)
    assert any("zzopenzz" in fault and "stranger" in fault for fault in walk.faults)


def test_a_list_of_the_admin_without_its_filter_is_found(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        admin_scope, "projects_where", lambda user, act: roles.Project.objects.all()
    )
    walk = walked(company, only="admin/connections/modelusage/", people=("stranger",))
    assert any("zzadminzz" in fault for fault in walk.faults)


def test_a_check_of_a_role_that_is_missing_is_found(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = dict.fromkeys(roles.POLICY, Role.VIEWER)
    monkeypatch.setattr(roles, "POLICY", policy)
    walk = walked(company, only="admin/connections/membership/", people=("viewer",))
    assert any("viewer wrote" in fault for fault in walk.faults)
    path = "api/v1/connections/databases/<uuid:pk>/"
    walk = walked(company, only=path, people=("viewer",))
    assert any("viewer wrote" in fault for fault in walk.faults)


def walked(company: Company, *, only: str = "", people: tuple[str, ...] = ()) -> Walk:
    """Ask every address as every person by every method; `only` where it begins so."""
    walk = Walk()
    audiences = {
        name: Audience.objects.ids_of(person.user) if person.user else []
        for name, person in company.people.items()
    }
    assert audiences["insider"] != audiences["admin"]
    for route in routes():
        if only and not route.startswith(only):
            continue
        for person in company.people.values():
            if people and person.name not in people:
                continue
            if person.scope and not route.startswith(API):
                continue
            if any(f"admin/{app}/" in route for app in OTHERS) and person.name not in (
                "anonymous",
                "viewer",
                "operator",
            ):
                continue
            for address in addresses(route):
                _asked(walk, company, route, address, person)
    return walk


def _asked(
    walk: Walk, company: Company, route: str, address: Address, person: Person
) -> None:
    rows = {row for row in address.rows if row}
    is_foreign = bool(rows - company.rows)
    if person.name == "stranger" and is_foreign:
        return
    for method, data in _requests(route, company, person):
        may_write = _may_write(route, person, data) and (
            not is_foreign or person.name == "operator"
        )
        if person.name == "stranger" and rows:
            may_write = False
        _ask(walk, route, address, person, method, data, may_write)


def _requests(
    route: str, company: Company, person: Person
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the methods to ask a route by, each with what is sent."""
    yield "get", {}
    label, verb = model_of(route), verb_of(route)
    reads = ("history", "open", "picture")
    if any(f"admin/{app}/" in route for app in OTHERS) or (label and verb in reads):
        return
    body = BODIES.get(route, {})
    if route.startswith(API):
        for method in ("post", "put", "patch", "delete"):
            yield method, body
        return
    yield "post", {"confirmed": "yes", "post": "yes", **body}
    if label and verb == "list":
        model = next(m for m in admin.site._registry if m._meta.label_lower == label)
        wants_delete = "delete_selected" in MODELS[label]
        actions = [*(admin.site._registry[model].actions or ())]
        keys = [
            pk
            for pk in walking._ids(model._meta.label)
            if person.name != "stranger" or f"{model._meta.label}:{pk}" in company.rows
        ]
        for action in [*actions, *(["delete_selected"] if wants_delete else [])]:
            yield (
                "post",
                {
                    "action": action,
                    "_selected_action": keys,
                    "confirmed": "yes",
                    "post": "yes",
                },
            )


def _may_write(route: str, person: Person, data: dict[str, Any]) -> bool:
    """Return whether a person may write there, as the expectations have it."""
    label = model_of(route)
    if label:
        verb = str(data.get("action") or verb_of(route))
        wanted = MODELS[label].get("change" if verb == "open" else verb, NOBODY)
        if label in ("connections.user", "connections.apitoken") and wanted == OWNER:
            return person.user is not None
        operators = ("user", "tenant", "project", "membership")
        if person.name == "operator":
            return wanted is not NOBODY and label.split(".")[1] in operators
        if label == "connections.audit":
            return True
    elif "(?P<app_label>" in route or any(f"admin/{a}/" in route for a in OTHERS):
        wanted = NOBODY
    else:
        wanted = ROUTES[route]
    scope = ""
    if isinstance(wanted, tuple):
        wanted, scope = wanted
    if person.scope and person.scope != scope:
        return False
    if isinstance(wanted, Role):
        return person.has(wanted) or (
            person.name == "stranger" and not walking.PLACE.search(route)
        )
    return {
        NOBODY: False,
        ANYONE: True,
        SIGNED_IN: person.user is not None,
        MEMBER: person.role is not None or person.name == "stranger",
        OWNER: person.name == "insider",
        OPERATOR: person.name == "operator",
    }[wanted]


def _ask(
    walk: Walk,
    route: str,
    address: Address,
    person: Person,
    method: str,
    data: dict[str, Any],
    may_write: bool,
) -> None:
    statements: list[str] = []

    def heard(execute: Any, sql: Any, params: Any, many: bool, context: Any) -> Any:
        text = str(sql)
        if WRITES.match(text) and not NOISE.search(text[:200]):
            statements.append(text)
        return execute(sql, params, many, context)

    cookies = {key: each.value for key, each in person.client.cookies.items()}
    path = address.path + (QUERIES.get(route, "") if method == "get" else "")
    with transaction.atomic():
        with connection.execute_wrapper(heard):
            answer = getattr(person.client, method)(path, data)
            text = _text(answer)
        transaction.set_rollback(True)
    person.client.cookies = SimpleCookie(cookies)
    walk.asked += 1
    who = f"{person.name} {method} {path} {data.get('action', '')}"
    if answer.status_code >= 500:
        walk.faults.append(f"{who}: {answer.status_code}")
    if answer.status_code >= 400 or answer.status_code in (301, 302):
        walk.refused += 1
    elif person.name == "anonymous" and route not in PUBLIC:
        walk.faults.append(f"{who}: open to anybody")
    for kind in CLASSES:
        if kind not in person.sees and f"zz{kind}zz" in text:
            walk.faults.append(f"{who}: leaks zz{kind}zz")
    if statements:
        walk.written[person.name] += 1
        if not may_write:
            walk.faults.append(f"{who} -> {person.name} wrote: {statements[0][:90]}")


def _text(answer: Any) -> str:
    body = b"".join(answer) if answer.streaming else answer.content
    return (body.decode("utf-8", "replace") + str(answer.headers)).lower()
