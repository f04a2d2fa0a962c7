"""Citations and proofs of nodes that are merged, and taken apart again."""

from __future__ import annotations

import pytest

from graph.merging import merge_nodes, unmerge
from graph.models import Evidence
from memory.models import Citation
from tests.factories import make_member, make_node
from tests.memory.making import make_conversation, make_observation

pytestmark = pytest.mark.django_db


def topic(project, name):
    node = make_node(project, f"topic:{name}", node_type="topic", title=name)
    Evidence.objects.filter(node=node).delete()
    prove(node, node.record, kind="said")
    return node


def prove(node, record, kind="derived", part=""):
    return Evidence.objects.create(
        tenant_id=node.tenant_id,
        project_id=node.project_id,
        node=node,
        record=record,
        kind=kind,
        part=part,
    )


def cited(conversation):
    rows = Citation.objects.filter(turn__conversation=conversation).order_by("n")
    return [(row.node_id, row.key) for row in rows]


def test_a_citation_names_the_node_that_was_kept_and_its_own_again(project, member):
    one, two, third = (topic(project, name) for name in ("one", "two", "third"))
    talk = make_conversation(project, member, cited=[one, two, third])
    before = cited(talk)
    assert len(before) == 3
    merged = merge_nodes(project, one.pk, [two.pk], by=None)
    assert cited(talk) == [before[0], before[0], before[2]]
    unmerge(project, merged.before, None)
    assert cited(talk) == before


def test_citations_of_another_project_are_left_alone(project, other_project, member):
    stranger = make_member(other_project, "eve@strangers.test")
    one, two = topic(project, "one"), topic(project, "two")
    theirs = topic(other_project, "two")
    talk = make_conversation(other_project, stranger, cited=[theirs])
    merge_nodes(project, one.pk, [two.pk], by=None)
    assert cited(talk) == [(theirs.pk, "topic:two")]


def test_a_proof_of_what_was_remembered_names_the_kept_node_and_comes_back(
    project, member
):
    one, two = topic(project, "one"), topic(project, "two")
    learned = make_observation(project, member)
    proof = prove(learned.node, two.record, part="memory:topic:two")
    merged = merge_nodes(project, one.pk, [two.pk], by=None)
    proof.refresh_from_db()
    assert proof.part == "memory:topic:one"
    unmerge(project, merged.before, None)
    proof.refresh_from_db()
    assert proof.part == "memory:topic:two"


def test_what_rests_on_both_of_one_record_keeps_both_proofs(project, member):
    one, two = topic(project, "one"), topic(project, "two")
    learned = make_observation(project, member)
    parts = ("memory:topic:one", "memory:topic:two")
    proofs = [prove(learned.node, two.record, part=part) for part in parts]
    merged = merge_nodes(project, one.pk, [two.pk], by=None)
    for now in (None, unmerge(project, merged.before, None)):
        found = Evidence.objects.filter(pk__in=[p.pk for p in proofs]).order_by("pk")
        assert [each.part for each in found] == list(parts), now


def test_a_merge_without_citations_and_proofs_is_taken_back_too(project):
    one, two = topic(project, "one"), topic(project, "two")
    merged = merge_nodes(project, one.pk, [two.pk], by=None)
    assert merged.before["repointed"] == {"memory": {"citations": [], "proofs": []}}
    unmerge(project, merged.before, None)
    two.refresh_from_db()
    assert two.is_current
