"""The target of a connection, one of each engine."""

from __future__ import annotations

import pytest

from tests.connections.databases.connecting.leading import GRANT


@pytest.fixture(params=["postgres", "mariadb"])
def target(request):
    found = request.getfixturevalue(f"{request.param}_target")
    if request.param == "mariadb":
        found.run(GRANT)
    return found
