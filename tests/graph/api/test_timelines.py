from __future__ import annotations

from datetime import timedelta

import pytest

from graph.models import Edge, Evidence
from tests.connections.api.callers import SECRET_WORD, token_client
from tests.factories import NOON, make_edge, make_node, make_record

URL = "/api/v1/graph/nodes/"


def moments(client, node, **asked):
    answer = client.get(f"{URL}{node.pk}/timeline/", asked)
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_a_channel_has_its_posts_with_relation_and_direction(world, member):
    body = moments(token_client(member, world.project), world.channel)
    assert body["next_cursor"] is None
    (post,) = body["results"]
    assert (post["kind"], post["relation"], post["forward"]) == (
        "item",
        "posted_in",
        False,
    )
    assert (post["at"], post["edge"]) == ("2026-03-02T12:00:00Z", world.posted.pk)
    assert post["node"] == {
        "id": world.first.pk,
        "key": world.first.key,
        "type": "message",
        "title": "Launch",
        "text": "The launch is in May.",
    }


def test_evidence_names_its_record(world, member):
    record = make_record(world.project, "again", occurred_at=NOON + timedelta(days=1))
    Evidence.objects.create(
        tenant_id=world.project.tenant_id,
        project=world.project,
        record=record,
        node=world.first,
        quote="in May",
    )
    client = token_client(member, world.project)
    rows = moments(client, world.first)["results"]
    assert [row["kind"] for row in rows] == ["said", "evidence"]
    assert (rows[1]["edge"], rows[1]["evidence"]["quote"]) == (None, "in May")
    assert rows[1]["evidence"]["record"]["key"] == "again"


def test_nothing_of_it_is_what_the_caller_may_not_see(world, member, outsider):
    mine = moments(token_client(member, world.project), world.second)
    theirs = moments(token_client(outsider, world.project), world.second)
    assert [row["kind"] for row in mine["results"]] == ["item", "said"]
    assert [row["kind"] for row in theirs["results"]] == ["said"]
    assert SECRET_WORD not in str(theirs)


@pytest.mark.parametrize("order", ["oldest", "newest"])
def test_pages_hold_every_moment_once(order, world, member):
    for number in range(5):
        said = NOON + timedelta(hours=number)
        post = make_node(world.project, f"post{number}", occurred_at=said)
        make_edge(post, world.channel, "posted_in")
    client, seen, cursor = token_client(member, world.project), [], ""
    while cursor is not None:
        body = moments(client, world.channel, limit=2, order=order, cursor=cursor)
        seen += [row["at"] for row in body["results"]]
        cursor = body["next_cursor"]
    assert len(seen) == 6
    assert seen == sorted(seen, reverse=order == "newest")


def test_as_of_a_day_there_is_nothing_later(world, member):
    late = make_node(world.project, "late", occurred_at=NOON + timedelta(days=9))
    make_edge(late, world.channel, "posted_in")
    client = token_client(member, world.project)
    assert len(moments(client, world.channel)["results"]) == 2
    then = moments(client, world.channel, as_of="2026-03-03T00:00:00Z")["results"]
    assert [row["node"]["key"] for row in then] == [world.first.key]
    Edge.objects.filter(pk=world.posted.pk).update(valid_from=NOON + timedelta(days=8))
    assert moments(client, world.channel, as_of="2026-03-03T00:00:00Z")["results"] == []


def test_it_keeps_to_the_relations_asked_for(world, member):
    client = token_client(member, world.project)
    rows = moments(client, world.secret, relation="mentions")["results"]
    assert [row["relation"] for row in rows] == ["mentions"]


@pytest.mark.parametrize(
    "asked",
    [
        {"order": "random"},
        {"as_of": "x"},
        {"relation": "nope"},
        {"limit": 0},
        {"limit": 10**9},
        {"cursor": "x"},
        {"cursor": "bnVsbA"},
        {"since": "2026-01-01"},
    ],
)
def test_what_cannot_be_asked_is_a_400(asked, world, member):
    client = token_client(member, world.project)
    assert client.get(f"{URL}{world.first.pk}/timeline/", asked).status_code == 400


@pytest.mark.parametrize("pk", ["0", "999999999", "9" * 30])
def test_a_node_that_is_not_there_is_a_404(pk, world, member):
    client = token_client(member, world.project)
    assert client.get(f"{URL}{pk}/timeline/").status_code == 404


def test_a_timeline_costs_the_same_with_more_moments(
    world, member, django_assert_max_num_queries
):
    for number in range(10):
        post = make_node(world.project, f"post{number}", occurred_at=NOON)
        make_edge(post, world.channel, "posted_in")
    client = token_client(member, world.project)
    client.get(URL)
    # the token; the audiences twice; the node; the moments; what they are about
    with django_assert_max_num_queries(6):
        moments(client, world.channel)
