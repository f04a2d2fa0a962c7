"""A shop that `member` may ask, and `outsider` of the same project may not."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.test import Client

from connections.models import Database, Project, User
from tests.factories import make_audience
from tests.memory.sql.shop import make_shop, shop_tables
from tests.targets import Target


@pytest.fixture(scope="module")
def shop_server(postgres_target: Target) -> Iterator[Target]:
    with shop_tables(postgres_target):
        yield postgres_target


@pytest.fixture
def shop(project: Project, member: User, shop_server: Target) -> Database:
    """A database that `member` may ask, and `outsider` of the same project may not."""
    audience = make_audience(project, "database:shop", [member])
    return make_shop(project, shop_server, audience=audience)


@pytest.fixture
def page(member: User, client: Client) -> Client:
    client.force_login(member)
    return client
