"""The API answers as its own description says, to whatever is sent."""

from __future__ import annotations

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase, settings
from rest_framework.throttling import UserRateThrottle
from schemathesis.specs.openapi.checks import (
    negative_data_rejection,
    positive_data_acceptance,
)

from connections.models import DatabaseQuery, Role
from memory.ask import ask
from memory.models import SavedQuery
from memory.observations import Learned, remember
from memory.remembering import remember_turn
from tests.connections.api.callers import make_world
from tests.factories import make_review_item, make_token
from tests.targets import Target, make_database

schema = schemathesis.openapi.from_wsgi(
    "/api/v1/schema/?format=json", get_wsgi_application()
)


@pytest.fixture
def here(monkeypatch):
    """Serve within the test's transaction, and without a limit of requests."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    monkeypatch.setattr(UserRateThrottle, "THROTTLE_RATES", {"user": None})
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture
def token(project, member):
    return make_token(member, project.tenant)


@pytest.fixture
def known(project, member):
    """What there is to be read, by the part of the address before its id."""
    world = make_world(project, member)
    project.memberships.filter(user=member).update(role=Role.REVIEWER)
    remembered = Learned(observation_type="fact", text="It is in May.", origin="hand")
    answered = ask(project, "When is the launch?", user=member)
    return {
        "nodes": world.first.pk,
        "edges": world.posted.pk,
        "trash": 0,
        "items": make_review_item(project, world.first).pk,
        "conversations": str(answered.conversation),
        "observations": remember(project, member, remembered).observation.pk,
        **_of_databases(project, member),
    }


def _of_databases(project, member) -> dict[str, str]:
    database = make_database(
        project, Target("postgres", "db.test", 1, "d", "u", "p", {})
    )
    saved = SavedQuery.objects.create(
        database=database, user=member, title="One", sql="SELECT 1"
    )
    run = DatabaseQuery.objects.create(
        tenant=project.tenant, project=project, database=database, user=member,
        database_name=database.name, asked_sql="SELECT 1",
    )  # fmt: skip
    return {
        "databases": str(database.pk),
        "saved-queries": str(saved.pk),
        "queries": str(run.pk),
    }


@schema.parametrize()
@settings(
    max_examples=10,
    deadline=None,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_every_answer_is_as_it_is_described(case, here, token, known, monkeypatch):
    monkeypatch.setattr(remember_turn, "delay", lambda turn: None)
    if "id" in case.path_parameters and case.method in ("GET", "PATCH"):
        case.path_parameters["id"] = known[case.path.split("/")[4]]
    case.call_and_validate(
        headers={"Authorization": f"Bearer {token}"},
        # Not every string is a cursor or a project; an empty parameter is none.
        excluded_checks=[positive_data_acceptance, negative_data_rejection],
    )
