"""Who writes into the graph by hand."""

from __future__ import annotations

import pytest

from connections.models import Role
from graph.hand import Author
from tests.factories import make_member


@pytest.fixture
def editor(project):
    return make_member(project, "editor@acme.test", Role.EDITOR)


@pytest.fixture
def by(editor):
    return Author(editor)
