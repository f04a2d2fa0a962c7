from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from graph.models import Edge
from tests.connections.api.callers import session_client, token_client
from tests.factories import make_edge, make_member, make_node

URL = "/api/v1/graph/edges/"


def triples(answer) -> set[tuple[str, str, str]]:
    assert answer.status_code == 200, answer.content
    return {
        (row["source"]["key"], row["relation"], row["target"]["key"])
        for row in answer.json()["results"]
    }


POSTED = ("slack:C1:1.0", "posted_in", "slack:C1")
SECRET_POSTED = ("slack:G1:3.0", "posted_in", "slack:G1")
SECRET_MENTION = ("slack:G1:3.0", "mentions", "slack:C1:2.0")


def test_a_list_holds_what_the_caller_may_see(world, member, outsider, stranger):
    everything = {POSTED, SECRET_POSTED, SECRET_MENTION}
    assert triples(session_client(member).get(URL)) == everything
    assert triples(session_client(outsider).get(URL)) == {POSTED}
    assert triples(session_client(stranger).get(URL)) == set()


def test_an_edge_needs_both_its_ends_to_be_seen(world, outsider):
    make_edge(world.first, world.secret, audience=world.first.audience)
    assert triples(session_client(outsider).get(URL)) == {POSTED}


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"source": "slack:G1:3.0"}, {SECRET_POSTED, SECRET_MENTION}),
        ({"target": "slack:C1:2.0"}, {SECRET_MENTION}),
        ({"source": "slack:G1:3.0", "target": "slack:G1"}, {SECRET_POSTED}),
        ({"relation": "posted_in", "project": "acme/main"}, {POSTED, SECRET_POSTED}),
        ({"relation": "follows"}, set()),
    ],
)
def test_a_list_is_narrowed_by_ends_and_relation(asked, found, world, member):
    assert triples(token_client(member, world.project).get(URL, asked)) == found


def test_an_end_is_named_by_its_id_too(world, member):
    client = token_client(member, world.project)
    assert triples(client.get(URL, {"source": world.first.pk})) == {POSTED}


def test_an_id_goes_before_a_key_of_the_same_digits(world, member):
    named = make_node(world.project, str(world.first.pk))
    make_edge(named, world.second)
    client = token_client(member, world.project)
    assert triples(client.get(URL, {"source": world.first.pk})) == {POSTED}


def test_an_end_that_may_not_be_seen_is_a_404(world, outsider, stranger, other_project):
    client = token_client(outsider, world.project)
    for name in (world.secret.key, world.secret.pk, "nothing", "9" * 30):
        assert client.get(URL, {"source": name}).status_code == 404
    client = token_client(stranger, other_project)
    assert client.get(URL, {"target": world.first.pk}).status_code == 404


def test_a_key_of_two_projects_asks_for_the_project(world, member, other_project):
    make_member(other_project, member.email)
    make_node(other_project, world.first.key)
    client = session_client(member)
    answer = client.get(URL, {"source": world.first.key})
    assert answer.status_code == 400
    assert list(answer.json()["errors"]) == ["project"]
    asked = {"source": world.first.key, "project": "acme/main"}
    assert triples(client.get(URL, asked)) == {POSTED}


def test_an_unknown_relation_is_an_error_that_lists_the_known(world, member):
    answer = token_client(member, world.project).get(URL, {"relation": "nope"})
    assert (answer.status_code, answer.json()["code"]) == (400, "unknown_name")
    assert "posted_in" in answer.json()["detail"]


def test_an_ended_edge_is_found_as_of_then_only(world, member):
    Edge.objects.filter(pk=world.posted.pk).update(
        valid_to=timezone.now() - timedelta(days=1)
    )
    client = token_client(member, world.project)
    asked = {"source": world.first.key}
    then = (timezone.now() - timedelta(days=2)).isoformat()
    assert triples(client.get(URL, asked)) == set()
    assert triples(client.get(URL, {**asked, "as_of": then})) == {POSTED}


def test_an_edge_and_its_evidence_are_read_alone(world, member, outsider):
    client = token_client(member, world.project)
    assert client.get(f"{URL}{world.posted.pk}/").json()["relation"] == "posted_in"
    (found,) = client.get(f"{URL}{world.posted.pk}/provenance/").json()["results"]
    assert found["record"]["key"] == "slack:C1:1.0"
    client = token_client(outsider, world.project)
    for address in ("", "provenance/"):
        answer = client.get(f"{URL}{world.secret_mention.pk}/{address}")
        assert answer.status_code == 404


def test_a_list_costs_the_same_with_more_edges(
    world, member, django_assert_max_num_queries
):
    for i in range(10):
        make_edge(world.first, make_node(world.project, f"more{i}"))
    client = token_client(member, world.project)
    client.get(URL)
    # the token, the audiences (for the end, for the edges), the end, the edges
    with django_assert_max_num_queries(5):
        rows = client.get(URL, {"source": world.first.key}).json()["results"]
    assert len(rows) == 11
