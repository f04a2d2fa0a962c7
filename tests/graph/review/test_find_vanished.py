from __future__ import annotations

import pytest

from graph.review.find_vanished import find_vanished, ties_of_others
from memory.models import Citation, Turn
from tests.factories import NOON, make_edge, make_node
from tests.graph.review.items import subjects
from tests.memory.memories import make_conversation

pytestmark = pytest.mark.django_db


def found(project):
    return list(find_vanished(project, NOON))


def cite(project, user, node):
    turn = Turn.objects.create(
        conversation=make_conversation(project, user), question="?"
    )
    Citation.objects.create(turn=turn, n=1, node=node, key=node.key)


@pytest.fixture
def gone(project):
    return make_node(project, "gone", "The plan.", gone_at=NOON)


class TestWhatIsFound:
    def test_what_an_answer_cites(self, project, gone, member):
        cite(project, member, gone)
        (one,) = found(project)
        assert (one.subject, one.node_id, one.uses) == ("node:gone", gone.pk, 1)
        assert one.why == (
            "This message is gone at its source since 2 March 2026, and relied on: "
            "1 citation."
        )
        assert one.detail == {
            "gone_at": NOON.isoformat(),
            "type": "message",
            "citations": 1,
        }

    def test_what_another_record_refers_to(self, project, gone):
        make_edge(make_node(project, "reply"), gone, "replied_to")
        (one,) = found(project)
        assert one.detail["ties"] == one.uses == 1

    def test_a_claim_as_well_as_a_record(self, project, member):
        node = make_node(project, "d", node_type="decision", gone_at=NOON)
        cite(project, member, node)
        assert subjects(found(project)) == ["node:d"]


class TestWhatIsNotFound:
    def test_what_nothing_relies_on(self, project, gone):
        make_edge(gone, make_node(project, "channel", node_type="channel"), "posted_in")
        assert found(project) == []

    def test_what_is_there(self, project, member):
        node = make_node(project, "here")
        cite(project, member, node)
        make_edge(make_node(project, "reply"), node)
        assert found(project) == []

    def test_what_only_something_gone_refers_to(self, project, gone):
        edge = make_edge(make_node(project, "reply"), gone)
        reply = edge.source
        reply.record.gone_at = NOON
        reply.record.save()
        assert ties_of_others(project, [gone.pk]) == {}
        assert found(project) == []

    def test_what_was_once_referred_to(self, project, gone):
        make_edge(make_node(project, "reply"), gone, valid_to=NOON)
        assert found(project) == []

    @pytest.mark.parametrize("field", ["trashed_at", "valid_to"])
    def test_what_is_pruned_or_ended(self, project, gone, member, field):
        cite(project, member, gone)
        setattr(gone, field, NOON)
        gone.save()
        assert found(project) == []

    def test_what_is_another_tenants(self, project, gone, other_project, member):
        cite(project, member, gone)
        assert len(found(project)) == 1
        assert found(other_project) == []
        make_edge(make_node(project, "reply"), gone)
        assert ties_of_others(project, [gone.pk]) == {gone.pk: 1}
        assert ties_of_others(other_project, [gone.pk]) == {}


def test_it_comes_back_when_it_came_and_went_again(project, gone, member):
    cite(project, member, gone)
    before = found(project)[0].fingerprint
    cite(project, member, gone)
    assert found(project)[0].fingerprint == before
    gone.gone_at = NOON.replace(day=1)
    gone.save()
    assert found(project)[0].fingerprint != before
