"""Who sees and decides what of the review in the admin."""

from __future__ import annotations

import pytest
from django.utils import timezone

from connections.models import Role
from graph.models import Evidence, ReviewDecision, Trashed
from graph.review.kinds import Verb
from tests.factories import make_audience, make_member, make_project
from tests.graph.review.queueing import decide_it, make_claim, make_item, make_reviewer
from tests.graph.review_admin.sending import QUEUE, TRASH, page_of, send, signed_in

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("role", [Role.VIEWER, Role.EDITOR])
def test_who_does_not_review_sees_and_decides_nothing(project, role) -> None:
    item = make_item(project)
    other = signed_in(make_member(project, "vic@acme.test", role))
    row = Trashed.objects.create(
        tenant_id=project.tenant_id, project=project, node=item.node,
        chosen=item.node_id, audience=item.audience, purge_at=timezone.now(),
    )  # fmt: skip
    for address in (QUEUE, TRASH, page_of(item), f"{TRASH}{row.pk}/change/"):
        assert other.get(address).status_code == 403, address
    assert send(other, item, "keep").status_code == 403
    assert other.post(f"{TRASH}{row.pk}/restore/").status_code == 403
    assert ReviewDecision.objects.count() == 0


def test_a_reviewer_of_another_tenant_meets_nothing_of_this_one(
    project, client
) -> None:
    item = make_item(project)
    decided = decide_it(item, Verb.PRUNE, make_reviewer(project, "rex@acme.test"))
    trashed = Trashed.objects.get()
    stranger = signed_in(make_reviewer(make_project("zeta/main"), "zoe@zeta.test"))
    assert stranger.get(QUEUE).context["cl"].result_count == 0
    assert stranger.get(TRASH).context["cl"].result_count == 0
    assert client.get(TRASH).context["cl"].result_count == 1
    refused = [
        stranger.get(page_of(item)),
        send(stranger, item, "keep"),
        stranger.post(f"{QUEUE}{item.pk}/leave/", {"to": "next"}),
        stranger.post(f"{QUEUE}decisions/{decided.pk}/undo/"),
        stranger.post(f"{TRASH}{trashed.pk}/restore/"),
    ]
    assert [answer.status_code for answer in refused] == [404] * 5
    assert Trashed.objects.count() == 1


@pytest.mark.parametrize(
    "address", ["1/decide/", "1/leave/", "bulk/", "decisions/1/undo/"]
)
def test_every_act_is_a_post_with_a_token_against_forgery(
    project, reviewer, address
) -> None:
    strict = signed_in(reviewer, enforce_csrf_checks=True)
    assert strict.get(QUEUE + address).status_code == 405
    assert strict.post(QUEUE + address).status_code == 403
    assert strict.get(f"{TRASH}1/restore/").status_code == 405
    assert strict.post(f"{TRASH}1/restore/").status_code == 403


def test_only_reviewers_of_the_project_are_offered(project, reviewer, client) -> None:
    make_member(project, "vic@acme.test", Role.EDITOR)
    make_reviewer(make_project("zeta/main"), "zoe@zeta.test")
    chief = make_member(project, "kim@acme.test", Role.ADMIN)
    page = client.get(page_of(make_item(project)))
    (form,) = (p.form for p in page.context["panels"] if p.verb == Verb.ASSIGN)
    assert set(form.fields["assignee"].queryset) == {reviewer, chief}


def test_evidence_and_nodes_closed_to_the_reader_are_not_shown(project, client) -> None:
    closed = make_audience(project, key="private:c9")
    secret = make_claim(project, "b", content="The secret pump.", audience=closed)
    item = make_item(project, "a", other=secret, kind="duplicate")
    hidden = make_claim(project, "c", content="hidden", audience=closed)
    for record, quote in (
        (hidden.record, "A closed quote."),
        (item.node.record, "Op."),
    ):
        Evidence.objects.create(
            tenant_id=project.tenant_id, project=project, record=record,
            node=item.node, quote=quote, part="text",
        )  # fmt: skip
    for address in (page_of(item), QUEUE):
        page = client.get(address).content.decode()
        assert "We use pumps of Acme." in page, address
        assert "secret pump" not in page, address
        assert "A closed quote." not in page, address
    page = client.get(page_of(item)).content.decode()
    assert "Op." in page
    assert "closed to you" in page


def test_a_decision_of_somebody_else_is_not_offered_to_undo(project, client) -> None:
    row = decide_it(
        make_item(project), Verb.KEEP, make_reviewer(project, "b@acme.test")
    )
    assert client.get(f"{QUEUE}?done={row.pk}").context["done"] is None
    assert client.get(f"{QUEUE}?batch=nonsense").context["done"] is None
