from __future__ import annotations

from django.utils import timezone

from graph.models import Node
from tests.connections.api.callers import session_client, token_client
from tests.factories import make_member, make_project

URL = "/api/v1/graph/statistics/"


def test_the_counts_are_of_what_the_caller_may_see(world, member, outsider):
    mine = token_client(member, world.project).get(URL, {"project": "acme/main"}).json()
    theirs = token_client(outsider, world.project).get(URL).json()
    assert mine == {
        "project": "acme/main",
        "nodes": 5,
        "edges": 3,
        "records": 5,
        "nodes_by_type": {"message": 3, "channel": 2},
        "nodes_by_source": {"slack": 5},
        "edges_by_relation": {"posted_in": 2, "mentions": 1},
        "first_at": "2026-03-02T12:00:00Z",
        "last_at": "2026-03-02T12:00:00Z",
    }
    assert (theirs["nodes"], theirs["edges"], theirs["records"]) == (3, 1, 3)


def test_an_empty_project_counts_nothing(other_project, stranger):
    body = token_client(stranger, other_project).get(URL).json()
    assert (body["nodes"], body["nodes_by_type"], body["last_at"]) == (0, {}, None)


def test_a_stranger_gets_a_404(world, stranger, other_project):
    client = token_client(stranger, other_project)
    assert client.get(URL, {"project": "acme/main"}).status_code == 404


def test_of_several_projects_one_must_be_named(world, member):
    make_member(make_project("acme/second"), member.email)
    answer = session_client(member).get(URL)
    assert answer.status_code == 400
    assert "projects/" in answer.json()["errors"]["project"][0]


def test_what_was_pruned_is_not_counted(world, member):
    Node.objects.filter(pk=world.first.pk).update(trashed_at=timezone.now())
    body = token_client(member, world.project).get(URL).json()
    assert (body["nodes"], body["edges"]) == (4, 2)


def test_the_counts_cost_a_bounded_number_of_queries(
    world, member, django_assert_max_num_queries
):
    client = token_client(member, world.project)
    client.get(URL)
    with django_assert_max_num_queries(10):
        client.get(URL, {"project": "acme/main"})
