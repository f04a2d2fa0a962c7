"""RULE: every raw query gives exact rows, in one query, for one tenant, or nothing."""

from __future__ import annotations

import pytest

from graph.models import Node
from retrieval import words
from retrieval.arms.base import Plan
from retrieval.models import SearchableNode
from retrieval.results import Parsed
from retrieval.words import Word, Words
from tests.factories import make_audience, make_node
from tests.retrieval.asking import found_by, index, keys, make_ask

pytestmark = pytest.mark.django_db
ALL = Plan(options={"match": "all"})
TEXTS = [
    "The pump failed in the night.",
    "We bought a new pump from Larsen.",
    "Lunch is at noon in the canteen.",
    "The invoice for the pump is late, the invoice is wrong.",
    "Larsen sent the invoice.",
    "Nobody knows why the alarm was silent.",
    "A pump, a pump, a pump!",
]


@pytest.fixture
def corpus(project):
    for n, text in enumerate(TEXTS):
        make_node(project, f"m{n}", text)
    index(project)


def found(project, question, plan=None, **fields):
    return found_by("keyword", make_ask(project, question, **fields), plan)


def websearch(project, question):
    return found(
        project,
        question,
        parsed=Parsed(query=question, asked=question, websearch=True),
    )


def test_a_rare_word_counts_more_than_a_common_one(project, corpus):
    best = found(project, "pump alarm")
    assert keys(best)[0] == "m5"
    assert set(keys(best)) == {"m0", "m1", "m3", "m5", "m6"}


def test_a_score_is_the_share_of_what_all_words_could_give(project, corpus):
    (best, *_) = found(project, "Larsen invoice")
    rank = dict(
        Node.objects.filter(key="m4").values_list("key", "search_vector")
    )  # the words m4 has
    assert best.key == "m4"
    assert rank["m4"]
    # ts_rank of a word that occurs once with weight B is 0.4 / 1.64493406685.
    assert best.score == pytest.approx(0.4 / 1.64493406685, abs=1e-6)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ('"new pump"', {"m1"}),
        ("pump -invoice", {"m0", "m1", "m6"}),
        ("alarm or lunch", {"m5", "m2"}),
    ],
)
def test_operators_that_a_person_types_are_kept(project, corpus, question, expected):
    assert set(keys(websearch(project, question))) == expected


def test_the_published_form_requires_every_word_and_ranks_by_cover_density(
    project, corpus
):
    assert keys(found(project, "invoice pump", ALL)) == ["m3"]
    assert set(keys(found(project, "pump", ALL))) == {"m0", "m1", "m3", "m6"}
    assert keys(found(project, "pump", ALL))[0] == "m6"
    assert found(project, "pump alarm", ALL) == []


@pytest.mark.parametrize(
    "question",
    ["'", "\\", "a'b\\c", "%s %(x)s", "{allowed}", "&|!():*", "?" * 50, "💥", '"'],
)
def test_odd_questions_find_something_or_nothing_but_never_fail(
    project, corpus, question
):
    assert isinstance(found(project, question), list)
    assert isinstance(found(project, question, ALL), list)
    assert isinstance(websearch(project, question), list)


def test_a_question_without_words_finds_nothing_and_asks_nothing(
    project, corpus, django_assert_num_queries
):
    ask = make_ask(project, "the of and")
    with django_assert_num_queries(0):
        assert found_by("keyword", ask) == []


def test_it_is_one_query_within_its_queryset(
    project, other_project, corpus, django_assert_num_queries
):
    make_node(other_project, "theirs", TEXTS[3])
    ask = make_ask(project, "late invoice")
    with django_assert_num_queries(1):
        assert "theirs" not in keys(found_by("keyword", ask))
    some = SearchableNode.objects.of(project).filter(content__contains="sent")
    assert keys(found(project, "late invoice", nodes=some)) == ["m4"]
    none = SearchableNode.objects.none()
    assert found(project, "late invoice", nodes=none) == []
    assert found(other_project, "alarm") == []


def test_three_users_find_what_each_may_see(
    project, corpus, member, outsider, stranger
):
    closed = make_audience(project, "slack:P1", [member])
    make_node(project, "secret", "The alarm was silenced.", audience=closed)
    assert set(keys(found(project, "alarm", user=member))) == {"m5", "secret"}
    assert keys(found(project, "alarm", user=outsider)) == ["m5"]
    assert found(project, "alarm", user=stranger) == []


def test_candidates_by_rarity_find_the_best_of_any_word(project, corpus, monkeypatch):
    best = keys(found(project, "alarm pump"))[0]
    monkeypatch.setattr(words, "ANY_WORD_BELOW", 1)
    monkeypatch.setattr(words, "RARE_BUDGET", 1)
    assert keys(found(project, "alarm pump"))[0] == best == "m5"


def test_words_all_over_the_project_are_found_alone_and_where_no_two_meet(
    project, monkeypatch
):
    for number in range(4):
        make_node(project, f"p{number}", "pumps")
        make_node(project, f"v{number}", "valves")
    make_node(project, "v4", "valves")
    index(project)
    monkeypatch.setattr(words, "ANY_WORD_BELOW", 1)
    monkeypatch.setattr(words, "RARE_BUDGET", 1)
    rarest = ["p0", "p1", "p2", "p3"]
    assert sorted(keys(found(project, "pumps"))) == rarest
    assert sorted(keys(found(project, "valves pumps"))) == rarest
    assert websearch(project, "pumps -pumps") == []


def test_a_text_in_another_language_is_found_by_its_own_stems(project, corpus):
    make_node(project, "de", "Die Rechnungen sind verspätet", language="german")
    index(project)
    assert keys(found(project, "Rechnung")) == ["de"]


class TestCandidates:
    def words(self, total, **nodes):
        by_rarity = sorted(nodes.items(), key=lambda item: item[1])
        return Words(tuple(Word(w, n, 1.0) for w, n in by_rarity), total)

    def test_few_matches_are_all_candidates(self):
        assert self.words(9_000, a=10, b=2000).candidates() == ("'a' | 'b'",)

    def test_many_are_found_by_the_rarest_and_by_pairs(self):
        asked = self.words(100_000, rare=200, common=50_000, often=20_000)
        assert asked.candidates() == ("'rare'", "'often' & ('common')")

    def test_the_pairs_of_one_word_are_one_text(self):
        asked = self.words(100_000, a=9_000, b=9_001, c=9_002)
        assert asked.candidates() == ("'a' & ('b' | 'c')", "'b' & ('c')")

    def test_pairs_that_expect_too_many_matches_are_left_out_after_the_first(self):
        asked = self.words(10_000, **dict.fromkeys("abcd", 5000))
        assert asked.candidates() == ("'a' & ('b' | 'c' | 'd')",)
        assert words.PAIRS_LEAST == 3

    def test_quotes_and_backslashes_are_escaped(self):
        assert Word("a'b\\c", 1, 1.0).tsquery == "'a''b\\\\c'"

    def test_a_common_word_by_itself_is_its_own_candidate(self):
        assert self.words(180_000, common=90_000).candidates() == ("'common'",)

    def test_no_words_have_no_candidates(self):
        assert Words().candidates() == ()

    def test_a_larger_project_has_larger_budgets(self):
        small = self.words(180_000, a=290, b=700, c=90_000).candidates()
        large = self.words(900_000, a=290, b=700, c=90_000).candidates()
        assert small == ("'a'", "'b' & ('c')")
        assert large == ("'a' | 'b'",)
