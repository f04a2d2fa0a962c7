"""Names that were merged and then erased: none resolves to nothing, none comes back."""

from __future__ import annotations

import pytest

from connections.models import Audit, SavedView
from connections.records import EdgeDraft, NodeDraft, Record
from graph.checking import check_graph
from graph.erased_views import forget_views_naming
from graph.erasing import erase
from graph.erasing_plan import plan_source
from graph.integrity import find_gaps
from graph.merging import merge_nodes, resolved, unmerge
from graph.models import Evidence, GraphCheck, Merge, Node
from tests.factories import make_member, make_project, make_source, take_in
from tests.graph.snapshots import differences, snapshot

pytestmark = pytest.mark.django_db

LAUNCH, ROLLOUT, START = "topic:launch", "topic:roll out", "topic:start"


def note(number, *topics, joined=False):
    key = f"note:{number}"
    about = tuple(
        EdgeDraft(source=key, relation="mentions", target=topic) for topic in topics
    )
    between = EdgeDraft(source=topics[0], relation="used_for", target=topics[-1])
    return Record(
        key=key,
        kind="message",
        body=f"Note {number}.",
        nodes=(
            NodeDraft(key=key, node_type="message", content=f"Note {number}."),
            *(
                NodeDraft(key=topic, node_type="topic", title=topic[6:])
                for topic in topics
            ),
        ),
        edges=(*about, between) if joined else about,
    )


COSTS = "topic:costs"
STAYING = (note(1, ROLLOUT, COSTS, joined=True), note(2, COSTS))
GOING = (note(3, LAUNCH), note(4, LAUNCH, COSTS, joined=True))


def read(project, *records, name):
    take_in(project, *records, source=make_source(project, name, "folder"))


def node(project, key):
    return Node.objects.get(project=project, key=key)


def merge(project, keep, gone):
    return merge_nodes(
        project, node(project, keep).pk, [node(project, gone).pk], by=None, reason=""
    )


def erase_gone(project):
    plan = plan_source(make_source(project, "gone", "folder"))
    return erase(plan, by=None, reason="asked for", token=plan.token)


def details(project):
    rows = Audit.objects.filter(project=project, detail__isnull=False)
    return " ".join(str(row.detail.detail) + row.target for row in rows)


def test_where_the_kept_name_is_erased_another_one_goes_on():
    project, never = make_project("acme/one"), make_project("acme/two")
    for each in (project, never):
        read(each, *STAYING, name="stays")
    read(project, *GOING, name="gone")
    merge(project, LAUNCH, ROLLOUT)
    assert resolved(project, [ROLLOUT]) == {ROLLOUT: LAUNCH}
    assert erase_gone(project).left == 0
    assert not Node.objects.filter(project=project, key=LAUNCH).exists()
    assert not Merge.objects.exists()
    kept = node(project, ROLLOUT)
    assert (kept.title, kept.is_current) == ("roll out", True)
    assert differences(snapshot(project), snapshot(never)) == []
    assert LAUNCH not in details(project)
    assert find_gaps(project) == find_gaps(never)
    found = check_graph(project).findings, check_graph(never).findings
    left, right = ({k: v["count"] for k, v in each.items()} for each in found)
    assert left == right


def test_where_the_merged_name_is_erased_nothing_stands_for_the_kept_one():
    project, never = make_project("acme/one"), make_project("acme/two")
    for each in (project, never):
        read(each, *STAYING, name="stays")
    read(project, *GOING, name="gone")
    merge(project, ROLLOUT, LAUNCH)
    erase_gone(project)
    assert not Merge.objects.exists()
    assert differences(snapshot(project), snapshot(never)) == []
    assert LAUNCH not in details(project)
    # Somebody who says it later says it of itself.
    read(project, *GOING, name="later")
    assert node(project, LAUNCH).is_current


def test_where_both_are_said_by_others_the_merge_stays_and_can_be_taken_back():
    project = make_project()
    said = (*STAYING, note(5, LAUNCH), note(7, LAUNCH), note(8, ROLLOUT))
    read(project, *said, name="stays")
    read(project, *GOING, note(6, ROLLOUT, LAUNCH, joined=True), name="gone")
    merged = merge(project, ROLLOUT, LAUNCH)
    erase_gone(project)
    assert resolved(project, [LAUNCH]) == {LAUNCH: ROLLOUT}
    unmerge(project, merged.before, None)
    apart = make_project("acme/two")
    read(apart, *said, name="stays")
    assert differences(snapshot(project), snapshot(apart)) == []


def test_a_name_in_the_middle_of_merges_goes_and_the_others_stay_one():
    project = make_project()
    read(project, *STAYING, note(5, START), name="stays")
    read(project, *GOING, name="gone")
    merge(project, LAUNCH, ROLLOUT)
    merge(project, START, LAUNCH)
    erase_gone(project)
    assert resolved(project, [ROLLOUT, LAUNCH]) == {ROLLOUT: START}
    assert Evidence.objects.filter(project=project, via_target=ROLLOUT).exists()
    assert not Node.objects.filter(project=project, key=LAUNCH).exists()


def test_what_was_taken_apart_is_forgotten_with_either_of_the_two():
    project = make_project()
    read(project, *STAYING, name="stays")
    read(project, *GOING, name="gone")
    unmerge(project, merge(project, ROLLOUT, LAUNCH).before, None)
    assert Merge.objects.exclude(undone_at=None).count() == 1
    erase_gone(project)
    assert not Merge.objects.exists()


def test_merges_that_no_erased_record_is_part_of_stay_as_they_are():
    project, other = make_project("acme/one"), make_project("acme/two")
    for each in (project, other):
        read(each, *STAYING, note(5, START), name="stays")
        read(each, *GOING, name="gone")
        merge(each, START, ROLLOUT)
    taken = snapshot(other)
    erase_gone(project)
    assert resolved(project, [ROLLOUT]) == {ROLLOUT: START}
    assert resolved(other, [ROLLOUT]) == {ROLLOUT: START}
    assert differences(snapshot(other), taken) == []


def test_the_checks_name_nothing_any_more_and_keep_their_counts():
    project = make_project()
    read(project, *STAYING, name="stays")
    read(project, *GOING, name="gone")
    Evidence.objects.filter(node=node(project, LAUNCH)).delete()
    check_graph(project)
    found = GraphCheck.objects.get().findings["nodes_without_evidence"]
    assert (found["count"], found["examples"]) == (1, [LAUNCH])
    erase_gone(project)
    found = GraphCheck.objects.get().findings["nodes_without_evidence"]
    assert (found["count"], found["examples"]) == (1, [])


def test_saved_lists_that_look_for_somebody_erased_go_and_no_others(
    project, member, other_project
):
    stranger = make_member(other_project, "eve@strangers.test")
    saved = {
        ("q=Ann%20Lee", member, None),
        ("q=ann%40acme.test&state=open", member, project),
        ("q=Annabel", member, None),
        ("q=Ann+Lee", stranger, other_project),
    }
    for n, (query, owner, shared) in enumerate(sorted(saved, key=str)):
        SavedView.objects.create(
            owner=owner,
            shared_with=shared,
            name=f"view {n}",
            model="graph.node",
            query=query,
        )
    SavedView.objects.create(owner=member, name="Of Ann Lee", model="graph.node")
    assert forget_views_naming(project, ["Ann Lee", "ann@acme.test"]) == 3
    left = SavedView.objects.values_list("query", flat=True)
    assert sorted(left) == ["q=Ann+Lee", "q=Annabel"]


def test_a_saved_list_of_one_record_goes_with_it(project, member):
    read(project, *STAYING, name="stays")
    read(project, *GOING, name="gone")
    for query in ("key=note%3A3", "key=note%3A1"):
        SavedView.objects.create(
            owner=member, name=query, model="graph.record", query=query
        )
    erase_gone(project)
    assert SavedView.objects.get().query == "key=note%3A1"
