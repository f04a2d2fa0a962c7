from __future__ import annotations

import pytest

from graph.models import Edge, Node
from tests.factories import (
    draft_account,
    draft_channel,
    draft_message,
    take_in,
)

pytestmark = pytest.mark.django_db


def relations(project):
    return {
        (e.source.key, e.relation, e.target.key)
        for e in Edge.objects.of(project).live().select_related("source", "target")
    }


def test_a_message_is_drawn_to_its_author_and_its_channel(project):
    counts = take_in(project, draft_account(), draft_channel(), draft_message())
    assert (counts.seen, counts.created) == (1, 1)
    assert relations(project) == {
        ("slack:C1:1.000001", "sent_by", "identity:slack-user:U1"),
        ("slack:C1:1.000001", "posted_in", "slack:C1"),
    }
    assert Node.objects.of(project).get(key="slack:C1:1.000001").content == "Hello"
