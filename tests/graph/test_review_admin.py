"""The admin's pages of the review queue and of the trash, without a browser."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from connections.models import Role
from graph.admin.review_queue import Asked, next_of, previous_of
from graph.models import Evidence, Node, ReviewDecision, ReviewItem, Trashed
from graph.review import confirming
from graph.review.deciding import hold
from graph.review.kinds import Verb, review_kinds
from tests.factories import make_audience, make_member, make_project, make_review_item
from tests.graph.review.queueing import decide_it, make_claim, make_item, make_reviewer

pytestmark = pytest.mark.django_db
QUEUE = "/admin/graph/reviewitem/"
TRASH = "/admin/graph/trashed/"


def signed_in(user, **options) -> Client:
    user.is_staff = True
    user.save()
    client = Client(**options)
    client.force_login(user)
    return client


@pytest.fixture
def reviewer(project):
    return make_reviewer(project)


@pytest.fixture
def client(reviewer):
    return signed_in(reviewer)


def page_of(item) -> str:
    return f"{QUEUE}{item.pk}/change/"


def send(client, item, verb, **more):
    item.refresh_from_db()
    given = {"verb": verb, "version": item.version, "reason": "It is so.", **more}
    return client.post(f"{QUEUE}{item.pk}/decide/", given)


def token_in(response) -> str:
    return str(response.context["found"].token)


def test_the_queue_lists_what_waits_and_says_how_much_is_left(project, client) -> None:
    make_item(project, age_days=142, threshold=90, uses=7, priority=3)
    make_item(project, "decision:2", state="decided")
    page = client.get(QUEUE)
    assert page.context["cl"].result_count == 1
    assert "142\u00a0days (limit\u00a090)" in page.content.decode()
    assert b"1 left" in page.content


def test_an_empty_queue_says_what_to_do_next(client) -> None:
    page = client.get(QUEUE).content.decode()
    assert "Nothing waits for you." in page
    assert "manage.py scan_stale" in page


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["b", "a", "c"]),
        ("order=newest", ["c", "b", "a"]),
        ("order=oldest", ["a", "b", "c"]),
        ("order=use", ["c", "a", "b"]),
        ("kind=orphan", ["c"]),
        ("assigned=me", ["a"]),
        ("state=decided", ["d"]),
        ("state=any&order=oldest", ["a", "b", "c", "d"]),
        ("kind=nonsense", []),
    ],
)
def test_the_queue_is_filtered_and_ordered(
    project, reviewer, client, query, expected
) -> None:
    make_item(project, "a", subject="a", priority=2, uses=2, assigned_to=reviewer)
    make_item(project, "b", subject="b", priority=3, uses=1)
    make_item(project, "c", subject="c", priority=1, uses=3, kind="orphan")
    make_item(project, "d", subject="d", state="decided")
    page = client.get(f"{QUEUE}?{query}")
    assert [item.subject for item in page.context["cl"].result_list] == expected


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


def test_keeping_opens_the_next_item_and_offers_to_undo(project, client) -> None:
    first = make_item(project, priority=2)
    second = make_item(project, "decision:2", priority=1)
    after = client.post(
        f"{QUEUE}{first.pk}/decide/",
        {"verb": "keep", "version": 0, "reason": "Asked Ann."},
        follow=True,
    )
    assert after.context["item"] == second
    assert b"Kept: " in after.content
    decision = ReviewDecision.objects.get()
    assert decision.reason == "Asked Ann."
    back = client.post(f"{QUEUE}decisions/{decision.pk}/undo/", follow=True)
    assert back.context["item"] == first
    first.refresh_from_db()
    assert first.state == "open"


def test_the_last_item_leads_back_to_the_list(project, client) -> None:
    item = make_item(project)
    after = client.post(
        f"{QUEUE}{item.pk}/decide/",
        {"verb": "keep", "version": 0, "reason": "So."},
        follow=True,
    )
    assert "Nothing waits for you." in after.content.decode()
    assert "Kept: " in after.content.decode()


def test_the_filters_of_the_list_go_along(project, client) -> None:
    first = make_item(project, "a", kind="orphan", priority=2)
    make_item(project, "b", priority=5)
    last = make_item(project, "c", kind="orphan", priority=1)
    query = "?_changelist_filters=kind%3Dorphan"
    page = client.get(page_of(first) + query)
    assert page.context["following"] == last
    assert page.context["left"] == "2"
    after = client.post(
        f"{QUEUE}{first.pk}/decide/{query}",
        {"verb": "keep", "version": 0, "reason": "So."},
    )
    assert after.url.startswith(page_of(last) + "?_changelist_filters=kind%3Dorphan")


@pytest.mark.parametrize("order", ["priority", "newest", "oldest", "use"])
def test_next_and_previous_walk_the_whole_queue(project, reviewer, order) -> None:
    for n in range(6):
        make_item(project, str(n), priority=n % 2 / 3, uses=n % 3)
    asked = Asked(order=order)
    listed = list(asked.rows(reviewer))
    assert len(listed) == 6
    after = [next_of(asked, item, reviewer) for item in listed]
    before = [previous_of(asked, item, reviewer) for item in listed]
    assert after == [*listed[1:], listed[0]]
    assert before == [None, *listed[:-1]]


def test_what_somebody_else_holds_is_not_the_next(project, reviewer) -> None:
    items = [make_item(project, str(n), priority=-n) for n in range(3)]
    hold(items[1].pk, make_reviewer(project, "rex@acme.test"))
    assert next_of(Asked(), items[0], reviewer) == items[2]
    hold(items[2].pk, reviewer)
    assert next_of(Asked(), items[0], reviewer) == items[2]


def test_skipping_lets_others_decide_the_item(project, reviewer, client) -> None:
    item, other = make_item(project, priority=2), make_item(project, "b", priority=1)
    client.get(page_of(item))
    item.refresh_from_db()
    assert item.held_by == reviewer
    after = client.post(f"{QUEUE}{item.pk}/leave/", {"to": "next"})
    assert after.url == page_of(other)
    item.refresh_from_db()
    assert item.held_by is None


def test_an_item_held_by_somebody_else_is_only_read(project, client) -> None:
    item = make_item(project)
    hold(item.pk, make_reviewer(project, "rex@acme.test"))
    page = client.get(page_of(item))
    assert (
        b"rex@acme.test</b>" in page.content or b"rex@acme.test has it" in page.content
    )
    assert page.context["panels"] == []
    assert send(client, item, "keep").status_code == 409


def test_a_collision_says_what_happened_and_keeps_what_was_typed(
    project, client
) -> None:
    item = make_item(project)
    seen = item.version
    decide_it(item, Verb.KEEP, make_reviewer(project, "rex@acme.test"))
    answer = send(client, item, "keep", version=seen, reason="My long thought.")
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "rex@acme.test was faster: it was kept" in page
    assert "My long thought." in page


def test_what_changed_and_is_still_open_can_be_sent_again(project, client) -> None:
    item = make_item(project)
    ReviewItem.objects.update(version=4)
    answer = client.post(
        f"{QUEUE}{item.pk}/decide/",
        {"verb": "keep", "version": 0, "reason": "My long thought."},
    )
    assert answer.status_code == 409
    page = answer.content.decode()
    assert 'value="My long thought."' in page
    assert 'name="version" value="4"' in page


def test_a_prune_is_confirmed_with_its_consequences(project, client) -> None:
    item = make_item(project)
    asked = send(client, item, "prune")
    assert asked.status_code == 200
    assert "Put in the trash" in asked.content.decode()
    assert Trashed.objects.count() == 0
    assert send(client, item, "prune", token="forged").status_code == 409
    assert Trashed.objects.count() == 0
    done = send(client, item, "prune", token=token_in(asked))
    assert done.status_code == 302
    assert Node.objects.get(pk=item.node_id).trashed_at is not None


def test_a_prune_of_what_changed_meanwhile_is_asked_anew(project, client) -> None:
    item = make_item(project)
    asked = send(client, item, "prune")
    Node.objects.update(updated_at=timezone.now() + timedelta(minutes=1))
    again = send(client, item, "prune", token=token_in(asked))
    assert again.status_code == 409
    assert "has changed since" in again.content.decode()
    assert Trashed.objects.count() == 0
    send(client, item, "prune", token=token_in(again))
    assert Trashed.objects.count() == 1


@pytest.mark.parametrize(
    ("verb", "given", "says"),
    [
        ("keep", {"reason": ""}, "This field is required."),
        ("snooze", {}, "Choose a day."),
        ("snooze", {"until": "2020-01-01"}, "a day to come"),
        ("edit", {"text": "We use pumps of Acme.", "title": ""}, "Give the new words"),
    ],
)
def test_what_a_verb_lacks_is_said_at_its_form(
    project, client, verb, given, says
) -> None:
    item = make_review_item(project, make_claim(project, origin="extraction"))
    answer = send(client, item, verb, **given)
    assert answer.status_code == 400
    assert says in answer.content.decode()
    assert ReviewDecision.objects.count() == 0


@pytest.mark.parametrize("verb", ["nonsense", "merge", ""])
def test_a_verb_that_is_not_there_is_a_bad_request(project, client, verb) -> None:
    assert send(client, make_item(project), verb).status_code == 400


def test_snooze_edit_and_assign_are_carried_out(project, reviewer, client) -> None:
    item = make_review_item(project, make_claim(project, origin="extraction"))
    send(client, item, "assign", assignee=reviewer.pk)
    item.refresh_from_db()
    assert item.assigned_to == reviewer
    send(client, item, "snooze", days="30")
    item.refresh_from_db()
    day = timezone.localtime(item.snoozed_until).date()
    assert (day - timezone.localdate()).days == 30
    send(client, item, "edit", text="We use pumps of\r\nBolt.", title="")
    assert Node.objects.get(pk=item.node_id).content == "We use pumps of\nBolt."


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


def test_the_queue_never_names_a_node_closed_since(project, client) -> None:
    item = make_review_item(project, make_claim(project, content="The secret pump."))
    node = item.node
    Node.objects.filter(pk=node.pk).update(
        audience=make_audience(project, key="private:c9")
    )
    page = client.get(QUEUE)
    assert page.context["cl"].result_count == 1
    assert b"secret pump" not in page.content


def bulk(client, verb, items, **more):
    asked = client.post(
        QUEUE,
        {
            "action": f"{verb}_them",
            "_selected_action": [item.pk for item in items],
            "index": 0,
        },
    )
    given = {"verb": verb, "chosen": asked.context["chosen"], "reason": "All so."}
    if asked.context["found"]:
        given["token"] = token_in(asked)
    return asked, client.post(f"{QUEUE}bulk/", given | more)


def test_several_are_kept_at_once_and_taken_back_at_once(project, client) -> None:
    items = [make_item(project, str(n)) for n in range(3)]
    ReviewItem.objects.filter(pk=items[2].pk).update(
        held_by=make_reviewer(project, "rex@acme.test"),
        held_until=timezone.now() + timedelta(minutes=5),
    )
    _, done = bulk(client, "keep", items)
    after = client.get(done.url).content.decode()
    assert "Kept: 2 items." in after
    assert "1 left as it was: rex@acme.test is at it" in after
    batch = ReviewDecision.objects.values_list("batch", flat=True).distinct().get()
    client.post(f"{QUEUE}batches/{batch}/undo/")
    assert ReviewItem.objects.filter(state="open").count() == 3


def test_several_are_snoozed_and_assigned_at_once(project, reviewer, client) -> None:
    items = [make_item(project, str(n)) for n in range(2)]
    bulk(client, "assign", items, assignee=reviewer.pk)
    bulk(client, "snooze", items, days="7")
    found = ReviewItem.objects.filter(assigned_to=reviewer, state="snoozed")
    assert found.count() == 2


def test_pruning_several_is_confirmed_once_and_many_twice(
    project, client, monkeypatch
) -> None:
    monkeypatch.setattr(confirming, "AT_ONCE", 3)
    few = [make_item(project, f"few:{n}") for n in range(2)]
    asked, done = bulk(client, "prune", few)
    assert "Put in the trash" in asked.content.decode()
    assert done.status_code == 302
    assert Trashed.objects.count() == 2
    many = [make_item(project, f"many:{n}") for n in range(4)]
    _, second = bulk(client, "prune", many)
    assert second.status_code == 200
    assert "at once: are you sure?" in second.content.decode()
    assert Trashed.objects.count() == 2
    given = {
        "verb": "prune", "chosen": second.context["chosen"], "reason": "All so.",
        "token": token_in(second),
    }  # fmt: skip
    assert client.post(f"{QUEUE}bulk/", given).status_code == 302
    assert Trashed.objects.count() == 6


def test_the_trash_says_what_when_and_why_and_gives_it_back(
    project, reviewer, client
) -> None:
    item = make_item(project)
    decide_it(item, Verb.PRUNE, reviewer, reason="It is wrong.")
    page = client.get(TRASH).content.decode()
    row = Trashed.objects.get()
    gone_on = f"{timezone.localtime(row.purge_at):%d\u00a0%b\u00a0%Y}"
    for words in ("We use pumps of Acme.", "It is wrong.", str(reviewer), gone_on):
        assert words in page
    client.post(f"{TRASH}{row.pk}/restore/")
    assert not Trashed.objects.exists()
    assert Node.objects.get(pk=item.node_id).trashed_at is None


def test_several_come_out_of_the_trash_at_once_and_none_is_deleted(
    project, reviewer, client
) -> None:
    for n in range(2):
        decide_it(make_item(project, str(n)), Verb.PRUNE, reviewer)
    chosen = list(Trashed.objects.values_list("pk", flat=True))
    for action in ("delete_selected", "put_back"):
        assert Trashed.objects.count() == 2
        given = {"action": action, "_selected_action": chosen, "index": 0}
        client.post(TRASH, given)
    assert Trashed.objects.count() == 0
    assert Node.objects.filter(trashed_at=None).count() == 2
    assert client.get(f"{TRASH}1/delete/").status_code in (302, 403)


def test_every_kind_has_a_page_with_its_verbs(project, client) -> None:
    assert len(review_kinds) >= 8
    for name, kind in review_kinds.items():
        item = make_item(project, f"of:{name}", kind=name, subject=name)
        page = client.get(page_of(item))
        assert page.status_code == 200, name
        shown = {panel.verb for panel in page.context["panels"]}
        assert shown | {Verb.EDIT} >= set(kind.verbs), name


@pytest.mark.parametrize(
    ("kind", "named"),
    [
        ("stale", "Keep"),
        ("duplicate", "Keep both"),
        ("contradiction", "Keep both"),
        ("identity", "Keep apart"),
        ("feedback", "Looked into"),
    ],
)
def test_keeping_is_called_what_it_does_to_items_of_a_kind(
    project, client, kind, named
) -> None:
    item = make_item(project, kind=kind)
    page = client.get(page_of(item)).content.decode()
    assert f'data-key="a">{named} <kbd>' in page
    assert f'type="submit">{named}</button>' in page


def test_what_an_item_has_none_of_is_not_asked_about(project, client) -> None:
    page = client.get(page_of(make_review_item(project, kind="feedback")))
    told = page.content.decode()
    assert "Flagged" in told
    for nothing in ("Evidence", "Who relies on", "Last said of", "<dt>Age", "<dt>Uses"):
        assert nothing not in told


def test_evidence_without_a_quote_shows_its_record_and_of_which_of_two_it_is(
    project, client
) -> None:
    one = make_claim(project, "decision:1", content="Pumps of Acme.")
    other = make_claim(project, "decision:2", content="Pumps of Bolt.")
    item = make_review_item(project, one, kind="contradiction", other=other)
    told = client.get(page_of(item)).content.decode()
    for side, words in (("A", "Pumps of Acme."), ("B", "Pumps of Bolt.")):
        quote = rf'<blockquote dir="auto">{words}</blockquote>\s*<p[^>]*>'
        assert re.search(rf'{quote}<b class="rv-of">{side}</b>', told), side


def test_the_list_leaves_out_columns_that_say_the_same_in_every_row(
    project, reviewer, client
) -> None:
    make_item(project)
    usual = client.get(QUEUE).context["cl"].list_display
    assert not {"status", "project"} & set(usual)
    assert "status" in client.get(QUEUE, {"state": "any"}).context["cl"].list_display
    second = make_project("acme/second")
    second.memberships.create(user=reviewer, role=Role.REVIEWER)
    assert "project" in client.get(QUEUE).context["cl"].list_display


def test_the_sidebar_leads_to_the_review_and_the_trash(project, client) -> None:
    make_item(project)
    page = client.get(reverse("admin:index")).content.decode()
    assert f'href="{QUEUE}"' in page
    assert f'href="{TRASH}"' in page


def test_a_decision_of_somebody_else_is_not_offered_to_undo(project, client) -> None:
    row = decide_it(
        make_item(project), Verb.KEEP, make_reviewer(project, "b@acme.test")
    )
    assert client.get(f"{QUEUE}?done={row.pk}").context["done"] is None
    assert client.get(f"{QUEUE}?batch=nonsense").context["done"] is None
