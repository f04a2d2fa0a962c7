"""Who sees what, and how far a walk goes. RULE: visible_to begins every read."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from connections.models import Audience
from connections.models.tenancy import AudienceQuerySet
from graph.models import Edge, Node, Record
from memory.conversations import start_conversation
from memory.models import Conversation
from tests.factories import make_edge, make_node, make_project, make_user

pytestmark = pytest.mark.django_db

REFERENCE_WALK = """
    WITH RECURSIVE walk (id, depth) AS (
        SELECT %s::bigint, 0
        UNION
        SELECT CASE WHEN e.source_id = walk.id THEN e.target_id ELSE e.source_id END,
               walk.depth + 1
          FROM walk JOIN graph_edges e
            ON e.source_id = walk.id OR e.target_id = walk.id
         WHERE walk.depth < %s
    ) SELECT DISTINCT walk.id FROM walk
"""


def ids(rows):
    return {row.pk for row in rows}


class TestVisibility:
    """Each read, by three users: of the channel, of the project only, of neither."""

    def test_nodes(self, world, member, outsider, stranger):
        opened, closed, foreign = map(ids, (world.open, world.closed, world.foreign))
        assert (len(opened), len(closed), len(foreign)) == (6, 6, 6)
        assert ids(Node.objects.visible_to(member)) == opened | closed
        assert ids(Node.objects.visible_to(outsider)) == opened
        assert ids(Node.objects.visible_to(stranger)) == foreign

    def test_records(self, world, member, outsider, stranger):
        counts = [
            Record.objects.visible_to(u).count() for u in (member, outsider, stranger)
        ]
        assert counts == [12, 6, 6]

    def test_edges(self, world, member, outsider, stranger):
        everything = ids(Edge.objects.of(world.project))
        assert len(everything) == 4
        assert ids(Edge.objects.visible_to(member)) == everything
        seen = {(e.source_id, e.target_id) for e in Edge.objects.visible_to(outsider)}
        assert seen == {(world.near.pk, world.open[3].pk)}
        assert not Edge.objects.visible_to(stranger)

    def test_conversations(self, project, member, outsider, stranger):
        mine = start_conversation(project, member, "What did we say?")
        assert list(Conversation.objects.visible_to(member)) == [mine]
        assert not Conversation.objects.visible_to(outsider)
        assert not Conversation.objects.visible_to(stranger)

    @pytest.mark.parametrize(
        "nobody", ["anonymous", "inactive", "memberless", "unsaved"]
    )
    def test_who_belongs_nowhere_sees_nothing(self, world, member, nobody):
        user = {
            "anonymous": AnonymousUser,
            "inactive": lambda: member,
            "memberless": lambda: make_user("lone@acme.test"),
            "unsaved": lambda: type(member)(email="x@y.test"),
        }[nobody]()
        if nobody == "inactive":
            member.is_active = False
            member.save()
        assert not Node.objects.visible_to(user)
        assert not Edge.objects.visible_to(user)
        assert not Record.objects.visible_to(user)

    def test_a_verified_address_opens_what_was_addressed_to_it(self, world, outsider):
        closed = Audience.objects.get(key="slack:P1")
        closed.members.create(member="second@acme.test")
        address = outsider.addresses.create(address="second@acme.test")
        assert ids(Node.objects.visible_to(outsider)) == ids(world.open)
        address.verified_at = timezone.now()
        address.save()
        assert ids(Node.objects.visible_to(outsider)) == ids(world.open + world.closed)

    def test_who_leaves_the_project_sees_nothing_of_it_any_more(self, world, member):
        member.memberships.all().delete()
        assert not Node.objects.visible_to(member)

    def test_an_edge_to_a_pruned_node_is_in_no_read(self, world, member):
        Node.objects.filter(pk=world.far.pk).update(trashed_at=timezone.now())
        found = Edge.objects.visible_to(member)
        assert world.far.pk not in {e.target_id for e in found}
        assert found.count() == 3

    def test_these_checks_would_see_a_leak(
        self, world, member, outsider, stranger, monkeypatch
    ):
        everything = list(Audience.objects.values_list("pk", flat=True))
        monkeypatch.setattr(AudienceQuerySet, "ids_of", lambda self, user: everything)
        for check in (self.test_nodes, self.test_records, self.test_edges):
            with pytest.raises(AssertionError):
                check(world, member, outsider, stranger)


class TestWalks:
    def reach(self, world, user, *seeds, **options):
        nodes = Node.objects.visible_to(user).current()
        return ids(
            nodes.reachable_from(
                [s.pk for s in seeds], project=world.project, **options
            )
        )

    def test_a_member_of_the_channel_walks_through_it(self, world, member):
        assert self.reach(world, member, world.near, depth=2) == {
            n.pk
            for n in (world.near, world.bridge, world.far, world.beside, world.open[3])
        }

    def test_nothing_is_reached_through_or_by_what_is_hidden(self, world, outsider):
        visible = {world.near.pk, world.open[3].pk}
        assert self.reach(world, outsider, world.near, depth=4) == visible
        assert self.reach(world, outsider, world.bridge, depth=4) == set()

    def test_a_stranger_reaches_nothing(self, world, stranger):
        assert self.reach(world, stranger, world.near, depth=4) == set()

    def test_these_checks_would_see_a_leak(self, world, outsider, monkeypatch):
        everything = list(Audience.objects.values_list("pk", flat=True))
        monkeypatch.setattr(AudienceQuerySet, "ids_of", lambda self, user: everything)
        with pytest.raises(AssertionError):
            self.test_nothing_is_reached_through_or_by_what_is_hidden(world, outsider)

    def test_depth_relations_and_times_bound_a_walk(self, project, world, member):
        assert self.reach(world, member, world.near, depth=0) == {world.near.pk}
        assert len(self.reach(world, member, world.near, depth=1)) == 4
        only = self.reach(world, member, world.near, relations=["replied_to"])
        assert only == {world.near.pk, world.beside.pk}
        past = datetime(2020, 1, 1, tzinfo=UTC)
        Edge.objects.filter(pk=world.secret_edge.pk).update(valid_to=past)
        assert self.reach(world, member, world.near, relations=["replied_to"]) == {
            world.near.pk
        }
        before = past - timedelta(days=1)
        assert (
            len(
                self.reach(
                    world, member, world.near, relations=["replied_to"], as_of=before
                )
            )
            == 2
        )

    def test_a_hub_gives_its_best_edges_first_and_all_when_asked(self, project):
        hub = make_node(project, "hub")
        leaves = [make_node(project, f"leaf{n}") for n in range(8)]
        for n, leaf in enumerate(leaves):
            make_edge(hub, leaf, weight=n + 1)
        nodes = Node.objects.of(project)
        best = nodes.reachable_from([hub.pk], project=project, depth=1, fan_out=3)
        assert ids(best) == {hub.pk, *ids(leaves[5:])}
        every = nodes.reachable_from([hub.pk], project=project, depth=1, fan_out=None)
        assert every.count() == 9

    def test_what_may_not_be_seen_takes_no_place_under_the_cap(self, world, outsider):
        """The cap counts after hidden ends and hidden edges are left out."""
        Edge.objects.filter(pk=world.secret_edge.pk).update(weight=100)
        Edge.objects.filter(source=world.near, target=world.bridge).update(weight=90)
        assert self.reach(world, outsider, world.near, depth=1, fan_out=1) == {
            world.near.pk,
            world.open[3].pk,
        }

    def test_an_empty_queryset_walks_nowhere(self, world):
        none = Node.objects.filter(pk__in=[])
        assert not none.reachable_from([world.near.pk], project=world.project)

    def test_a_walk_is_one_query(self, world, member, django_assert_num_queries):
        nodes = Node.objects.visible_to(member)
        with django_assert_num_queries(1):
            list(nodes.reachable_from([world.near.pk], project=world.project, depth=3))

    def test_a_walk_stays_in_its_project(self, project, member):
        second = make_project("acme/second")
        second.memberships.create(user=member, role="viewer")
        a, b = make_node(second, "a"), make_node(second, "b")
        make_edge(a, b)
        nodes = Node.objects.visible_to(member)
        assert ids(nodes.reachable_from([a.pk], project=project)) == set()
        assert ids(nodes.reachable_from([a.pk], project=second)) == {a.pk, b.pk}

    @settings(
        max_examples=25,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
    @given(
        pairs=st.sets(
            st.tuples(st.integers(0, 7), st.integers(0, 7)).filter(
                lambda p: p[0] != p[1]
            ),
            max_size=14,
        ),
        depth=st.integers(0, 3),
    )
    def test_without_a_cap_it_is_the_reference_walk(self, project, pairs, depth):
        Edge.objects.of(project).delete()
        nodes = list(Node.objects.of(project).order_by("pk")) or [
            make_node(project, f"n{n}") for n in range(8)
        ]
        for a, b in sorted(pairs):
            make_edge(nodes[a], nodes[b])
        with connection.cursor() as cursor:
            cursor.execute(REFERENCE_WALK, [nodes[0].pk, depth])
            reference = {row[0] for row in cursor.fetchall()}
        found = Node.objects.of(project).reachable_from(
            [nodes[0].pk], project=project, depth=depth, fan_out=None
        )
        assert ids(found) == reference


def test_a_node_is_shown_while_it_is_not_pruned_and_valid_at_the_time(project):
    now = timezone.now()
    day = timedelta(days=1)
    ended = make_node(project, "ended", valid_to=now - day)
    begun = make_node(project, "begun", valid_from=now + day)
    pruned = make_node(project, "pruned", trashed_at=now)
    plain = make_node(project, "plain")
    current = Node.objects.of(project).current()
    assert pruned not in current
    assert set(current.as_of(now)) == {plain}
    assert set(current.as_of(now - 2 * day)) == {plain, ended}
    assert set(current.as_of(now + 2 * day)) == {plain, begun}
