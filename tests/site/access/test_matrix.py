"""Every address, by every role, with canaries: nothing leaks, nobody writes beyond it."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from django.contrib import admin
from django.db import transaction
from django.test import client as test_client
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiYamlRenderer
from rest_framework.throttling import UserRateThrottle

from connections import admin_scope, roles
from connections.models import Role
from fabric_site import admin_site
from graph.api import reviews
from graph.embed import forget_model
from graph.models.node import NodeQuerySet
from tests.site.access import walking
from tests.site.access.canaries import Company, make_company
from tests.site.access.expected import MODELS, OTHERS, ROUTES
from tests.site.access.matrix import walked
from tests.site.access.walking import model_of, routes, verb_of


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


_make_schema, _make_text = SchemaGenerator.get_schema, OpenApiYamlRenderer.render


@cache
def _only_schema() -> Any:
    return _make_schema(SchemaGenerator(), request=None, public=True)


@cache
def _only_text() -> bytes:
    return _make_text(OpenApiYamlRenderer(), _only_schema())


def _text_once(*args: Any, **kwargs: Any) -> bytes:
    return _only_text()


def _schema_once(self: Any, request: Any = None, public: bool = False) -> Any:
    """Return the description of the API, which takes a second and is the same to all."""
    return _only_schema()


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Leave out what has tests of its own: the sidebar's counts, and the rate."""
    monkeypatch.setattr(admin_site, "navigation", lambda request: [])
    # The client copies the context of every template, for tests that read it.
    monkeypatch.setattr(test_client, "store_rendered_templates", lambda *a, **k: None)
    monkeypatch.setattr(SchemaGenerator, "get_schema", _schema_once)
    monkeypatch.setattr(OpenApiYamlRenderer, "render", _text_once)
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


@pytest.mark.timeout(400)  # thousands of requests, beside whatever else runs
def test_nothing_leaks_and_nobody_writes_beyond_their_role(company: Company) -> None:
    walk = walked(company)
    leaks = [fault for fault in walk.faults if "leaks" in fault]
    sys.stdout.write(
        f"{walk.asked} requests, {walk.refused} refused, {len(leaks)} leaks; "
        f"{sum(walk.written.values())} wrote: {dict(walk.written)}; "
        f"{len(walk.faults)} faults\n"
    )
    assert walk.faults == [], "\n".join(walk.faults[:60])
    assert walk.asked >= 5700
    assert walk.refused >= 4600
    assert walk.written["admin"] > walk.written["reviewer"] > walk.written["editor"] > 0


def test_a_filter_that_is_missing_is_found(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(NodeQuerySet, "visible_to", lambda rows, user: rows)
    walk = walked(company, only="nodes/<int:pk>/", people=("viewer", "stranger"))
    assert any("zzprivatezz" in fault for fault in walk.faults)
    assert any("zzopenzz" in fault and "stranger" in fault for fault in walk.faults)


def test_a_row_filter_that_is_off_in_one_list_of_the_api_is_found(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reviews, "visible", lambda rows, request: rows)
    walk = walked(
        company, only="api/v1/review/items/<int:pk>/", people=("stranger", "reviewer")
    )
    assert any("reviewer" in fault and "zzprivatezz" in fault for fault in walk.faults)


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
