from __future__ import annotations

import pytest

from retrieval.frequencies import count_lexemes, languages_of, weigh_words, words_of
from retrieval.models import Lexeme, LexemeCount
from tests.factories import draft_channel, draft_message, make_node, take_in

pytestmark = pytest.mark.django_db


def counted(project):
    return dict(Lexeme.objects.filter(project=project).values_list("lexeme", "nodes"))


def test_a_word_counts_once_for_each_node_of_the_project(project, other_project):
    make_node(project, "a", "pump pump valve")
    make_node(project, "b", "Pumps")
    make_node(other_project, "c", "pump crane")
    assert count_lexemes(project)
    assert counted(project) == {"pump": 2, "valv": 1}
    assert LexemeCount.objects.get(project=project).nodes == 2


def test_words_are_counted_anew_when_the_project_has_grown_by_a_tenth(project):
    for n in range(20):
        make_node(project, f"n{n}", "pump")
    assert count_lexemes(project)
    make_node(project, "n20", "pump")
    assert not count_lexemes(project)
    assert count_lexemes(project, always=True)
    for n in range(21, 25):
        make_node(project, f"n{n}", "valve")
    assert count_lexemes(project)
    assert counted(project) == {"pump": 21, "valv": 4}


def test_a_run_counts_the_words_of_what_it_took_in(project):
    take_in(project, draft_channel(), draft_message(text="Pumps and valves"))
    assert {"pump", "valv"} <= counted(project).keys()


def test_a_rarer_word_weighs_more_and_an_unknown_one_the_most(project):
    for n in range(9):
        make_node(project, f"n{n}", "pump" + (" valve" if n < 2 else ""))
    count_lexemes(project)
    weights = weigh_words(project, "the pump, the valve and the crane")
    assert weights["crane"] > weights["valv"] > weights["pump"] > 0
    assert set(weights) == {"crane", "valv", "pump"}
    assert weigh_words(project, "the and of") == {}


def test_words_of_texts_come_as_the_index_has_them_in_order(project):
    assert words_of(project, ["Pumps failed", "", "the"]) == [
        {"pump", "fail"},
        set(),
        set(),
    ]


def test_a_project_that_was_never_counted_has_its_own_language(project):
    assert languages_of(project) == ["english"]
    make_node(project, "a", "Rechnungen", language="german")
    make_node(project, "b", "Pumps")
    count_lexemes(project)
    assert languages_of(project) == ["english", "german"]
    assert words_of(project, ["Rechnungen"])[0] >= {"rechnung"}
