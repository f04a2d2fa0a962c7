"""The queue over the API: who sees it, who decides, and what a prune asks first."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from connections.models import Role
from graph.models import Node, ReviewItem, Trashed
from tests.connections.api.callers import session_client, token_client
from tests.factories import make_audience, make_edge, make_member, make_node
from tests.graph.review.queueing import make_claim, make_item, make_reviewer

pytestmark = pytest.mark.django_db
ITEMS = "/api/v1/review/items/"


@pytest.fixture
def rita(project):
    return make_reviewer(project)


@pytest.fixture
def item(project):
    # Flagged a month ago: its age is told as it is now.
    item = make_item(project, age_days=90, threshold=90, priority=2)
    old = timezone.now() - timedelta(days=120, hours=1)
    Node.objects.filter(pk=item.node_id).update(occurred_at=old)
    return item


def test_a_reviewer_lists_by_priority_and_pages(project, rita, item):
    more = make_item(project, "decision:2", priority=5)
    client = session_client(rita)
    page = client.get(ITEMS, {"limit": 1}).json()
    assert [row["id"] for row in page["results"]] == [more.pk]
    page = client.get(ITEMS, {"limit": 1, "cursor": page["next_cursor"]}).json()
    assert [row["id"] for row in page["results"]] == [item.pk]
    assert page["next_cursor"] is None
    assert client.get(ITEMS, {"kind": "orphan"}).json()["results"] == []
    assert client.get(ITEMS, {"kind": "nonsense"}).json()["code"] == "unknown_name"
    assert client.get(ITEMS, {"assigned": "me"}).json()["results"] == []
    assert len(client.get(ITEMS, {"assigned": "nobody"}).json()["results"]) == 2


def test_the_whole_of_one_item(project, rita, item):
    make_edge(make_node(project, "far"), item.node)
    found = session_client(rita).get(f"{ITEMS}{item.pk}/").json()
    assert found["claim"]["key"] == "decision:1"
    assert found["age"] == {"days": 120, "threshold": 90, "is_stale": True}
    assert found["reliances"][0]["count"] == 1
    assert len(found["evidence"]) == 1
    assert found["item"]["verbs"] == ["keep", "prune", "snooze", "edit", "assign"]


def test_prune_without_confirm_changes_nothing_and_with_it_is_undone_again(rita, item):
    client, path = session_client(rita), f"{ITEMS}{item.pk}/"
    asked = client.post(f"{path}prune/", {"reason": "Old."}).json()
    assert (asked["done"], asked["decision"]) == (False, None)
    assert [row["key"] for row in asked["consequences"]["chosen"]] == ["decision:1"]
    assert not Trashed.objects.exists()
    confirm = asked["consequences"]["confirm"]
    done = client.post(f"{path}prune/", {"reason": "Old.", "confirm": confirm}).json()
    assert (done["done"], done["decision"]["verb"]) == (True, "prune")
    listed = client.get("/api/v1/review/trash/").json()["results"]
    assert [row["key"] for row in listed] == ["decision:1"]
    again = client.post(f"{path}keep/", {"reason": "x", "version": 0})
    assert (again.status_code, again.json()["code"]) == (409, "collision")
    back = client.post(f"/api/v1/review/trash/{listed[0]['id']}/restore/").json()
    assert back == {"nodes": [item.node_id]}
    assert ReviewItem.objects.get(pk=item.pk).state == "open"


def test_keep_and_undo_over_the_api(rita, item):
    client, path = session_client(rita), f"{ITEMS}{item.pk}/"
    assert client.post(f"{path}keep/", {"reason": " "}).status_code == 400
    told = client.post(f"{path}keep/", {"reason": "So it is.", "version": 0}).json()
    assert (told["item"]["state"], told["decision"]["decided_by"]) == (
        "decided",
        rita.email,
    )
    told = client.post(f"{path}undo/").json()
    assert (told["item"]["state"], told["decision"]["undone_by"]) == (
        "open",
        rita.email,
    )
    assert client.post(f"{path}undo/").status_code == 404
    assert client.post(f"{path}hold/").json()["held_by"] == rita.email
    assert client.post(f"{path}release/").json()["held_by"] is None


def test_who_may_not(project, other_project, rita, item, member, stranger):
    path = f"{ITEMS}{item.pk}/"
    refused = session_client(member).post(f"{path}keep/", {"reason": "x"})
    assert refused.status_code == 403
    assert "reviewer" in refused.json()["detail"]
    assert session_client(member).get(path).status_code == 403
    assert session_client(member).get(ITEMS).json()["results"] == []
    of_project = {"project": project.path}
    for where in (ITEMS, "/api/v1/review/trash/", "/api/v1/review/report/"):
        assert session_client(member).get(where, of_project).status_code == 403
    for client in (session_client(stranger), token_client(rita, other_project)):
        assert client.get(path).status_code == 404
        assert client.get(ITEMS).json()["results"] == []
    reads = token_client(rita, project, ("read",))
    assert reads.get(path).status_code == 200
    assert reads.post(f"{path}hold/").json()["code"] == "missing_scope"


def test_what_is_closed_to_a_reviewer_is_a_404(project, rita):
    closed = make_audience(project, "closed", [make_member(project, "in@acme.test")])
    secret = make_item(project, audience=closed)
    client = session_client(rita)
    assert client.get(f"{ITEMS}{secret.pk}/").status_code == 404
    assert client.post(f"{ITEMS}{secret.pk}/hold/").status_code == 404
    assert client.get(ITEMS).json()["results"] == []


def test_assignees_are_reviewers(project, rita, item, member):
    client, path = session_client(rita), f"{ITEMS}{item.pk}/assign/"
    for address in (member.email, "nobody@acme.test"):
        answer = client.post(path, {"assignee": address})
        assert (answer.status_code, answer.json()["code"]) == (400, "not_decidable")
    told = client.post(path, {"assignee": rita.email}).json()
    assert told["item"]["assigned_to"] == rita.email
    assert (
        client.post(path, {"assignee": None}, "json").json()["item"]["assigned_to"]
        is None
    )


def test_the_report_is_word_for_word_as_published(project, rita, item):
    bare = make_claim(project, "decision:2", content="", title="Pumps")
    bare.evidence.all().delete()
    old = timezone.now() - timedelta(days=91, hours=1)
    Node.objects.filter(pk=bare.pk).update(occurred_at=old)
    ReviewItem.objects.create(
        tenant_id=project.tenant_id, project=project, kind="stale", subject="x",
        fingerprint="1", why="Old.", node=bare, audience=bare.audience, age_days=91,
    )  # fmt: skip
    report = session_client(rita).get(
        "/api/v1/review/report/", {"project": project.path}
    )
    assert report.json() == [
        {
            "name": "We use pumps of Acme.",
            "type": "decision",
            "age": "120 days",
            "lastObservation": "We use pumps of Acme.",
        },
        {"name": "Pumps", "type": "decision", "age": "91 days",
         "lastObservation": "none"},
    ]  # fmt: skip


def test_the_roles_are_asked_of_each_project(project, rita):
    elsewhere = make_item(project, "decision:9")
    project.memberships.filter(user=rita).update(role=Role.EDITOR)
    assert session_client(rita).get(f"{ITEMS}{elsewhere.pk}/").status_code == 403
