from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.aliases import follow
from graph.models import Alias, Edge, Node
from tests.factories import make_source, take_in
from tests.graph.corpora import ANN, BOB, EVE, draft_mail


@pytest.mark.parametrize(
    ("best", "key", "found"),
    [
        ({}, "a", "a"),
        ({"b": "a"}, "b", "a"),
        ({"c": "b", "b": "a"}, "c", "a"),
        ({"b": "c", "c": "b"}, "b", "b"),
        ({"b": "c", "c": "b"}, "c", "b"),
        ({"d": "c", "c": "b", "b": "c"}, "d", "b"),
    ],
)
def test_a_key_stands_for_the_end_of_its_chain_or_the_least_of_a_cycle(
    best, key, found
):
    assert follow(best, key) == found


@given(st.dictionaries(st.sampled_from("abcdef"), st.sampled_from("abcdef")))
def test_following_ends_and_its_end_stands_for_itself(best):
    best = {k: t for k, t in best.items() if k != t}
    for key in best:
        end = follow(best, key)
        assert follow(best, end) == end


def threads(project):
    return {
        e.source.key: e.target.key
        for e in Edge.objects.of(project)
        .live()
        .filter(relation="in_thread")
        .select_related("source", "target")
    }


def take(project, *mails):
    take_in(project, *mails, source=make_source(project, "mail", "mail"))


@pytest.mark.django_db
class TestThreads:
    def test_mails_that_know_only_each_other_come_together_when_the_link_arrives(
        self, project
    ):
        take(project, draft_mail("a", 0, ANN), draft_mail("c", 2, EVE, (), ("b",)))
        assert threads(project) == {
            "email:a": "email-thread:a",
            "email:c": "email-thread:b",
        }
        take(project, draft_mail("b", 1, BOB, (), ("a",)))
        assert set(threads(project).values()) == {"email-thread:a"}
        assert Node.objects.of(project).filter(node_type="thread").count() == 1

    def test_one_thread_has_the_participants_and_the_order_of_all_its_mails(
        self, project
    ):
        take(project, draft_mail("c", 2, EVE, (ANN,), ("b",)))
        take(project, draft_mail("a", 0, ANN))
        take(project, draft_mail("b", 1, BOB, (), ("a",)))
        edges = Edge.objects.of(project).live().select_related("source", "target")
        participants = {
            e.target.title: e.weight for e in edges.filter(relation="participant")
        }
        assert participants == {ANN: 2.0, BOB: 1.0, EVE: 1.0}
        assert {
            (e.source.key, e.target.key) for e in edges.filter(relation="follows")
        } == {("email:b", "email:a"), ("email:c", "email:b")}

    def test_what_a_mail_says_of_itself_counts_more_than_hearsay(self, project):
        take(
            project,
            draft_mail("c", 3, EVE, (), ("z", "b")),
            draft_mail("b", 1, BOB, (), ("a",)),
        )
        assert threads(project)["email:b"] == "email-thread:a"

    def test_a_cycle_of_references_is_one_thread(self, project):
        take(project, draft_mail("y", 1, ANN, (), ("x",)))
        take(project, draft_mail("x", 0, BOB, (), ("y",)))
        assert set(threads(project).values()) == {"email-thread:x"}

    def test_a_mail_that_takes_back_its_claim_parts_the_threads(self, project):
        link = draft_mail("b", 1, BOB, (), ("a",))
        take(
            project, draft_mail("a", 0, ANN), link, draft_mail("c", 2, EVE, (), ("b",))
        )
        assert set(threads(project).values()) == {"email-thread:a"}
        take(project, replace(draft_mail("b", 1, BOB), version=1))
        assert threads(project) == {
            "email:a": "email-thread:a",
            "email:b": "email-thread:b",
            "email:c": "email-thread:b",
        }
        assert set(Alias.objects.values_list("key", flat=True)) == {"email-thread:c"}

    def test_an_author_stays_the_author_when_the_thread_moves(self, project):
        """A person merged later takes along what a moved thread says of them."""
        take(project, draft_mail("c", 2, EVE, (), ("b",)))
        take(project, draft_mail("b", 1, BOB, (), ("a",)))
        for name in ("d", "e"):
            take(project, draft_mail(name, 9, EVE, names=((EVE, "Eve Day"),)))
        vias = (
            Edge.objects.of(project)
            .filter(relation="participant")
            .values_list("evidence__via_source", "evidence__via_target")
        )
        assert len(vias) == 4
        assert all(via.startswith("person:") for _, via in vias)
