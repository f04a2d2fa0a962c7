"""Nodes that were merged and are pruned: no key is lost, and nothing comes back."""

from __future__ import annotations

import pytest
from django.utils import timezone

from graph.erased_merges import forget_merges
from graph.merging import MergeRefused, merge_nodes, resolved, unmerge
from graph.models import Merge, Node, ReviewItem, Tombstone, Trashed
from graph.review.pruning import consequences, prune, purge_due, restore
from tests.factories import make_edge, make_node
from tests.graph.review.queueing import make_reviewer
from tests.graph.test_erased_merges import (
    COSTS,
    LAUNCH,
    ROLLOUT,
    merge,
    node,
    note,
    read,
)

pytestmark = pytest.mark.django_db

SAID = (note(1, ROLLOUT), note(2, LAUNCH), note(3, COSTS))


@pytest.fixture
def rita(project):
    return make_reviewer(project)


def put_away(project, by, *keys):
    nodes = [node(project, key).pk for key in keys]
    token = consequences(project, nodes, by).token
    return prune(project, nodes, by=by, reason="Over.", token=token)


def there(project):
    current = Node.objects.of(project).current().as_of(timezone.now())
    current = current.filter(node_type="topic")
    return sorted(current.values_list("key", flat=True))


def purge(project):
    Trashed.objects.update(purge_at=timezone.now())
    return purge_due(timezone.now())


def test_the_kept_node_in_the_trash_stands_for_its_names_and_comes_back_whole(
    project, rita
):
    read(project, *SAID, name="notes")
    merged = merge(project, LAUNCH, ROLLOUT)
    put_away(project, rita, LAUNCH)
    assert there(project) == [COSTS]
    assert resolved(project, [ROLLOUT]) == {ROLLOUT: LAUNCH}
    read(project, *SAID, note(4, ROLLOUT), name="notes")
    assert there(project) == [COSTS]
    restore(project, [node(project, LAUNCH).pk], by=rita)
    assert there(project) == [COSTS, LAUNCH]
    unmerge(project, merged.before, rita)
    assert there(project) == [COSTS, LAUNCH, ROLLOUT]


def test_what_was_pruned_for_good_does_not_come_back_under_a_merged_name(project, rita):
    read(project, *SAID, name="notes")
    merge(project, LAUNCH, ROLLOUT)
    put_away(project, rita, LAUNCH)
    assert purge(project) >= 1
    assert there(project) == [COSTS]
    read(project, *SAID, name="again")
    assert there(project) == [COSTS]
    # No name stands for something that is not there.
    stands = resolved(project, [ROLLOUT, LAUNCH])
    known = set(Node.objects.of(project).values_list("key", flat=True))
    buried = set(Tombstone.objects.values_list("key", flat=True))
    assert set(stands.values()) <= known | buried


def test_a_node_that_was_merged_is_not_pruned_apart_from_the_kept_one(project, rita):
    read(project, *SAID, name="notes")
    merge(project, LAUNCH, ROLLOUT)
    before = there(project)
    put_away(project, rita, ROLLOUT)
    assert there(project) == before == [COSTS, LAUNCH]
    purge(project)
    assert there(project) == before
    read(project, *SAID, name="again")
    assert there(project) == before
    assert resolved(project, [ROLLOUT]) == {ROLLOUT: LAUNCH}


def test_what_is_in_the_trash_is_neither_kept_nor_merged(project, rita):
    read(project, *SAID, name="notes")
    put_away(project, rita, LAUNCH)
    ids = node(project, LAUNCH).pk, node(project, ROLLOUT).pk
    for keep, other in (ids, ids[::-1]):
        with pytest.raises(MergeRefused, match="pruned"):
            merge_nodes(project, keep, [other], by=rita)
    assert not Merge.objects.exists()


def test_what_a_prune_leaves_alone_is_queued_and_leaves_when_it_is_taken_back(
    project, rita
):
    read(project, note(1, COSTS), name="notes")
    alone = make_node(project, "topic:alone", node_type="topic", title="alone")
    alone.evidence.all().delete()
    tied = make_node(project, "topic:tied", node_type="topic", title="tied")
    for end in (alone, tied):
        make_edge(node(project, COSTS), end, "used_for")
    queue = ReviewItem.objects.filter(kind="orphan")
    put_away(project, rita, COSTS)
    assert [(item.node_id, item.state) for item in queue] == [(alone.pk, "open")]
    restore(project, [node(project, COSTS).pk], by=rita)
    assert [(item.node_id, item.state) for item in queue.all()] == [
        (alone.pk, "withdrawn")
    ]
    put_away(project, rita, COSTS)
    assert queue.get().state == "open"


def test_forgetting_merges_twice_changes_nothing(project):
    read(project, *SAID, name="notes")
    merge(project, LAUNCH, ROLLOUT)
    nodes = list(Node.objects.values_list("pk", flat=True))
    for _ in range(2):
        assert forget_merges(project, nodes).total() == 0
        assert resolved(project, [ROLLOUT]) == {ROLLOUT: LAUNCH}
