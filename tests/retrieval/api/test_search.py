from __future__ import annotations

from unittest.mock import patch

import pytest
from django.db import OperationalError

from graph.models import Node
from retrieval.arms.base import Arm, arms
from retrieval.profiles import DEFAULT
from tests.connections.api.callers import SECRET_WORD, session_client, token_client
from tests.factories import make_node

URL = "/api/v1/search/"


def keys(answer) -> list[str]:
    assert answer.status_code == 200, answer.content
    return [result["key"] for result in answer.json()["results"]]


def test_an_answer_has_the_members_that_are_promised(world, member):
    asked = {"project": "acme/main", "query": "launch"}
    body = token_client(member, world.project).post(URL, asked).json()
    assert body.keys() >= {
        "query",
        "parsed",
        "profile",
        "total_results",
        "sources",
        "arms",
        "dropped",
        "took_ms",
        "lambda",
        "results",
    }
    result = body["results"][0]
    assert result["id"] == "graph:slack:C1:1.0"
    assert result["node_id"] == world.first.pk
    assert (result["type"], result["source"]) == ("message", "graph")
    assert result["text"] == "The launch is in May."
    assert result["contributions"]["keyword"]["rank"] == 1


def test_an_empty_query_gives_the_most_recent(world, member):
    client = token_client(member, world.project)
    for asked in ({}, {"query": ""}, {"query": " "}):
        assert set(keys(client.post(URL, asked))) == {
            world.first.key,
            world.second.key,
            world.secret.key,
        }


@pytest.mark.parametrize("query", [SECRET_WORD, f"price of {SECRET_WORD}", ""])
def test_nothing_is_found_that_the_caller_may_not_see(query, world, member, outsider):
    mine = token_client(member, world.project).post(URL, {"query": query})
    theirs = token_client(outsider, world.project).post(URL, {"query": query})
    assert world.secret.key in keys(mine)
    assert world.secret.key not in keys(theirs)
    found = theirs.json()
    assert SECRET_WORD not in str(found["results"])


def test_a_stranger_gets_a_404_for_the_project_and_nothing_of_it(
    world, stranger, other_project
):
    client = token_client(stranger, other_project)
    answer = client.post(URL, {"project": "acme/main", "query": "launch"})
    assert answer.status_code == 404
    assert keys(client.post(URL, {"query": "launch"})) == []


def test_filters_narrow_a_search(world, member):
    client = token_client(member, world.project)

    def found(**filters):
        return set(keys(client.post(URL, {"query": "", "filters": filters})))

    assert found(tags=["launch"]) == {world.first.key}
    assert found(types=["channel"]) == {"slack:C1", "slack:G1"}
    assert found(sources=["mail"]) == set()
    assert found(until="2026-03-02T12:00:00Z") == set()
    assert len(found(since="2026-03-02T12:00:00Z")) == 3


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": 10**30}, "limit"),
        ({"limit": "many"}, "limit"),
        ({"query": "\x00"}, "query"),
        ({"query": ["a"]}, "query"),
        (
            {
                "filters": {
                    "since": "2026-02-02T00:00:00Z",
                    "until": "2026-02-01T00:00:00Z",
                }
            },
            "filters.until",
        ),
        ({"filters": {"kinds": ["x"]}}, "filters.kinds"),
        ({"filters": {"tags": "x"}}, "filters.tags"),
        ({"filters": {"tags": ["\x00"]}}, "filters.tags.0"),
        ({"filters": []}, "filters"),
    ],
)
def test_what_cannot_be_asked_is_a_400_that_names_the_field(
    asked, field, world, member
):
    answer = token_client(member, world.project).post(URL, asked)
    assert answer.status_code == 400, answer.content
    assert list(answer.json()["errors"]) == [field]


@pytest.mark.parametrize(
    ("asked", "known"),
    [
        ({"profile": "fast"}, "default"),
        ({"filters": {"types": ["massage"]}}, "message"),
    ],
)
def test_an_unknown_name_is_an_error_that_lists_the_known(asked, known, world, member):
    answer = token_client(member, world.project).post(URL, asked)
    assert (answer.status_code, answer.json()["code"]) == (400, "unknown_name")
    assert known in answer.json()["detail"]


def test_a_session_searches_too(world, member):
    assert session_client(member).post(URL, {"query": "launch"}).status_code == 200


def test_a_search_costs_the_same_with_more_found(
    world, member, django_assert_max_num_queries
):
    client = token_client(member, world.project)
    client.post(URL, {"query": "launch"})
    for i in range(10):
        make_node(world.project, f"more{i}", f"Another launch, number {i}.")
    with django_assert_max_num_queries(30):
        answer = client.post(URL, {"project": "acme/main", "query": "launch"})
    assert len(keys(answer)) > 5


def test_what_was_inferred_can_be_taken_away(world, member):
    client = token_client(member, world.project)
    asked = {"query": "what was decided about the launch last week"}
    parsed = client.post(URL, asked).json()["parsed"]
    assert parsed["intent"] == "decision"
    assert {"since", "until"} <= parsed["filters"].keys()
    parsed = client.post(URL, {**asked, "ignore": ["time"]}).json()["parsed"]
    assert "since" not in parsed["filters"]


@pytest.mark.parametrize(
    ("query", "said"),
    [("type:nonsense launch", "nonsense"), ("before:never launch", "never")],
)
def test_an_operator_that_means_nothing_is_refused_with_what_it_may_be(
    world, member, query, said
):
    answer = token_client(member, world.project).post(URL, {"query": query})
    assert answer.status_code == 400
    assert said in answer.json()["detail"]


def test_without_the_graph_there_is_no_answer(world, member):
    def broken(ask, plan):
        raise OperationalError("gone")

    client = token_client(member, world.project)
    with patch.dict(arms, dict.fromkeys(DEFAULT.arms, Arm(broken))):
        answer = client.post(URL, {"query": "launch"})
    assert answer.status_code == 503
    problem = answer.json()
    assert (problem["code"], problem["detail"]) == (
        "graph_unavailable",
        "graph is required",
    )


def test_an_arm_that_fails_is_named_and_the_answer_comes(world, member):
    def broken(ask, plan):
        raise OperationalError("gone")

    client = token_client(member, world.project)
    with patch.dict(arms, vector=Arm(broken)):
        body = client.post(URL, {"query": "launch"}).json()
    assert body["dropped"] == ["vector: failed: OperationalError"]
    assert body["results"]
    assert "vector" not in body["arms"]


@pytest.mark.parametrize(
    "query",
    [
        "x" * 10_000,
        "the " * 2_500,
        "the of and",
        "?!.,;:",
        "🎉🎉",
        "'; DROP TABLE graph_nodes; --",
        "1 OR 1=1",
        "&|!():*<->",
    ],
)
@pytest.mark.parametrize(
    "profile", ["default", "fabric", "engram", "athena", "memory-fabric"]
)
def test_odd_queries_are_answered_by_every_profile(world, member, query, profile):
    client = token_client(member, world.project)
    answer = client.post(URL, {"query": query, "profile": profile})
    assert answer.status_code == 200, answer.content
    assert Node.objects.of(world.project).exists()


@pytest.mark.parametrize(
    "asked",
    [
        {"query": "x" * 10_001},
        {"query": "a\x00b"},
        {"limit": 0},
        {"limit": 10**9},
        {"limit": -1},
        {"profile": "nonsense"},
        {"filters": {"nonsense": ["x"]}},
        {"filters": {"types": ["nonsense"]}},
        {"filters": {"since": "never"}},
        {"ignore": "time"},
    ],
)
def test_what_cannot_be_asked_is_a_clear_refusal(world, member, asked):
    answer = token_client(member, world.project).post(URL, {"query": "launch", **asked})
    assert answer.status_code == 400
    assert answer.json()["detail"]
