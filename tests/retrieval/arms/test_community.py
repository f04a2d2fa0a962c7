from __future__ import annotations

import pytest

from retrieval.models import Community
from retrieval.results import Filters
from tests.retrieval.arms.asking import ODD, ask_for, find, keys
from tests.retrieval.communities.worlds import CAKES, find_all, make_company, make_talk

pytestmark = pytest.mark.django_db


@pytest.fixture
def company(project, member):
    made = make_company(project, member)
    find_all(project)
    return made


def test_a_question_finds_all_members_of_its_community_the_nearest_first(
    project, company
):
    found = keys("community", project, "lemon cake for the anniversary")
    assert set(found[:4]) == {node.key for node in company["cakes"]}


def test_members_that_may_not_be_found_are_left_out(project, company):
    ask = ask_for(project, "lemon cake", filters=Filters(types=("email",)))
    assert find("community", ask) == []
    assert all("#" not in key for key in keys("community", project, "lemon cake"))
    assert "slack:cakes" not in keys("community", project, "lemon cake")


def test_three_users_find_members_of_communities_they_may_see(
    project, other_project, company, member, outsider, stranger
):
    make_talk(other_project, "theirs", CAKES)
    find_all(other_project)
    question = "Nightingale and the Velkast shipyard"
    secret = {node.key for node in company["board"]}
    assert secret <= set(keys("community", project, question, user=member))
    assert not secret & set(keys("community", project, question, user=outsider))
    assert keys("community", project, question, user=stranger) == []
    theirs = keys("community", other_project, "lemon cake", user=stranger)
    assert set(theirs) == {f"slack:theirs:{n}" for n in range(4)}


def test_a_private_community_makes_no_difference_to_an_outsider(
    project, company, outsider
):
    """Not by taking the place of one that they may see, either."""
    ask = ask_for(project, "Nightingale buys the Velkast pump", user=outsider)
    before = find("community", ask, options={"communities": 1})
    assert before[0].key.startswith("slack:pumps")
    Community.objects.filter(title__icontains="nightingale").delete()
    assert find("community", ask, options={"communities": 1}) == before


def test_hits_come_best_first_none_twice_within_the_pool(project, company):
    found = find("community", ask_for(project, "lemon cake pump"), pool=3)
    assert len(found) == 3
    assert len({hit.node_id for hit in found}) == 3
    scores = [hit.score for hit in found]
    assert scores == sorted(scores, reverse=True)


def test_it_is_found_by_words_alone_where_there_is_no_vector(project, company):
    Community.objects.update(embedding=None)
    assert "slack:cakes:1" in keys("community", project, "lemon cake")
    assert keys("community", project, "zeppelin") == []


def test_one_query_and_one_for_the_languages(
    project, company, django_assert_num_queries
):
    ask = ask_for(project, "lemon cake")
    with django_assert_num_queries(2):
        find("community", ask)


def test_without_communities_nothing_is_found(project):
    assert keys("community", project, "lemon cake") == []


@pytest.mark.parametrize("question", ODD)
def test_odd_questions_find_something_or_nothing_but_never_fail(
    project, company, question
):
    assert isinstance(keys("community", project, question), list)


def test_an_option_that_is_no_number_is_named(project, company):
    with pytest.raises(ValueError, match="members of the community arm"):
        find("community", ask_for(project, "cake"), options={"members": "many"})
