"""Who may see what changed: closing, opening, coming back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from connections.models import Audience
from connections.records import AudienceDraft
from graph.models import Edge, Node
from tests.factories import (
    draft_account,
    draft_channel,
    draft_message,
    make_source,
    take_in,
)
from tests.graph.corpora import ANN, BOB, draft_mail

pytestmark = pytest.mark.django_db
PRIVATE = AudienceDraft("members", "slack:C1", ("member@acme.test",), "#C1")


def everything(project):
    """Keys of nodes, names of edges and records with the audience each is for."""
    kinds = {a.pk: a.key or a.kind for a in Audience.objects.filter(project=project)}
    nodes = {n.key: kinds[n.audience_id] for n in Node.objects.of(project)}
    edges = {
        (e.source.key, e.relation, e.target.key): kinds[e.audience_id]
        for e in Edge.objects.of(project).live().select_related("source", "target")
    }
    return nodes, edges


def test_a_channel_that_becomes_private_closes_all_it_holds(project):
    messages = [draft_message(f"{n}.000001", thread_ts="1.000001") for n in (1, 2, 3)]
    take_in(project, draft_account(), draft_channel(), *messages)
    nodes, edges = everything(project)
    assert {*nodes.values(), *edges.values()} == {"public"}
    take_in(
        project,
        draft_channel(audience=PRIVATE),
        *(replace(m, audience=PRIVATE) for m in messages),
    )
    nodes, edges = everything(project)
    account = {"slack-user:U1", "identity:slack-user:U1"}
    assert {nodes[key] for key in account} == {"public"}
    assert {nodes[key] for key in nodes.keys() - account} == {"slack:C1"}
    assert len(edges) >= 12
    assert set(edges.values()) == {"slack:C1"}


def test_a_channel_that_closes_batch_by_batch_ends_as_closed(project):
    messages = [draft_message(f"{n}.000001", thread_ts="1.000001") for n in (1, 2)]
    take_in(project, draft_account(), draft_channel(), *messages)
    for message in (*messages, draft_channel()):
        take_in(project, replace(message, audience=PRIVATE))
    nodes, edges = everything(project)
    assert nodes["slack-thread:C1:1.000001"] == "slack:C1"
    assert set(edges.values()) == {"slack:C1"}


def test_what_a_public_record_says_too_stays_open(project):
    other = make_source(project, "other-export")
    take_in(project, draft_message())
    take_in(project, draft_message(), source=other)
    take_in(project, replace(draft_message(), audience=PRIVATE))
    assert everything(project)[0]["slack:C1:1.000001"] == "public"
    take_in(project, replace(draft_message(), audience=PRIVATE), source=other)
    assert everything(project)[0]["slack:C1:1.000001"] == "slack:C1"


def test_a_shared_node_closes_when_the_public_record_no_longer_speaks_of_it(project):
    take_in(
        project,
        draft_message("1.000001", thread_ts="1.000001"),
        replace(draft_message("2.000001", thread_ts="1.000001"), audience=PRIVATE),
    )
    assert everything(project)[0]["slack-thread:C1:1.000001"] == "public"
    take_in(project, draft_message("1.000001", version=1))
    assert everything(project)[0]["slack-thread:C1:1.000001"] == "slack:C1"


def test_what_comes_back_from_a_private_record_comes_back_closed(project):
    take_in(project, draft_account(), draft_message("1.000001", thread_ts="1.000001"))
    take_in(project, draft_message("1.000001", version=1))
    answer = draft_message("2.000001", "Secret", thread_ts="1.000001")
    take_in(project, replace(answer, audience=PRIVATE))
    nodes, edges = everything(project)
    thread = "slack-thread:C1:1.000001"
    assert nodes[thread] == "slack:C1"
    assert edges[thread, "participant", "identity:slack-user:U1"] == "slack:C1"


def test_a_stand_in_for_a_missing_parent_closes_with_its_record(project):
    reply = draft_mail("b", 1, BOB, (), ("a", "lost"))
    take_in(project, draft_mail("a", 0, ANN), reply)
    edge = ("email:b", "replied_to", "email:a")
    assert everything(project)[1][edge] == "public"
    take_in(project, replace(reply, audience=PRIVATE))
    assert everything(project)[1][edge] == "slack:C1"
