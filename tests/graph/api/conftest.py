from __future__ import annotations

import pytest

from tests.connections.api.callers import World, make_world


@pytest.fixture
def world(project, member) -> World:
    return make_world(project, member)
