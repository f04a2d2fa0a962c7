"""Words that no text has, read as ones a letter away that some text has."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from retrieval.dictionaries import is_word
from retrieval.frequencies import count_lexemes
from retrieval.models import LexemeCount
from retrieval.results import Filters, Slip
from retrieval.search import search
from retrieval.slips import without_slips
from tests.factories import NOON, make_audience, make_node
from tests.retrieval.query.understanding import hinted, make_person, understood

pytestmark = pytest.mark.django_db

SAID = "The turbine's bearings were ordered from Kowalczyk in the afternoon."


@pytest.fixture
def turbine(project):
    node = make_node(project, "n", SAID)
    count_lexemes(project, always=True)
    return node


def meant(project, text, user=None, **options) -> dict[str, str]:
    parsed = understood(project, text, user, spelling=True, **options)
    return {slip.said: slip.meant for slip in parsed.slips}


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("turibne", "turbine"),  # neighbours that changed places
        ("turbne", "turbine"),  # one too few
        ("turbinne", "turbine"),  # one too many
        ("turbime", "turbine"),  # another
        ("kowalczy", "kowalczyk"),  # the last one is missing
        ("berings", "bearings"),  # with its ending
        ("TURBNIE", "TURBINE"),  # as it was written
        ("Turbnie", "Turbine"),
    ],
)
def test_each_kind_of_slip_is_read_as_what_a_text_has(project, turbine, said, read):
    assert meant(project, f"who ordered the {said}?") == {said: read}


@pytest.mark.parametrize(
    "said",
    [
        "turbine",  # a text has it
        "terribly",  # no text has it, but it is a word
        "hurbine",  # the first letter stands
        "turbbnne",  # two slips
        "ordr",  # too short to be told
        "#turbne",  # a label
        "@turbne",
        "turb1ne",  # a number or a name of something
    ],
)
def test_what_may_be_meant_stays(project, turbine, said):
    parsed = understood(project, f"who ordered the {said}?", spelling=True)
    assert parsed.slips == ()
    assert said.lstrip("#") in parsed.asked or said.startswith("#")


def test_a_capital_is_read_otherwise_only_where_it_can_be_nobody_else(project, turbine):
    assert meant(project, "what did Kowalzcyk say") == {"Kowalzcyk": "Kowalczyk"}
    assert meant(project, "what did Kowallczyk say") == {"Kowallczyk": "Kowalczyk"}
    assert meant(project, "what did Kowalczyj say") == {}
    assert meant(project, "what did kowalczyj say") == {"kowalczyj": "kowalczyk"}


def test_the_commoner_is_meant_and_a_dictionarys_word_before_another(project):
    for n in range(3):
        make_node(project, f"common{n}", "The valves are open.")
    make_node(project, "rare", "The vales are deep.")
    count_lexemes(project, always=True)
    assert meant(project, "the vaves please") == {"vaves": "valves"}


@pytest.mark.parametrize(
    ("said", "read"), [("abuot", "about"), ("thier", "their"), ("becouse", "because")]
)
def test_a_word_that_all_texts_have_is_meant_before_a_rarer_one(project, said, read):
    make_node(project, "n", "An abbot, a thief; the recourse.")
    count_lexemes(project, always=True)
    assert meant(project, f"thieves {said} it") == {said: read}


def test_what_was_written_after_the_count_is_no_slip(project, turbine):
    make_node(project, "new", "The turbins of Vienna are something else.")
    assert meant(project, "which turbins?") == {}


def test_a_word_of_a_closed_channel_is_told_to_none_but_its_members(
    project, member, outsider, stranger
):
    closed = make_audience(project, "slack:P1", [member])
    make_node(project, "n", "Project Zephyrion begins.", audience=closed)
    make_node(project, "open", "It begins, too.", audience=make_audience(project))
    count_lexemes(project, always=True)
    asked = "when does zephyrino begin"
    assert meant(project, asked, member) == {"zephyrino": "zephyrion"}
    assert meant(project, "when does it beginn", outsider) == {"beginn": "begin"}
    for user in (outsider, stranger):
        assert meant(project, asked, user) == {}


def test_another_projects_words_and_the_pruned_are_not_meant(project, other_project):
    make_node(project, "gone", SAID, trashed_at=NOON)
    make_node(project, "kept", "Nothing of it.")
    make_node(other_project, "n", SAID)
    for each in (project, other_project):
        count_lexemes(each, always=True)
    assert meant(project, "who ordered the turbne?") == {}
    assert meant(other_project, "who ordered the turbne?") == {"turbne": "turbine"}


def test_it_is_taken_back_by_the_word_or_for_all(project, turbine):
    asked = "did turbne berings come"
    assert meant(project, asked, ignore=["Turbne"]) == {"berings": "bearings"}
    assert meant(project, asked, ignore=["spelling"]) == {}


def test_operators_are_taken_as_typed(project, turbine):
    assert meant(project, "turbne -lunch") == {}
    assert meant(project, "who ordered turbne? type:message") == {"turbne": "turbine"}


def test_times_and_names_are_read_in_what_was_meant(project, turbine):
    make_person(project, "identity:k", "Jan Kowalczyk")
    make_node(project, "m", "See you on Wednesday evening.")
    count_lexemes(project, always=True)
    parsed = understood(
        project, "what came from Kowalzcyk last wendesday", spelling=True
    )
    assert hinted(parsed) == ["Jan Kowalczyk"]
    assert parsed.preferred.people == ("Jan Kowalczyk",)
    assert parsed.preferred.since is not None


def test_slips_are_told_in_the_order_of_the_question(project, turbine):
    assert list(meant(project, "the turbnie aftrenoon berings")) == [
        "turbnie",
        "aftrenoon",
        "berings",
    ]


def test_a_search_finds_it_and_says_so(project, turbine):
    answer = search(project, "turbne", user=None)
    assert [result.key for result in answer.results] == ["n"]
    assert answer.parsed.slips == (Slip(said="turbne", meant="turbine"),)
    assert answer.parsed.asked == "turbine"
    assert answer.as_json()["parsed"]["slips"] == {"turbne": "turbine"}
    assert "keyword" in answer.results[0].contributions


def test_published_profiles_search_for_what_was_typed(project, turbine):
    answer = search(project, "turbne", user=None, profile="fabric")
    assert answer.parsed.asked == "turbne"
    assert answer.parsed.slips == ()


def test_a_question_of_known_words_costs_no_statement_more(project, turbine):
    def statements(text, *, spelling):
        with CaptureQueriesContext(connection) as queries:
            understood(project, text, spelling=spelling)
        return len(queries)

    known, word = "who ordered the turbine", "did anything arrive terribly late"
    assert statements(known, spelling=True) == statements(known, spelling=False) == 1
    assert statements(word, spelling=True) == statements(word, spelling=False) + 1


def test_the_letters_of_a_project_are_those_its_words_are_written_in(project):
    project.language = "russian"
    project.save()
    make_node(project, "n", "Турбина остановилась вчера вечером.", language="russian")
    count_lexemes(project, always=True)
    letters = LexemeCount.objects.get(project=project).letters
    assert set("турбина") <= set(letters)
    assert not set("abc") & set(letters)
    assert meant(project, "где турбна") == {"турбна": "турбина"}


def test_a_dictionary_is_of_a_language():
    assert is_word("bearing", ["english"])
    assert not is_word("bearing", ["german"])
    assert is_word("lager", ["simple", "german"])
    assert not is_word("anything", ["simple"])
    assert not is_word("anything", ["klingon"])


def test_only_whole_words_are_replaced():
    slips = [Slip(said="berings", meant="bearings")]
    assert without_slips("berings, #berings berings2 (Berings)", slips) == (
        "bearings, #berings berings2 (Bearings)"
    )


def test_nothing_is_changed_where_nothing_was_counted(project):
    make_node(project, "n", SAID)
    assert meant(project, "who ordered the turbne?") == {}
    assert understood(project, "", spelling=True).typed == Filters()
