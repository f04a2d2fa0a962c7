"""The API answers as its own description says, to whatever is sent."""

from __future__ import annotations

import json

import pytest
import schemathesis
from django.core.wsgi import get_wsgi_application
from django.test import Client
from hypothesis import HealthCheck, Phase, settings
from rest_framework.throttling import UserRateThrottle
from schemathesis import checks

from tests.connections.api.callers import make_world
from tests.factories import make_token

EXAMPLES = 12


@pytest.fixture(scope="session")
def description() -> dict:
    answer = Client().get("/api/v1/schema/", headers={"Accept": "application/vnd.oai.openapi+json"})
    return json.loads(answer.content)
