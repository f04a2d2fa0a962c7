from __future__ import annotations

from itertools import permutations

import pytest
from django.db import connection
from hypothesis import given, settings
from hypothesis import strategies as st

from graph.decisions import merge_persons, split_identity
from graph.models import Identity, IdentityDecision
from graph.review.alike import PAIRED, alike, how_alike, similarity, someone
from graph.review.find_identity import find_identity
from tests.factories import NOON, draft_account, make_audience, take_in

NAMES = st.text(alphabet="abcdeéäß -'.", max_size=24)


def who(key, *names, mail=()):
    return someone(int(key[1:]), key, names, mail)


def pairs(*people):
    return [(pair.one.key, pair.other.key) for pair in alike(people)]


class TestWhoMayBeOne:
    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("Ann Lee", "Lee, Ann"),
            ("Katherine Johnson", "Catherine Johnson"),
            ("Anna Lee", "Anne Lee"),
            ("A. Lee", "Ann Lee"),
            ("J. R. Tolkien", "John Ronald Tolkien"),
            ("José García", "Jose Garcia"),
        ],
    )
    def test_equal_or_similar_names_and_initials(self, one, other):
        assert pairs(who("p1", one), who("p2", other)) == [("p1", "p2")]

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("Ann Lee", "Bob Stone"),
            ("Ann Lee", "Bob Lee"),
            ("B. Lee", "Ann Lee"),
            ("A. Lee", "A. Lea"),
            ("Ann", "Ann"),
            ("ann@acme.test", "ann@acme.test"),
            ("Ann via List", "Ann via List"),
        ],
    )
    def test_others_are_not(self, one, other):
        assert pairs(who("p1", one), who("p2", other)) == []

    def test_a_mailbox_name_under_two_domains(self):
        one = who("p1", mail=["ann.lee@acme.test"])
        assert pairs(one, who("p2", mail=["ann.lee+news@home.test"])) == [("p1", "p2")]
        assert pairs(one, who("p2", "Ann Lee", mail=["ann.lee@x.test"]))

    @pytest.mark.parametrize("box", ["support", "info", "ann", "12345", "no-reply"])
    def test_but_not_one_of_a_function_or_too_short(self, box):
        people = [who(f"p{n}", mail=[f"{box}@{n}.test"]) for n in (1, 2)]
        assert pairs(*people) == []

    def test_nor_one_that_many_have_or_whose_names_say_that_they_are_two(self):
        many = [who(f"p{n}", mail=[f"smith@{n}.test"]) for n in range(5)]
        assert pairs(*many) == []
        one = who("p1", "Ann Smith", mail=["asmithson@a.test"])
        assert pairs(one, who("p2", "Al Stone", mail=["asmithson@b.test"])) == []

    def test_every_reason_is_told_once_a_pair(self):
        (pair,) = alike(
            [
                who("p2", "Ann Lee", mail=["ann.lee@b.test"]),
                who("p1", "Ann Lee", mail=["ann.lee@a.test"]),
            ]
        )
        assert pair.reasons == [
            "both are called ann lee, and so the name is no proof",
            "both have a mailbox ann.lee@",
        ]
        assert pair.score == 1

    def test_of_a_name_that_many_have_each_is_held_against_the_first(self):
        many = [who(f"p{n}", "Ann Lee") for n in range(PAIRED + 3)]
        assert len(pairs(*many)) == len(many) - 1
        assert len(pairs(*many[:PAIRED])) == PAIRED * (PAIRED - 1) / 2

    def test_any_order_gives_the_same(self):
        people = [
            who("p1", "Ann Lee"),
            who("p2", "Anne Lee"),
            who("p3", "A. Lee", mail=["ann.lee@a.test"]),
            who("p4", mail=["ann.lee@b.test"]),
        ]
        assert len({tuple(pairs(*order)) for order in permutations(people)}) == 1
        assert len(pairs(*people)) >= 3

    @given(NAMES, NAMES)
    def test_likeness_is_mutual(self, one, other):
        assert (how_alike(one, other) is None) == (how_alike(other, one) is None)


@pytest.mark.django_db
@settings(max_examples=100, deadline=None)
@given(NAMES, NAMES)
def test_names_are_as_similar_as_the_database_says(one, other):
    with connection.cursor() as cursor:
        cursor.execute("SELECT similarity(%s, %s)", [one, other])
        (said,) = cursor.fetchone()
    assert similarity(one, other) == pytest.approx(said, abs=1e-6)


@pytest.mark.django_db
class TestTheFinder:
    @pytest.fixture
    def two(self, project):
        """Two accounts of one full name: the name is nobody's proof."""
        take_in(project, draft_account("U1", "Ann Lee"), draft_account("U2", "Ann Lee"))
        return list(Identity.objects.filter(project=project).order_by("key"))

    def found(self, project):
        return list(find_identity(project, NOON))

    def test_two_accounts_of_one_name_are_one_item(self, project, two):
        (one,) = self.found(project)
        assert {one.node_id, one.other_id} == {identity.person_id for identity in two}
        assert one.subject == ("node:identity:slack-user:U1|identity:slack-user:U2")
        assert one.why.startswith("Ann Lee and Ann Lee may be one person: both are ")
        assert one.detail["identities"] == ["slack-user:U1", "slack-user:U2"]
        assert one.fingerprint == self.found(project)[0].fingerprint

    def test_persons_of_another_project_are_not_compared(
        self, project, other_project, two
    ):
        take_in(other_project, draft_account("U3", "Ann Lee"))
        assert self.found(other_project) == []
        assert len(self.found(project)) == 1

    def test_who_was_merged_does_not_come(self, project, two, member):
        merge_persons([identity.person for identity in two], actor=member)
        assert self.found(project) == []

    def test_nor_who_was_said_to_be_two(self, project, two, member):
        merge_persons([identity.person for identity in two], actor=member)
        split_identity(Identity.objects.get(key="slack-user:U2"), actor=member)
        assert IdentityDecision.objects.get().verb == "split"
        assert self.found(project) == []

    def test_a_decision_on_others_hides_nothing(self, project, two):
        IdentityDecision.objects.create(
            tenant=project.tenant,
            project=project,
            verb="split",
            first_key="slack-user:U1",
            second_key="slack-user:U9",
        )
        assert len(self.found(project)) == 1

    def test_it_is_seen_by_those_who_see_every_identity_of_both(
        self, project, two, member
    ):
        closed = make_audience(project, "closed", [member])
        type(two[0].node).objects.filter(pk=two[0].node_id).update(audience=closed)
        (one,) = self.found(project)
        assert one.audience_id == closed.pk

    def test_another_identity_of_one_is_other_evidence(self, project, two):
        before = self.found(project)[0].fingerprint
        Identity.objects.filter(pk=two[0].pk).update(names=["Ann Lee", "Annie Lee"])
        assert self.found(project)[0].fingerprint != before
