"""Every search is audited with what was seen of it, by a row that the chain holds."""

from __future__ import annotations

import json
import statistics
import time
from itertools import pairwise

import pytest
from django.core.management import call_command
from django.db import connection, transaction

from connections.audit import seal_all
from connections.audit_checking import verify
from connections.audit_export import exported, readable_by
from connections.audit_retention import erase_due
from connections.models import ApiToken, Audit, Role
from retrieval.auditing import NODES_MOST, note_search
from tests.connections.api.callers import make_world, session_client, token_client
from tests.factories import make_member

pytestmark = pytest.mark.django_db
SEARCH = "/api/v1/search/"


@pytest.fixture
def world(project, member):
    return make_world(project, member)


def rows():
    return list(Audit.objects.filter(verb="search.made").order_by("pk"))


def test_a_search_by_the_api_says_who_asked_what_and_saw_which_nodes(
    world, member, outsider, stranger
):
    body = {"project": "acme/main", "query": "launch price zanzibar"}
    client = token_client(member, world.project)
    seen = client.post(SEARCH, body, format="json").json()["results"]
    (row,) = rows()
    assert (row.actor, row.project, row.target) == (member, world.project, "api")
    assert row.token_id == ApiToken.objects.get().pk
    detail = row.detail.detail
    assert detail["query"] == "launch price zanzibar"
    assert detail["nodes"] == [result["node_id"] for result in seen]
    assert detail["found"] == len(seen) >= 2
    assert world.secret.pk in detail["nodes"]
    session_client(outsider).post(SEARCH, body, format="json")
    row = rows()[1]
    assert (row.actor, row.token_id) == (outsider, None)
    assert world.secret.pk not in row.detail.detail["nodes"]
    assert session_client(stranger).post(SEARCH, body, format="json").status_code == 404
    assert len(rows()) == 2


def test_pages_the_command_and_memory_are_audited_too(world, member, client, capsys):
    client.force_login(member)
    client.get("/search/?project=acme/main&q=launch")
    client.get("/memory/graph/?project=acme/main&query=launch")
    client.get("/memory/graph/?project=acme/main")
    client.get("/api/v1/memory/graph/?project=acme/main&query=launch")
    call_command("search", "launch", project="acme/main", json=True)
    told = [(row.target, row.actor_id) for row in rows()]
    assert told == [
        ("page", member.pk),
        ("memory", member.pk),
        ("memory", member.pk),
        ("command", None),
    ]
    page = rows()[0].detail.detail
    assert page["nodes"]
    assert page["query"] == "launch"
    assert json.loads(capsys.readouterr().out)["query"] == "launch"


def test_what_is_refused_is_no_search(world, member):
    client = session_client(member)
    body = {"project": "acme/main", "query": "x", "profile": "none"}
    assert client.post(SEARCH, body, format="json").status_code == 400
    assert rows() == []


def test_the_chain_the_export_and_the_retention_hold_searches(world, member, settings):
    admin = make_member(world.project, "admin@acme.test", Role.ADMIN)
    note_search(
        world.project, member, 'a "quoted" \0 1e400', range(900), through="api", found=3
    )
    seal_all()
    assert verify(world.project.tenant).is_whole
    (row,) = rows()
    assert (row.position, len(row.detail.detail["nodes"])) == (1, NODES_MOST)
    from_start = readable_by(admin, since=row.at, until=row.at.replace(year=2999))
    lines = [json.loads(line) for line in exported(from_start, by=admin)]
    told = next(line for line in lines if line["verb"] == "search.made")
    assert told["detail"]["query"] == 'a "quoted" \N{REPLACEMENT CHARACTER} 1e400'
    assert erase_due(row.at.replace(year=2999), days=1) >= 1
    found = verify(world.project.tenant)
    assert (found.is_whole, found.erased >= 1) == (True, True)


@pytest.mark.django_db(transaction=True)
def test_a_note_is_one_statement_that_does_not_wait_for_the_disk(
    project, member, django_assert_num_queries
):
    def note():
        note_search(project, member, "launch", [1, 2], through="api", found=2)

    with django_assert_num_queries(1):
        note()
    with connection.cursor() as cursor:
        cursor.execute(
            "SET synchronous_commit = on"
        )  # the tests' server waits for none
        note()
        cursor.execute("SHOW synchronous_commit")
        assert cursor.fetchone() == ("on",)
        with transaction.atomic():
            note()
            # What else is committed with it waits as it did.
            cursor.execute("SHOW synchronous_commit")
            assert cursor.fetchone() == ("on",)
        cursor.execute("RESET synchronous_commit")
    moments = [time.perf_counter()]
    for _ in range(200):
        note()
        moments.append(time.perf_counter())
    median = statistics.median(b - a for a, b in pairwise(moments)) * 1000
    print(f"\na search is noted in {median:.2f} ms")  # noqa: T201 - the figure
    assert median < 5
