from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from connections.databases.runner import Busy
from connections.models import Audit, DatabaseColumn, Role
from memory.models import VerifiedExample
from memory.sql import examples
from memory.sql.examples import (
    ExampleRefused,
    like,
    propose,
    reject,
    retest,
    same,
    verify,
)
from memory.tasks import retest_examples, retest_examples_of
from tests.factories import make_member, make_user
from tests.memory.sql.conftest import TOP
from tests.targets import make_database

pytestmark = pytest.mark.django_db
QUESTION = "Who are the top three customers?"


def verbs():
    return list(
        Audit.objects.filter(verb__startswith="example.")
        .order_by("pk")
        .values_list("verb", flat=True)
    )


@pytest.fixture
def example(shop, member):
    return propose(shop, QUESTION, TOP, by=member)


class TestProposing:
    def test_what_a_person_found_right_waits_and_is_used_by_nothing_yet(
        self, shop, example, member
    ):
        assert (example.state, example.asked_by) == ("waiting", member)
        assert like(shop, QUESTION) == []
        assert same(shop, QUESTION) is None
        assert verbs() == ["example.proposed"]

    def test_proposed_twice_it_is_one_and_what_was_rejected_stays_so(
        self, shop, example, member, reviewer
    ):
        reject(example, by=reviewer)
        again = propose(shop, f"  {QUESTION} ", f"{TOP}\n", by=member)
        assert (again.pk, again.state) == (example.pk, "rejected")
        assert VerifiedExample.objects.count() == 1

    def test_one_that_was_retired_waits_again_when_it_is_proposed_again(
        self, shop, example, member
    ):
        VerifiedExample.objects.update(state="retired")
        assert propose(shop, QUESTION, TOP, by=member).state == "waiting"

    def test_only_who_may_ask_the_database_proposes(self, shop, outsider, stranger):
        for user in (outsider, stranger):
            with pytest.raises(ExampleRefused):
                propose(shop, QUESTION, TOP, by=user)
        assert not VerifiedExample.objects.exists()

    def test_without_question_or_statement_there_is_no_example(self, shop, member):
        for question, sql in (("", TOP), (QUESTION, "  ")):
            with pytest.raises(ExampleRefused):
                propose(shop, question, sql, by=member)


class TestDeciding:
    def test_a_reviewer_verifies_and_then_it_is_found(self, shop, example, reviewer):
        done = verify(example, by=reviewer)
        assert (done.state, done.verified_by) == ("active", reviewer)
        assert like(shop, "the top three customers") == [done]
        assert same(shop, "who ARE the top three  customers") == done
        assert verbs() == ["example.proposed", "example.verified"]

    def test_nobody_else_does(
        self, project, shop, example, member, outsider, stranger, audience
    ):
        blind = make_member(project, "blind@acme.test", Role.REVIEWER)
        for user in (member, outsider, stranger, blind):
            with pytest.raises(ExampleRefused, match="Only reviewers"):
                verify(example, by=user)
            with pytest.raises(ExampleRefused, match="Only reviewers"):
                reject(example, by=user)
        example.refresh_from_db()
        assert example.state == "waiting"

    def test_what_does_not_pass_guard_and_server_is_not_verified(
        self, shop, member, reviewer
    ):
        for sql in ("DROP TABLE orders", "SELECT sum(name) AS n FROM customers"):
            wrong = propose(shop, QUESTION, sql, by=member)
            with pytest.raises(ExampleRefused, match="does not pass"):
                verify(wrong, by=reviewer)


class TestFinding:
    def test_the_most_alike_come_first_and_never_another_database_s(
        self, project, shop, postgres_target, audience
    ):
        other = make_database(project, postgres_target, name="other", audience=audience)
        now = timezone.now()
        for database, question in (
            (shop, "How many orders were shipped?"),
            (shop, "How many orders were shipped in March?"),
            (shop, "Which plan has the most customers?"),
            (other, "How many orders were shipped in May?"),
        ):
            VerifiedExample.objects.create(
                database=database, question=question, sql="SELECT 1", state="active",
                verified_at=now,
            )  # fmt: skip
        found = [one.question for one in like(shop, "How many orders were shipped?")]
        assert found[:2] == [
            "How many orders were shipped?",
            "How many orders were shipped in March?",
        ]
        assert "How many orders were shipped in May?" not in found
        assert len(like(shop, "How many orders were shipped?", limit=1)) == 1
        assert like(shop, "zzz") == []


class TestTestingAgain:
    def test_what_no_longer_passes_is_retired_with_the_reason_and_audited(
        self, shop, example, reviewer
    ):
        verify(example, by=reviewer)
        assert retest(shop) == examples.Retested(kept=1)
        DatabaseColumn.objects.filter(name="revenue").update(exposure="hidden")
        assert retest(shop) == examples.Retested(retired=1)
        example.refresh_from_db()
        assert example.state == "retired"
        assert "revenue" in example.test_error
        assert like(shop, QUESTION) == []
        assert verbs()[-1] == "example.retired"
        assert retest(shop) == examples.Retested()

    def test_a_database_that_is_away_retires_nothing(
        self, shop, example, reviewer, monkeypatch
    ):
        verify(example, by=reviewer)

        def away(database, guarded):
            raise Busy("It cannot be reached.")

        monkeypatch.setattr(examples, "explain", away)
        assert retest(shop) == examples.Retested(untested=1)
        example.refresh_from_db()
        assert example.state == "active"

    def test_the_daily_task_tests_each_database_that_has_some(
        self, shop, example, reviewer, monkeypatch
    ):
        verify(example, by=reviewer)
        asked = []
        monkeypatch.setattr(retest_examples_of, "delay", asked.append)
        retest_examples()
        assert asked == [str(shop.pk)]
        DatabaseColumn.objects.filter(name="revenue").update(exposure="hidden")
        retest_examples_of(asked[0])
        example.refresh_from_db()
        assert example.state == "retired"
        retest_examples_of("00000000-0000-0000-0000-000000000000")


class TestAdmin:
    LIST = "admin:memory_verifiedexample_changelist"

    @pytest.fixture
    def root(self, project, audience):
        user = make_user("root@acme.test", is_staff=True, is_superuser=True)
        project.memberships.create(user=user, role=Role.ADMIN)
        return user

    def act(self, client, action, *chosen, **more):
        values = {"action": action, "_selected_action": [str(c.pk) for c in chosen]}
        return client.post(reverse(self.LIST), {**values, **more}, follow=True)

    def test_who_may_ask_the_database_decides_there_and_nobody_sees_others(
        self, client: Client, root, audience, example, other_project, postgres_target
    ):
        client.force_login(root)
        assert QUESTION not in client.get(reverse(self.LIST)).content.decode()
        audience.members.create(user=root)
        theirs = make_database(other_project, postgres_target)
        VerifiedExample.objects.create(database=theirs, question="Foreign?", sql="x")
        page = client.get(reverse(self.LIST)).content.decode()
        assert QUESTION in page
        assert "Foreign?" not in page
        assert (
            "Verified: 1."
            in self.act(client, "verify_selected", example).content.decode()
        )
        example.refresh_from_db()
        assert (example.state, example.verified_by) == ("active", root)

    def test_rejecting_asks_first(self, client: Client, root, audience, example):
        audience.members.create(user=root)
        client.force_login(root)
        page = self.act(client, "reject_selected", example).content.decode()
        assert "Reject these examples?" in page
        example.refresh_from_db()
        assert example.state == "waiting"
        self.act(client, "reject_selected", example, confirmed="yes")
        example.refresh_from_db()
        assert example.state == "rejected"

    def test_its_page_shows_the_statement(
        self, client: Client, root, audience, example
    ):
        audience.members.create(user=root)
        client.force_login(root)
        address = reverse("admin:memory_verifiedexample_change", args=[example.pk])
        assert "ORDER BY revenue" in client.get(address).content.decode()
