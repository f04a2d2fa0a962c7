from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from connections.models import SyncRun
from connections.records import clean_key
from graph.models import Evidence, Node, Record
from tests.connections.api.callers import SECRET_WORD, session_client, token_client
from tests.factories import NOON, make_edge, make_node, make_record, make_source

URL = "/api/v1/graph/nodes/"


def keys(answer) -> set[str]:
    assert answer.status_code == 200, answer.content
    return {row["key"] for row in answer.json()["results"]}


def test_a_node_is_shown_with_what_its_source_said(world, member):
    Record.objects.filter(pk=world.first.record_id).update(
        permalink="https://acme.slack.com/archives/C1/p1"
    )
    body = token_client(member, world.project).get(f"{URL}{world.first.pk}/").json()
    assert body["key"] == "slack:C1:1.0"
    assert body["project"] == "acme/main"
    assert (body["type"], body["icon"]) == ("message", "chat")
    assert body["content"] == "The launch is in May."
    assert body["url"] == "https://acme.slack.com/archives/C1/p1"
    assert body["tags"] == ["launch"]
    assert body["occurred_at"] == "2026-03-02T12:00:00Z"
    assert "embedding" not in body


def test_a_list_holds_what_the_caller_may_see(world, member, outsider, stranger):
    assert (
        keys(session_client(member).get(URL)) == world.public_keys | world.secret_keys
    )
    assert keys(session_client(outsider).get(URL)) == world.public_keys
    assert keys(session_client(stranger).get(URL)) == set()


def test_a_node_that_may_not_be_seen_is_a_404(world, outsider, stranger, other_project):
    for user, project, node in (
        (outsider, world.project, world.secret),
        (stranger, other_project, world.first),
    ):
        for address in ("", "neighbours/", "provenance/", "timeline/"):
            answer = token_client(user, project).get(f"{URL}{node.pk}/{address}")
            assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


@pytest.mark.parametrize("pk", ["0", "999999999", "9" * 30])
def test_a_node_that_is_not_there_is_a_404(pk, world, member):
    assert token_client(member, world.project).get(f"{URL}{pk}/").status_code == 404


def test_another_project_is_a_404_to_who_is_not_in_it(world, stranger, other_project):
    client = token_client(stranger, other_project)
    for path in ("acme/main", "acme/none", "no", "a/b/c"):
        assert client.get(URL, {"project": path}).status_code == 404


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"project": "acme/main", "type": "channel"}, {"slack:C1", "slack:G1"}),
        ({"key": "slack:C1:2.0"}, {"slack:C1:2.0"}),
        ({"tag": "launch"}, {"slack:C1:1.0"}),
        ({"tag": "none"}, set()),
        ({"q": "launching"}, {"slack:C1:1.0"}),
        ({"q": "gener"}, {"slack:C1"}),
        ({"q": "%"}, set()),
        (
            {"project": "", "type": "", "key": "slack:C1", "tag": "", "q": ""},
            {"slack:C1"},
        ),
    ],
)
def test_a_list_is_narrowed_by_what_is_asked(asked, found, world, member):
    assert keys(token_client(member, world.project).get(URL, asked)) == found


def test_words_find_nothing_the_caller_may_not_see(world, member, outsider):
    assert keys(session_client(member).get(URL, {"q": SECRET_WORD})) == {
        world.secret.key
    }
    assert keys(session_client(outsider).get(URL, {"q": SECRET_WORD})) == set()
    assert keys(session_client(outsider).get(URL, {"tag": "price"})) == set()
    assert keys(session_client(outsider).get(URL, {"key": world.secret.key})) == set()


def test_an_unknown_type_is_an_error_that_lists_the_known(world, member):
    answer = token_client(member, world.project).get(URL, {"type": "massage"})
    assert (answer.status_code, answer.json()["code"]) == (400, "unknown_name")
    assert "message" in answer.json()["detail"]


@pytest.mark.parametrize(
    "asked",
    [
        {"key": "a\x00"},
        {"q": "\x00"},
        {"tag": "x" * 501},
        {"as_of": "soon"},
        {"project": "acme/\x00"},
    ],
)
def test_what_cannot_be_asked_is_a_400(asked, world, member):
    client = token_client(member, world.project)
    assert client.get(URL, asked).status_code == 400


def test_bytes_that_are_no_utf8_find_nothing(world, member):
    client = token_client(member, world.project)
    assert keys(client.get(f"{URL}?key=%ED%A0%80")) == set()


def test_a_key_too_long_to_be_stored_is_found_as_it_is_stored(world, member):
    key = "file:" + "x" * 700
    make_node(world.project, clean_key(key), node_type="file")
    found = keys(token_client(member, world.project).get(URL, {"key": key}))
    assert found == {clean_key(key)}


def test_what_was_pruned_is_in_no_list(world, member):
    Node.objects.filter(pk=world.first.pk).update(trashed_at=timezone.now())
    client = token_client(member, world.project)
    assert world.first.key not in keys(client.get(URL))
    assert client.get(f"{URL}{world.first.pk}/").status_code == 404


def test_as_of_keeps_what_was_valid_then(world, member):
    ended = NOON + timedelta(days=1)
    Node.objects.filter(pk=world.first.pk).update(valid_to=ended)
    client = token_client(member, world.project)
    before = keys(client.get(URL, {"as_of": "2026-03-02T13:00:00Z"}))
    after = keys(client.get(URL, {"as_of": "2026-03-04T13:00:00Z"}))
    assert before - after == {world.first.key}


def test_pages_hold_every_node_once(world, member):
    client, seen, cursor = token_client(member, world.project), [], ""
    while cursor is not None:
        page = client.get(URL, {"limit": 2, "cursor": cursor}).json()
        seen += [row["key"] for row in page["results"]]
        cursor = page["next_cursor"]
    assert sorted(seen) == sorted(world.public_keys | world.secret_keys)


def test_a_list_costs_the_same_with_more_nodes(
    world, member, django_assert_max_num_queries
):
    for i in range(10):
        make_node(world.project, f"more{i}")
    client = token_client(member, world.project)
    client.get(URL)
    # the token, the project, the audiences, the nodes
    with django_assert_max_num_queries(4):
        client.get(URL, {"project": "acme/main"})


# --- neighbours -----------------------------------------------------------------------


def around(client, node, **asked):
    answer = client.get(f"{URL}{node.pk}/neighbours/", asked)
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_neighbours_come_nearest_first_with_the_edges_among_them(world, member):
    body = around(token_client(member, world.project), world.second, depth=2)
    assert body["node"]["key"] == world.second.key
    assert [(n["key"], n["distance"]) for n in body["nodes"]] == [
        (world.secret.key, 1),
        (world.private_channel.key, 2),
    ]
    assert {(e["source"], e["relation"], e["target"]) for e in body["edges"]} == {
        (world.secret.pk, "mentions", world.second.pk),
        (world.secret.pk, "posted_in", world.private_channel.pk),
    }
    assert body["is_complete"]


def test_no_neighbour_is_one_the_caller_may_not_see(world, outsider):
    body = around(token_client(outsider, world.project), world.second, depth=3)
    assert (body["nodes"], body["edges"]) == ([], [])


def test_neighbours_keep_to_the_relations_asked_for(world, member):
    client = token_client(member, world.project)
    body = around(client, world.secret, relation="posted_in")
    assert [n["key"] for n in body["nodes"]] == [world.private_channel.key]
    answer = client.get(
        f"{URL}{world.secret.pk}/neighbours/?relation=posted_in&relation=mentions"
    )
    assert len(answer.json()["nodes"]) == 2
    assert len(around(client, world.secret, relation="")["nodes"]) == 2


def test_neighbours_beyond_the_limit_are_told_of(world, member):
    body = around(token_client(member, world.project), world.secret, limit=1)
    assert len(body["nodes"]) == 1
    assert not body["is_complete"]


def test_neighbours_beyond_the_fan_out_are_told_of(world, member):
    for number in range(3):
        make_edge(world.first, make_node(world.project, f"more{number}"))
    client = token_client(member, world.project)
    body = around(client, world.first, fan_out=2)
    assert len(body["nodes"]) == 2
    (cut,) = body["cut"]
    assert (cut["direction"], cut["shown"], cut["total"]) == ("out", 2, 4)
    assert not body["is_complete"]
    assert around(client, world.first)["cut"] == []


@pytest.mark.parametrize(
    "asked",
    [
        {"depth": 0},
        {"depth": 99},
        {"limit": 0},
        {"limit": 201},
        {"fan_out": 0},
        {"fan_out": 501},
        {"relation": "nope"},
        {"as_of": "x"},
        {"cursor": "x"},
    ],
)
def test_neighbours_out_of_bounds_are_a_400(asked, world, member):
    client = token_client(member, world.project)
    assert client.get(f"{URL}{world.first.pk}/neighbours/", asked).status_code == 400


def test_neighbours_cost_a_bounded_number_of_queries(
    world, member, django_assert_max_num_queries
):
    for i in range(10):
        make_edge(world.first, make_node(world.project, f"more{i}"))
    client = token_client(member, world.project)
    client.get(URL)
    with django_assert_max_num_queries(10):
        around(client, world.first, depth=3)


# --- provenance -----------------------------------------------------------------------


def test_provenance_names_the_record_its_source_and_the_words(world, member):
    source = make_source(world.project)
    run = SyncRun.objects.create(source=source)
    Record.objects.filter(pk=world.first.record_id).update(
        run=run, raw_sha256="a" * 64, permalink="https://acme.slack.com/x"
    )
    Evidence.objects.filter(node=world.first).update(start=4, end=10, quote="launch")
    client = token_client(member, world.project)
    (found,) = client.get(f"{URL}{world.first.pk}/provenance/").json()["results"]
    assert (found["kind"], found["quote"]) == ("said", "launch")
    assert (found["start"], found["end"]) == (4, 10)
    record = found["record"]
    assert record["key"] == "slack:C1:1.0"
    assert record["raw_sha256"] == "a" * 64
    assert record["permalink"] == "https://acme.slack.com/x"
    assert record["source"] == {
        "id": source.pk,
        "kind": "slack",
        "name": "slack-export",
    }
    assert record["run"]["id"] == run.pk


def test_evidence_whose_record_may_not_be_seen_is_left_out(world, member, outsider):
    hidden = make_record(
        world.project, "slack:G1:9.0", audience=world.secret.audience, body="hush"
    )
    Evidence.objects.create(
        tenant_id=world.project.tenant_id,
        project=world.project,
        record=hidden,
        node=world.first,
        quote=SECRET_WORD,
    )
    url = f"{URL}{world.first.pk}/provenance/"
    assert len(token_client(member, world.project).get(url).json()["results"]) == 2
    answer = token_client(outsider, world.project).get(url)
    assert len(answer.json()["results"]) == 1
    assert SECRET_WORD not in answer.content.decode()
    assert "G1" not in answer.content.decode()


def test_provenance_costs_the_same_with_more_evidence(
    world, member, django_assert_max_num_queries
):
    for i in range(10):
        Evidence.objects.create(
            tenant_id=world.project.tenant_id,
            project=world.project,
            node=world.first,
            record=make_record(world.project, f"r{i}"),
        )
    client = token_client(member, world.project)
    client.get(URL)
    # the token, the audiences twice (for the node, for its records), node, evidence
    with django_assert_max_num_queries(5):
        rows = client.get(f"{URL}{world.first.pk}/provenance/").json()["results"]
    assert len(rows) == 11
