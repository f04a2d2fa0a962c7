from __future__ import annotations

import pytest
from django.db import transaction

from connections.models import Audience
from connections.records import AudienceDraft
from graph.audiences import Audiences
from tests.factories import make_audience, make_member

pytestmark = pytest.mark.django_db


@pytest.fixture
def audiences(project):
    return Audiences(project)


def closed(key, *members):
    return AudienceDraft("members", key, members or None)


def test_everybody_in_a_project_is_one_audience(project, audiences):
    assert audiences.id_of(AudienceDraft()) == audiences.public
    assert Audience.objects.get(pk=audiences.public).kind == "public"


def test_an_audience_is_listed_by_whoever_lists_it_whatever_came_first(audiences):
    before = audiences.id_of(closed("c"))
    assert audiences.id_of(closed("c", "Ann@Acme.test", "slack-user:U1")) == before
    row = Audience.objects.get(pk=before)
    assert {m.member for m in row.members.all()} == {"ann@acme.test", "slack-user:U1"}
    audiences.id_of(closed("c"))
    assert row.members.count() == 2
    audiences.id_of(closed("c", "bob@acme.test"))
    assert [m.member for m in row.members.all()] == ["bob@acme.test"]


def test_a_user_somebody_let_in_stays_when_the_source_lists_others(project, audiences):
    user = make_member(project)
    row = make_audience(project, "c", [user])
    audiences.id_of(closed("c", "bob@acme.test"))
    assert row.members.filter(user=user).exists()


def test_what_two_audiences_may_see_together(audiences):
    one, two, three = (audiences.id_of(closed(k, f"{k}@x.test")) for k in "abc")
    both = audiences.any_of({one, two})
    assert both == audiences.any_of([two, one, one])
    assert audiences.any_of([one]) == one
    assert audiences.any_of([one, audiences.public]) == audiences.public
    assert audiences.any_of([both, three]) == audiences.any_of([one, two, three])
    assert audiences.all_of([one, audiences.public]) == one
    assert audiences.all_of([one, two]) != both


def test_a_combined_audience_is_found_again_by_another_run(project, audiences):
    one, two = (audiences.id_of(closed(k, f"{k}@x.test")) for k in "ab")
    assert Audiences(project).any_of([one, two]) == audiences.any_of([one, two])


@pytest.mark.parametrize(
    ("how", "seen_by"), [("any_of", {"a", "b", "ab"}), ("all_of", {"ab"})]
)
def test_a_combined_audience_holds_who_is_in_any_or_in_all(project, how, seen_by):
    audiences = Audiences(project)
    users = {
        name: make_member(project, f"{name}@x.test") for name in ("a", "b", "ab", "no")
    }
    one = audiences.id_of(closed("one", "a@x.test", "ab@x.test"))
    two = audiences.id_of(closed("two", "b@x.test", "ab@x.test"))
    combined = getattr(audiences, how)([one, two])
    found = {n for n, u in users.items() if combined in Audience.objects.ids_of(u)}
    assert found == seen_by


def test_an_audience_taken_back_is_made_again(audiences):
    with transaction.atomic():
        lost = audiences.id_of(closed("c", "ann@acme.test"))
        transaction.set_rollback(True)
    audiences.forget()
    made = audiences.id_of(closed("c", "ann@acme.test"))
    assert made != lost
    assert Audience.objects.get(pk=made).members.count() == 1
