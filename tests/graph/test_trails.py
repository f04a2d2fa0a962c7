from __future__ import annotations

import pytest
from django.urls import reverse

from graph.models import Edge, Evidence, Node
from graph.models import Record as StoredRecord
from graph.trails import caused_by_node, caused_by_record, trail_of_edge, trail_of_node
from memory.models import Citation, Turn
from memory.trails import trail_of_turn
from retrieval.models import Community, CommunityMember
from tests.factories import (
    draft_account,
    draft_channel,
    draft_message,
    make_audience,
    make_edge,
    make_node,
    make_source,
    take_in,
)
from tests.memory.making import make_conversation, make_observation

pytestmark = pytest.mark.django_db


@pytest.fixture
def closed(project, member):
    return make_audience(project, "slack:P1", [member])


def make_secret(project, closed):
    """Make an open node with an open proof and one that only the member may see."""
    node = make_node(project, "slack:C1:1.0", "The pump is down.")
    hidden = make_node(project, "slack:P1:2.0", "A secret pump", audience=closed)
    Evidence.objects.create(
        tenant_id=project.tenant_id,
        project=project,
        record=hidden.record,
        node=node,
        quote="A secret pump",
    )
    return node, hidden


def test_a_node_leads_back_to_its_records_source_run_and_original_bytes(
    project, member
):
    take_in(
        project, draft_channel(), draft_account(), draft_message(text="We decided so.")
    )
    record = StoredRecord.objects.get(key="slack:C1:1.000001")
    link, digest = "https://chat.example/1", "ab" * 32
    StoredRecord.objects.filter(pk=record.pk).update(permalink=link, raw_sha256=digest)
    node = Node.objects.get(key=record.key)
    claim = trail_of_node(node, member)
    assert (claim.hidden, claim.more) == (0, 0)
    (proof,) = claim.proofs
    assert (proof.kind, proof.start, proof.end) == ("said", 0, 14)
    origin = proof.origin
    assert (origin.key, origin.source, origin.source_kind) == (
        record.key,
        "slack-export",
        "slack",
    )
    assert (origin.url, origin.raw_sha256, origin.run) == (link, digest, record.run_id)
    assert origin.first_fetched_at == record.first_fetched_at


def test_what_a_reader_may_not_see_is_counted_and_never_named(
    project, member, outsider, stranger, closed
):
    node, _ = make_secret(project, closed)
    seen = trail_of_node(node, member)
    assert (len(seen.proofs), seen.hidden) == (2, 0)
    for reader, shown, hidden in ((outsider, 1, 1), (stranger, 0, 2)):
        claim = trail_of_node(node, reader)
        assert (len(claim.proofs), claim.hidden) == (shown, hidden)
        assert "secret" not in str(claim.proofs)


def test_a_record_leads_forward_to_all_that_it_caused(project, member, outsider):
    take_in(
        project,
        draft_channel(),
        draft_account("U1", "Ann Lee", "ann@acme.test"),
        draft_message(text="We decided to use pgvector for RAG."),
    )
    node = Node.objects.get(key="slack:C1:1.000001")
    record = node.record
    talk = make_conversation(project, member, cited=[node])
    make_conversation(project, outsider, cited=[node])
    observation = make_observation(project, member, "We use pgvector.")
    Evidence.objects.create(
        tenant_id=project.tenant_id,
        project=project,
        record=record,
        node=observation.node,
        kind="derived",
        part="memory:x",
    )
    scope = {"tenant_id": project.tenant_id, "project": project}
    community = Community.objects.create(
        **scope, audience=node.audience, title="Vectors"
    )
    CommunityMember.objects.create(
        **scope, community=community, node=node, centrality=1, is_evidence=True
    )
    found = {each.sort: each for each in caused_by_record(record, member)}
    names = {sort: [c.name for c in each.examples] for sort, each in found.items()}
    assert "pgvector" in names["extracted"]
    assert names["communities"] == ["Vectors"]
    assert names["observations"] == ["We use pgvector."]
    assert names["answers"] == [talk.turns.get().question]
    assert found["edges"].count >= 3
    # What another reader asked is counted, never shown.
    assert (found["answers"].count, found["answers"].hidden) == (1, 1)
    theirs = {each.sort: each for each in caused_by_record(record, outsider)}
    assert (theirs["observations"].count, theirs["observations"].hidden) == (0, 1)
    assert caused_by_node(node, member) == caused_by_record(record, member)


def test_forward_hides_what_is_in_a_closed_channel(project, member, outsider, closed):
    open_node, hidden = make_secret(project, closed)
    make_edge(open_node, hidden, audience=closed)
    Evidence.objects.filter(edge__isnull=False).update(record=open_node.record)
    for reader, shown in ((member, 1), (outsider, 0)):
        found = {e.sort: e for e in caused_by_record(open_node.record, reader)}
        assert (found["edges"].count, found["edges"].hidden) == (shown, 1 - shown)
        if not shown:
            assert "secret" not in str(found)


def test_an_answer_leads_from_its_citations_to_the_sources(
    project, member, outsider, closed
):
    node, hidden = make_secret(project, closed)
    make_conversation(project, member, cited=[node, hidden])
    turn = Turn.objects.get()
    Citation.objects.create(turn=turn, n=3, node=None, key="gone", title="Gone")
    one, two, three = trail_of_turn(turn, member)
    assert one.proofs[0].origin.source == "slack-export"
    assert (two.name, three.name) == (
        "[2] A secret pump",
        "[3] Gone since it was cited",
    )
    _, two, _ = trail_of_turn(turn, outsider)
    assert (two.name, two.hidden, two.quote) == ("[2] Not open to you", 1, "")


def test_an_edge_leads_back_to_the_record_that_says_so(project, member):
    one, two = make_node(project, "a", "One"), make_node(project, "b", "Two")
    edge = make_edge(one, two)
    claim = trail_of_edge(Edge.objects.select_related("source", "target").get(), member)
    assert claim.name == "One mentions Two"
    assert claim.address == reverse("edge_provenance", args=[edge.pk])
    assert [p.origin.key for p in claim.proofs] == ["a"]


def test_the_pages_show_trails_to_those_who_may_see_them(
    client, project, member, outsider, stranger, closed
):
    node, hidden = make_secret(project, closed)
    edge = make_edge(node, hidden, audience=closed)
    make_conversation(project, member, cited=[node])
    turn = Turn.objects.get()
    pages = {
        reverse("node_provenance", args=[node.pk]): (200, 200, 404),
        reverse("node_provenance", args=[hidden.pk]): (200, 404, 404),
        reverse("edge_provenance", args=[edge.pk]): (200, 404, 404),
        reverse("record_caused", args=[node.record_id]): (200, 200, 404),
        reverse("record_caused", args=[hidden.record_id]): (200, 404, 404),
        reverse("turn_provenance", args=[turn.pk]): (200, 404, 404),
    }
    for user, place in ((member, 0), (outsider, 1), (stranger, 2)):
        client.force_login(user)
        for address, expected in pages.items():
            response = client.get(address)
            assert response.status_code == expected[place], (user, address)
            if user is not member:
                assert b"secret" not in response.content
    client.force_login(outsider)
    page = client.get(reverse("node_provenance", args=[node.pk])).content.decode()
    assert "1 hidden: not open to you." in page
    client.logout()
    assert client.get(next(iter(pages))).status_code == 302


def test_the_api_gives_both_directions(client, project, member, outsider, closed):
    node, hidden = make_secret(project, closed)
    make_conversation(project, member, cited=[node])
    observation = make_observation(project, member, "It broke.")
    client.force_login(member)
    base = f"/api/v1/graph/nodes/{node.pk}/provenance/"
    assert len(client.get(base).json()["results"]) == 2
    forward = client.get(f"{base}?direction=forward").json()
    assert {"nodes", "answers"} <= {each["sort"] for each in forward["caused"]}
    assert client.get(f"{base}?direction=sideways").status_code == 400
    own = f"/api/v1/memory/observations/{observation.pk}/provenance/"
    assert client.get(own).json()["results"] == []
    assert client.get(f"{own}?direction=forward").status_code == 200
    turn = f"/api/v1/memory/turns/{Turn.objects.get().pk}/provenance/"
    (claim,) = client.get(turn).json()["claims"]
    assert claim["proofs"][0]["origin"]["source_name"] == "slack-export"
    client.force_login(outsider)
    for address in (turn, own, f"/api/v1/graph/nodes/{hidden.pk}/provenance/"):
        assert client.get(address).status_code == 404
    assert make_source(project).name == "slack-export"
