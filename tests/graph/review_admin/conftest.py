"""A reviewer, and a browser signed in as that."""

from __future__ import annotations

import pytest

from tests.graph.review.queueing import make_reviewer
from tests.graph.review_admin.sending import signed_in


@pytest.fixture
def reviewer(project):
    return make_reviewer(project)


@pytest.fixture
def client(reviewer):
    return signed_in(reviewer)
