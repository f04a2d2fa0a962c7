"""The test database: made and migrated by `fabric_owner`, used by `fabric_app`."""

from __future__ import annotations

import os
from collections.abc import Iterator

import psycopg
import pytest
from django.core.management import call_command
from django.db import connections

from connections.models import Project, User
from tests.factories import make_member, make_project, make_user

OWNER_SETTINGS = "owner"


def _server(alias: str, database: str) -> psycopg.Connection:
    settings = connections[alias].settings_dict
    return psycopg.connect(
        host=settings["HOST"], port=settings["PORT"], user=settings["USER"],
        password=settings["PASSWORD"], dbname=database, autocommit=True,
    )


@pytest.fixture(scope="session")
def django_db_setup(django_db_blocker) -> Iterator[None]:
    name = f"test_fabric_{os.getpid()}"
    with django_db_blocker.unblock(), _server("owner", "postgres") as server:
        server.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        server.execute(f'CREATE DATABASE "{name}"')
        for alias in connections:
            connections[alias].close()
            connections[alias].settings_dict["NAME"] = name
        call_command("migrate", database="owner", verbosity=0)
        with connections["owner"].cursor() as cursor:
            # Only for Django's flush between transactional tests.
            cursor.execute("GRANT TRUNCATE ON ALL TABLES IN SCHEMA public TO fabric_app")
        yield
        for alias in connections:
            connections[alias].close()
            if hasattr(connections[alias], "close_pool"):
                connections[alias].close_pool()
        server.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


@pytest.fixture(autouse=True)
def _active_model(request: pytest.FixtureRequest) -> None:
    """Put back what a flush after a transactional test took: the active model."""
    marker = request.node.get_closest_marker("django_db")
    if marker is None and "db" not in request.fixturenames:
        return
    request.getfixturevalue(
        "transactional_db" if marker and marker.kwargs.get("transaction") else "db"
    )
    from graph.embed import forget_model
    from graph.models import EmbeddingModel

    forget_model()
    EmbeddingModel.objects.get_or_create(
        name="static-embedder", defaults={"dimensions": 256, "is_active": True}
    )


@pytest.fixture
def project(db: None) -> Project:
    return make_project()


@pytest.fixture
def other_project(db: None) -> Project:
    """A project of another tenant."""
    return make_project("strangers/main")


@pytest.fixture
def member(project: Project) -> User:
    return make_member(project, "member@acme.test")


@pytest.fixture
def outsider(project: Project) -> User:
    """A member who is in no private channel."""
    return make_member(project, "outsider@acme.test")


@pytest.fixture
def stranger(other_project: Project) -> User:
    """A member of another tenant's project."""
    return make_member(other_project, "stranger@strangers.test")


@pytest.fixture
def user(db: None) -> User:
    return make_user("nobody@acme.test")
