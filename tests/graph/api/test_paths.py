from __future__ import annotations

import pytest

from graph.models import Edge, Node
from tests.connections.api.callers import token_client
from tests.factories import NOON, make_edge, make_node

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
    assert path["text"] == (
        "Launch -posted_in-> #general <-posted_in- slack:C1:2.0 "
        "<-mentions- Price of zanzibar"
    )
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
        {"from": "a", "to": "b", "kind": "longest"},
        {"from": "a", "to": "b", "as_of": "x"},
        {"from": "a", "to": "b", "fan_out": 0},
        {"from": "a", "to": "b", "fan_out": 10**9},
    ],
)
def test_what_cannot_be_asked_is_a_400(asked, world, member):
    assert token_client(member, world.project).get(URL, asked).status_code == 400


@pytest.mark.parametrize("end", ["nowhere", "999999999", "9" * 30])
def test_a_node_that_is_not_there_is_a_404(end, world, member):
    client = token_client(member, world.project)
    for asked in (
        {"from": end, "to": world.first.key},
        {"from": world.first.key, "to": end},
    ):
        assert client.get(URL, asked).status_code == 404


def test_the_best_paths_go_around_a_hub(world, member):
    make_edge(world.second, world.channel, "posted_in")
    for number in range(60):
        post = make_node(world.project, f"post{number}")
        make_edge(post, world.channel, "posted_in")
    topic = make_node(world.project, "topic")
    for node in (world.first, world.second):
        make_edge(node, topic, weight=9)
    client = token_client(member, world.project)
    asked = {"from": world.first.key, "to": world.second.key}
    body = client.get(URL, {**asked, "kind": "best"}).json()
    assert body["kind"] == "best"
    middles = [path["nodes"][1]["key"] for path in body["paths"]]
    assert middles == ["topic", world.channel.key]
    assert body["paths"][0]["cost"] < body["paths"][1]["cost"]
    short = client.get(URL, asked).json()
    assert {path["cost"] for path in short["paths"]} == {2.0}


def test_what_was_cut_is_told(world, member):
    for number in range(4):
        post = make_node(world.project, f"post{number}")
        make_edge(post, world.channel, "posted_in")
    client = token_client(member, world.project)
    asked = {"from": world.channel.key, "to": world.second.key, "fan_out": 2}
    body = client.get(URL, asked).json()
    assert body["cut"] == [
        {
            "node": world.channel.pk,
            "direction": "in",
            "shown": 2,
            "total": 5,
            "is_exact": True,
        }
    ]
    assert not body["is_complete"]


def test_a_path_is_one_of_its_time(world, member):
    Edge.objects.filter(pk=world.posted.pk).update(valid_to=NOON)
    client = token_client(member, world.project)
    asked = {"from": world.first.key, "to": world.channel.key}
    assert client.get(URL, asked).json()["paths"] == []
    then = {**asked, "as_of": "2026-03-01T00:00:00Z"}
    for kind in ("shortest", "best"):
        assert len(client.get(URL, {**then, "kind": kind}).json()["paths"]) == 1
    Node.objects.filter(pk=world.channel.pk).update(valid_from=NOON)
    assert client.get(URL, then).json()["paths"] == []


def test_paths_cost_a_bounded_number_of_queries(
    world, member, django_assert_max_num_queries
):
    client = token_client(member, world.project)
    client.get("/api/v1/projects/")
    # the token; the audiences, of the ends, of the walk, of its nodes; the ends; four
    # steps; what was cut; nodes
    with django_assert_max_num_queries(13):
        client.get(URL, {"from": world.first.key, "to": world.secret.key})


def test_paths_are_explained_both_ways_and_what_was_cut_is_said(world, member):
    for n in range(3):
        make_edge(make_node(world.project, f"slack:C1:9{n}.0"), world.channel)
    client = token_client(member, world.project)
    asked = {"from": world.first.key, "to": world.channel.key, "fan_out": 1}
    body = client.get(URL, {**asked, "kind": "best", "learned": True}).json()
    assert body["summary"].startswith("\u201cLaunch\u201d and #general are connected")
    (path, *_) = body["paths"]
    assert path["explanation"] == "\u201cLaunch\u201d was posted in #general."
    assert path["explanation_back"] == "#general holds \u201cLaunch\u201d."
    assert len(body["left_out"]) == len(body["cut"]) > 0
    assert "strongest of" in body["left_out"][0]
