from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.connections.databases.shops import shop
from tests.targets import Target


@pytest.fixture
def postgres_shop(postgres_target: Target) -> Iterator[Target]:
    with shop(postgres_target) as target:
        yield target


@pytest.fixture
def mariadb_shop(mariadb_target: Target) -> Iterator[Target]:
    with shop(mariadb_target) as target:
        yield target


@pytest.fixture(params=["postgres", "mariadb"])
def any_shop(request: pytest.FixtureRequest) -> Target:
    """The same shop on each engine."""
    found: Target = request.getfixturevalue(f"{request.param}_shop")
    return found
