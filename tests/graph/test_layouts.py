from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest
from django.utils import timezone

from graph.audiences import readable_with
from graph.layouts import Link, is_due, lay_out, places_of
from graph.models import Node, NodePosition
from graph.pictures import picture_of_all
from graph.removal import remove_project
from graph.surroundings import View
from graph.tasks import lay_out_due, lay_out_graph
from tests.factories import NOON, make_audience, make_edge, make_node

pytestmark = pytest.mark.django_db


def make_ring(project, count=12, audience=None, prefix="n"):
    nodes = [
        make_node(project, f"{prefix}{n}", audience=audience) for n in range(count)
    ]
    for n, node in enumerate(nodes):
        make_edge(node, nodes[(n + 1) % count])
    return nodes


def kept(project):
    rows = NodePosition.objects.filter(project=project)
    return {row.node_id: (row.x, row.y) for row in rows}


def test_every_node_of_the_project_gets_a_place_and_no_other(project, other_project):
    nodes = make_ring(project)
    make_ring(other_project, 3)
    assert lay_out(project).placed == 12
    places = kept(project)
    assert places.keys() == {node.pk for node in nodes}
    assert len(set(places.values())) == 12
    assert kept(other_project) == {}


def test_the_same_graph_has_the_same_layout(project):
    make_ring(project)
    lay_out(project)
    first = kept(project)
    NodePosition.objects.all().delete()
    lay_out(project)
    assert kept(project) == first


def test_what_has_a_place_keeps_it_when_little_is_new(project):
    nodes = make_ring(project, 20)
    lay_out(project)
    before = kept(project)
    new = make_node(project, "new")
    make_edge(new, nodes[0])
    assert lay_out(project).kept == 20
    after = kept(project)
    assert {pk: after[pk] for pk in before} == before
    distances = {
        pk: np.hypot(*np.subtract(after[new.pk], place)) for pk, place in before.items()
    }
    assert sorted(distances, key=distances.__getitem__).index(nodes[0].pk) < 3


def test_where_much_is_new_the_old_moves_less_than_the_picture_is_wide(project):
    nodes = make_ring(project, 20)
    lay_out(project)
    before = kept(project)
    for n in range(6):
        make_edge(make_node(project, f"new{n}"), nodes[n])
    lay_out(project)
    after = kept(project)
    moved = [np.hypot(*np.subtract(after[pk], before[pk])) for pk in before]
    wide = np.ptp(np.array(list(before.values())), axis=0).max()
    assert 0 < np.median(moved) < wide / 4


def test_no_place_follows_from_what_some_reader_may_not_see(project, member):
    nodes = make_ring(project, 10)
    lay_out(project)
    before = {
        row.node_id: (row.x, row.y, row.ties) for row in NodePosition.objects.all()
    }
    NodePosition.objects.all().delete()
    closed = make_audience(project, "closed", [member])
    for secret in make_ring(project, 8, closed, "secret"):
        make_edge(secret, nodes[0], audience=closed)
    make_edge(nodes[2], nodes[7], audience=closed)
    assert lay_out(project).placed == 18
    after = {
        row.node_id: (row.x, row.y, row.ties) for row in NodePosition.objects.all()
    }
    assert {pk: after[pk] for pk in before} == before
    assert all(after[n.pk][2] == 3 for n in Node.objects.filter(audience=closed))


def test_one_without_a_place_gets_it_beside_its_neighbour_and_keeps_it(project):
    nodes = make_ring(project, 10)
    lay_out(project)
    new = make_node(project, "new")
    audiences = {new.pk: new.audience_id, nodes[3].pk: nodes[3].audience_id}
    link = Link(new.pk, nodes[3].pk, new.audience_id)
    found = places_of(project, audiences, [link])
    assert np.hypot(*np.subtract(found[new.pk], found[nodes[3].pk])) < 120
    assert places_of(project, audiences, []) == found
    assert NodePosition.objects.get(node=new).version == 0


def test_beside_a_neighbour_that_some_reader_may_not_see_there_is_no_place(
    project, member
):
    public = make_audience(project)
    closed = make_audience(project, "closed", [member])
    secret = make_node(project, "secret", audience=closed)
    other = make_node(project, "other")
    NodePosition.objects.create(
        tenant_id=project.tenant_id,
        project=project,
        node=secret,
        x=9000,
        y=9000,
        seen_by=closed.pk,
    )
    audiences = {secret.pk: closed.pk, other.pk: public.pk}
    link = Link(secret.pk, other.pk, public.pk)
    alone = places_of(project, {other.pk: public.pk}, [])[other.pk]
    NodePosition.objects.filter(node=other).delete()
    assert places_of(project, audiences, [link])[other.pk] == alone
    assert max(map(abs, alone)) < 5000
    assert closed.pk not in readable_with(project, [public.pk])[public.pk]


def test_a_layout_is_due_when_a_tenth_is_new_and_not_before(project, monkeypatch):
    now = timezone.now() + timedelta(minutes=1)
    assert not is_due(project, now)
    make_ring(project, 20)
    assert is_due(project, now)
    sent = []
    monkeypatch.setattr(lay_out_graph, "delay", sent.append)
    lay_out_due()
    assert sent == [project.pk]
    lay_out_graph(project.pk)
    assert not is_due(project, now)
    make_ring(project, 2, prefix="few")
    assert not is_due(project, now)
    lay_out_graph(0)


def test_what_ended_loses_its_place_so_that_a_layout_is_due_once(project):
    now = timezone.now() + timedelta(minutes=1)
    nodes = make_ring(project, 20)
    lay_out(project)
    assert not is_due(project, now)
    Node.objects.filter(pk__in=[nodes[0].pk, nodes[1].pk]).update(valid_to=NOON)
    Node.objects.filter(pk=nodes[2].pk).update(trashed_at=NOON)
    assert is_due(project, now)
    assert lay_out(project).placed == 17
    assert kept(project).keys() == {node.pk for node in nodes[3:]}
    assert not is_due(project, now)


def test_as_many_new_nodes_as_old_ones_ended_make_a_layout_due(project):
    now = timezone.now() + timedelta(minutes=1)
    nodes = make_ring(project, 20)
    lay_out(project)
    Node.objects.filter(pk__in=[node.pk for node in nodes[:3]]).update(valid_to=NOON)
    make_ring(project, 3, prefix="new")
    assert is_due(project, now)
    lay_out(project)
    assert not is_due(project, now)


def test_a_node_that_others_may_see_now_is_placed_anew_by_what_they_see(
    project, member
):
    nodes = make_ring(project, 10)
    closed = make_audience(project, "closed", [member])
    ring = make_ring(project, 8, closed, "secret")
    opened = ring[0]
    make_edge(opened, nodes[0], audience=closed)
    lay_out(project)
    NodePosition.objects.filter(node__in=ring).update(x=9000, y=9000)
    public = make_audience(project)
    Node.objects.filter(pk=opened.pk).update(audience=public)
    view = View(user=member, project=project)
    best = picture_of_all(view, limit=18)
    assert len(best.nodes) == 18
    # Its own row says so too: what is kept now is of its readers of now.
    row = NodePosition.objects.get(node=opened)
    assert (row.seen_by, row.version) == (public.pk, 0)
    assert max(abs(row.x), abs(row.y)) < 5000
    lay_out(project)
    row.refresh_from_db()
    assert (row.seen_by, row.version) == (public.pk, 1)
    assert max(abs(row.x), abs(row.y)) < 5000


def test_a_place_goes_with_its_node_and_with_its_project(
    project, django_assert_num_queries
):
    nodes = make_ring(project, 4)
    with django_assert_num_queries(9):
        lay_out(project)
    nodes[0].outgoing.all().delete()
    nodes[0].incoming.all().delete()
    Node.objects.filter(pk=nodes[0].pk).delete()
    assert kept(project).keys() == {node.pk for node in nodes[1:]}
    remove_project(project)
    assert NodePosition.objects.count() == 0
