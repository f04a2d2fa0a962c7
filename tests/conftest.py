"""The test database: made and migrated by `fabric_owner`, used by `fabric_app`."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import psycopg
import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connections

from connections.models import Project, User
from tests.factories import make_member, make_project, make_user
from tests.targets import Target, mariadb_server, postgres_server
from tests.worlds import World, make_world

OWNER_SETTINGS = "owner"


def _server(alias: str, database: str) -> psycopg.Connection:
    settings = connections[alias].settings_dict
    return psycopg.connect(
        host=settings["HOST"],
        port=settings["PORT"],
        user=settings["USER"],
        password=settings["PASSWORD"],
        dbname=database,
        autocommit=True,
    )


def _drop(server: psycopg.Connection, name: str) -> None:
    """Drop a database once nobody is in it: the owner may not end others' sessions,
    and those just closed take a moment to go."""
    for attempt in range(100):
        try:
            server.execute(f'DROP DATABASE IF EXISTS "{name}"')
        except psycopg.errors.ObjectInUse:
            if attempt == 99:
                raise
            time.sleep(0.1)
        else:
            return


@pytest.fixture(scope="session", autouse=True)
def _fast_passwords() -> None:
    """Three users a test would otherwise spend most of its time hashing."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(scope="session")
def django_db_setup(django_db_blocker) -> Iterator[None]:
    name = f"test_fabric_{os.getpid()}"
    with django_db_blocker.unblock(), _server("owner", "postgres") as server:
        _drop(server, name)
        server.execute(f'CREATE DATABASE "{name}"')
        for alias in connections:
            connections[alias].close()
            connections[alias].settings_dict["NAME"] = name
        call_command("migrate", database="owner", verbosity=0)
        with connections["owner"].cursor() as cursor:
            # Only for Django's flush between transactional tests.
            cursor.execute(
                "GRANT TRUNCATE ON ALL TABLES IN SCHEMA public TO fabric_app"
            )
        yield
        for alias in connections:
            connections[alias].close()
            if hasattr(connections[alias], "close_pool"):
                connections[alias].close_pool()
        _drop(server, name)


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
        name="static-embedder",
        defaults={"dimensions": 256, "indexed_dimensions": 128, "is_active": True},
    )


@pytest.fixture(autouse=True)
def _arms_here(request: pytest.FixtureRequest, monkeypatch) -> None:
    """Run the arms of a search one by one, but where a test asks for them beside."""
    marker = request.node.get_closest_marker("django_db")
    if marker is None or "arms" not in (marker.kwargs.get("databases") or ()):
        monkeypatch.setitem(settings.FABRIC, "ARM_THREADS", 0)


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


@pytest.fixture
def world(project: Project, other_project: Project, member: User) -> World:
    return make_world(project, other_project, member)


@pytest.fixture(scope="session")
def postgres_target() -> Iterator[Target]:
    with postgres_server() as target:
        yield target


@pytest.fixture(scope="session")
def mariadb_target() -> Iterator[Target]:
    with mariadb_server() as target:
        yield target
