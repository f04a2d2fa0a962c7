"""The test database: made and migrated by `fabric_owner`, used by `fabric_app`."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest
from django.conf import settings
from django.test import TransactionTestCase

from connections.models import Project, User
from tests.factories import make_member, make_project, make_user
from tests.migrated import (
    PREFIX,
    empty,
    is_embedded,
    own_database,
    stop_servers,
    wait_for_no_disk,
)
from tests.targets import Target, mariadb_server, postgres_server
from tests.worlds import World, make_world

HERE = Path(__file__).resolve().parent
# Begun first, so that no worker sits idle at the end while another is in one of them.
LONGEST = (
    "site/access/test_matrix.py",
    "site/test_migrations.py",
    "connections/databases/test_runner_ends.py",
    "site/test_layers.py",
    "graph/reembedding/test_killed.py",
    "graph/reembedding/test_switching.py",
    "graph/test_ingest_order.py",
    "graph/test_ingest_killed.py",
    "site/test_setup_site.py",
    "benchmarks/test_database.py",
    "connections/databases/connecting/test_reached.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    ranks = {str(HERE / path): rank for rank, path in enumerate(LONGEST)}
    items.sort(key=lambda item: ranks.get(str(item.path), len(ranks)))


def pytest_collection_finish() -> None:
    """What is imported and collected stays to the end: it is looked at no more."""
    gc.collect()
    gc.freeze()


def pytest_configure(config: pytest.Config) -> None:
    if is_embedded() and not hasattr(config, "workerinput"):
        wait_for_no_disk()


def pytest_unconfigure(config: pytest.Config) -> None:
    if is_embedded() and not hasattr(config, "workerinput"):
        stop_servers()


@pytest.fixture(scope="session")
def django_db_setup(django_db_blocker) -> Iterator[None]:
    with (
        patch.object(TransactionTestCase, "_fixture_teardown", empty),
        django_db_blocker.unblock(),
        own_database(f"{PREFIX}{os.getpid()}"),
    ):
        yield


@pytest.fixture(autouse=True)
def _active_model(request: pytest.FixtureRequest) -> None:
    """Put back what a flush after a transactional test took: the active model."""
    marker = request.node.get_closest_marker("django_db")
    if marker is None and "db" not in request.fixturenames:
        return
    request.getfixturevalue(
        "transactional_db" if marker and marker.kwargs.get("transaction") else "db"
    )
    from connections.providers.static import DIMENSIONS, LEADING, NAME
    from graph.embed import forget_model
    from graph.models import EmbeddingModel

    forget_model()
    EmbeddingModel.objects.get_or_create(
        name=NAME,
        defaults={
            "dimensions": DIMENSIONS,
            "indexed_dimensions": LEADING,
            "is_active": True,
        },
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
