from __future__ import annotations

from datetime import timedelta

import pytest

from graph.models import Evidence, Node, StaleThreshold
from graph.models.node import CLAIMS
from graph.review import pages
from graph.review.find_stale import find_stale
from graph.review.uses import live_edges, uses_of
from memory.models import Citation, Turn
from memory.review_finders import citations
from tests.factories import (
    NOON,
    make_audience,
    make_edge,
    make_member,
    make_node,
    make_project,
    make_record,
)
from tests.graph.review.items import subjects
from tests.memory.memories import make_conversation

pytestmark = pytest.mark.django_db
OLD = NOON - timedelta(days=400)


def claim(project, key="d", node_type="decision", **fields):
    return make_node(
        project,
        key,
        f"About {key}.",
        node_type=node_type,
        **{"occurred_at": OLD, **fields},
    )


def found(project, now=NOON):
    return list(find_stale(project, now))


class TestWhatIsFound:
    @pytest.mark.parametrize("node_type", CLAIMS)
    def test_a_claim_beyond_its_threshold(self, project, node_type):
        node = claim(project, node_type=node_type)
        (one,) = found(project)
        assert (one.subject, one.node_id) == ("node:d", node.pk)
        assert (one.age_days, one.threshold) == (
            400,
            {"decision": 90, "pattern": 180, "technology": 120, "preference": 365}.get(
                node_type, 90
            ),
        )
        assert one.why.startswith(f"This {node_type} is 13 months old: ")
        assert "400 days" in one.why
        assert one.detail["warning"].startswith(
            'STALE NODE: "About d." is 400 days old (threshold: '
        )

    def test_on_the_day_after_its_threshold_and_not_before(self, project):
        claim(project, "at", occurred_at=NOON - timedelta(days=90))
        claim(project, "over", occurred_at=NOON - timedelta(days=91))
        assert subjects(found(project)) == ["node:over"]

    def test_by_the_thresholds_of_the_project(self, project, other_project):
        for key, node_type in (("d", "decision"), ("p", "pattern")):
            claim(project, key, node_type)
            claim(other_project, key, node_type)
        for node_type, days in (("decision", None), ("pattern", 400)):
            StaleThreshold.objects.create(
                tenant=project.tenant, project=project, node_type=node_type, days=days
            )
        assert found(project) == []
        assert len(found(other_project)) == 2

    def test_all_of_them_over_many_pages_in_order(self, project, monkeypatch):
        monkeypatch.setattr(pages, "PAGE", 2)
        for n in range(5):
            claim(project, f"d{n}")
        assert subjects(found(project)) == [f"node:d{n}" for n in range(5)]


class TestWhatIsNotFound:
    @pytest.mark.parametrize(
        "node_type", ["message", "email", "section", "person", "channel", "agent"]
    )
    def test_records_structure_and_agents(self, project, node_type):
        claim(project, node_type=node_type)
        assert found(project) == []

    @pytest.mark.parametrize(
        "fields",
        [
            {"trashed_at": NOON},
            {"valid_to": NOON},
            {"confirmed_at": NOON - timedelta(days=3)},
            {"last_evidence_at": NOON - timedelta(days=3)},
            {"occurred_at": NOON + timedelta(days=3)},
        ],
    )
    def test_what_is_pruned_ended_confirmed_met_again_or_to_come(self, project, fields):
        claim(project, **fields)
        assert found(project) == []

    def test_what_is_of_another_project_or_tenant(self, project, other_project):
        claim(other_project)
        claim(make_project("acme/second"))
        assert found(project) == []
        assert len(found(other_project)) == 1


class TestWhatComesBack:
    def prints(self, project, now=NOON):
        return [one.fingerprint for one in found(project, now)]

    def test_a_day_later_it_is_the_same_evidence(self, project):
        claim(project)
        assert self.prints(project) == self.prints(project, NOON + timedelta(days=1))

    def test_what_it_is_used_for_is_no_evidence(self, project):
        node = claim(project)
        before = self.prints(project)
        make_edge(make_node(project, "m"), node)
        assert self.prints(project) == before

    def test_other_words_evidence_or_confirmation_are(self, project):
        node = claim(project)
        seen = self.prints(project)
        Node.objects.filter(pk=node.pk).update(content="Other words.")
        seen += self.prints(project)
        proof = Evidence.objects.create(
            tenant=project.tenant,
            project=project,
            node=node,
            record=make_record(project, "another"),
            quote="It says so.",
        )
        seen += self.prints(project)
        proof.quote = "It says something else."
        proof.save()
        seen += self.prints(project)
        Node.objects.filter(pk=node.pk).update(confirmed_at=OLD + timedelta(days=9))
        seen += self.prints(project)
        assert len(seen) == len(set(seen)) == 5
        proof.delete()
        Node.objects.filter(pk=node.pk).update(confirmed_at=None, content="About d.")
        assert self.prints(project) == seen[:1]


class TestUses:
    def cite(self, project, user, *nodes):
        turn = Turn.objects.create(
            conversation=make_conversation(project, user), question="?"
        )
        for n, node in enumerate(nodes, start=1):
            Citation.objects.create(turn=turn, n=n, node=node, key=node.key)

    def test_they_are_the_answers_that_cite_it_and_its_live_edges(self, project):
        node, other = claim(project), make_node(project, "m")
        make_edge(other, node)
        make_edge(node, other, "concerns")
        make_edge(other, node, "about", valid_to=OLD)
        ann, bob = (make_member(project, f"{n}@acme.test") for n in ("ann", "bob"))
        self.cite(project, ann, node, node, other)
        self.cite(project, bob, node)
        assert live_edges(project, [node.pk, other.pk]) == {node.pk: 2, other.pk: 2}
        assert citations(project, [node.pk, other.pk]) == {node.pk: 2, other.pk: 1}
        assert uses_of(project, [node.pk]) == {node.pk: 4}
        (one,) = found(project)
        assert one.uses == 4

    def test_an_edge_to_itself_is_counted_once(self, project):
        node = claim(project)
        make_edge(node, node)
        assert live_edges(project, [node.pk]) == {node.pk: 1}

    def test_nothing_of_another_tenant_is_counted(self, project, other_project, member):
        node = claim(project)
        make_edge(make_node(project, "m"), node)
        self.cite(project, member, node)
        for count in (live_edges, citations):
            assert count(other_project, [node.pk]) == {}
            assert count(project, []) == {}
            assert count(project, [node.pk]) == {node.pk: 1}


def test_an_item_is_seen_by_those_who_see_its_node(project, member, outsider):
    closed = make_audience(project, "closed", [member])
    claim(project, audience=closed)
    (one,) = found(project)
    assert one.audience_id == closed.pk
    assert Node.objects.visible_to(member).filter(pk=one.node_id).exists()
    assert not Node.objects.visible_to(outsider).filter(pk=one.node_id).exists()
