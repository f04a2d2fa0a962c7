from __future__ import annotations

import pytest

from tests.connections.api.callers import token_client
from tests.factories import make_edge

URL = "/api/v1/graph/paths/"


def test_a_path_names_its_relations_and_their_direction(world, member):
    make_edge(world.second, world.channel, "posted_in")
    client = token_client(member, world.project)
    body = client.get(URL, {"from": world.first.key, "to": world.secret.pk}).json()
    assert (body["length"], body["is_complete"]) == (3, True)
    (path,) = body["paths"]
    assert [node["key"] for node in path["nodes"]] == [
        world.first.key,
        world.channel.key,
        world.second.key,
        world.secret.key,
    ]
    assert [(step["relation"], step["forward"]) for step in path["edges"]] == [
        ("posted_in", True),
        ("posted_in", False),
        ("mentions", False),
    ]
    assert [step["from"] for step in path["edges"]] == [
        node["id"] for node in path["nodes"][:-1]
    ]


def test_no_path_leads_through_what_the_caller_may_not_see(world, member, outsider):
    make_edge(world.secret, world.first)
    asked = {"from": world.first.key, "to": world.second.key}
    mine = token_client(member, world.project).get(URL, asked).json()
    theirs = token_client(outsider, world.project).get(URL, asked).json()
    assert mine["length"] == 2
    assert (theirs["length"], theirs["paths"]) == (None, [])


def test_an_end_that_may_not_be_seen_is_a_404(world, outsider, stranger, other_project):
    for user, project, end in (
        (outsider, world.project, world.secret),
        (stranger, other_project, world.first),
    ):
        client = token_client(user, project)
        for asked in (
            {"from": end.pk, "to": world.second.pk},
            {"from": world.second.pk, "to": end.key},
        ):
            assert client.get(URL, asked).status_code == 404


def test_the_depth_bounds_a_path(world, member):
    asked = {"from": world.second.key, "to": world.private_channel.key}
    client = token_client(member, world.project)
    assert client.get(URL, {**asked, "max_depth": 1}).json()["paths"] == []
    assert len(client.get(URL, {**asked, "max_depth": 2}).json()["paths"]) == 1


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"from": "a"},
        {"from": "a", "to": "b", "max_depth": 99},
        {"from": "a", "to": "b", "max_depth": 0},
        {"from": "\x00", "to": "b"},
    ],
)
def test_what_cannot_be_asked_is_a_400(asked, world, member):
    assert token_client(member, world.project).get(URL, asked).status_code == 400


def test_paths_cost_a_bounded_number_of_queries(
    world, member, django_assert_max_num_queries
):
    client = token_client(member, world.project)
    client.get("/api/v1/projects/")
    # the token; the audiences, of the ends, of the walk, of the edges; the ends; four
    # steps; nodes and edges
    with django_assert_max_num_queries(13):
        client.get(URL, {"from": world.first.key, "to": world.secret.key})
