"""People whose names are also words."""

from __future__ import annotations

import pytest

from tests.retrieval.query.understanding import make_person


@pytest.fixture
def people(project):
    return {
        name: make_person(project, f"identity:{name}", name)
        for name in ("Ann Lee", "Mark Stone", "Melanie Ortiz", "May Chen")
    }
