from __future__ import annotations

from datetime import UTC, datetime

import pytest

from retrieval.arms.tags import labels
from retrieval.frequencies import count_lexemes
from retrieval.results import Filters
from tests.factories import make_audience, make_edge, make_node
from tests.retrieval.arms.asking import ODD, ask_for, find, keys

pytestmark = pytest.mark.django_db


@pytest.fixture
def tagged(project, member):
    closed = make_audience(project, "slack:board", [member])
    for n in range(5):
        make_node(
            project,
            f"m{n}",
            "x",
            tags=["launch"],
            occurred_at=datetime(2026, 1, 1 + n, tzinfo=UTC),
        )
    make_node(project, "rare", "x", tags=["launch", "cold-store"])
    make_node(project, "secret", "x", tags=["cold-store"], audience=closed)
    file = make_node(project, "file:a.md", node_type="file", title="A", tags=["rota"])
    for n in (0, 1):
        part = make_node(
            project,
            f"file:a.md#{n}",
            f"part {n}",
            node_type="section",
            metadata={"position": n},
        )
        make_edge(part, file, "part_of")
    count_lexemes(project, always=True)


def test_labels_are_each_word_and_short_phrase_as_a_tag_may_spell_it():
    found = labels("The Cold store #Launch", ["Typed"])
    assert found[0] == "typed"
    assert {"cold-store", "cold_store", "cold store", "coldstore", "launch"} <= set(
        found
    )
    assert labels("") == []


def test_the_rarer_label_comes_first_then_the_latest(project, tagged, member):
    found = keys("tags", project, "launch of the cold store", user=member)
    assert found == ["rare", "secret", "m4", "m3", "m2", "m1", "m0"]


def test_a_typed_label_is_found(project, tagged):
    ask = ask_for(project, "anything", typed=Filters(tags=("#Cold-Store",)))
    assert {hit.key for hit in find("tags", ask)} == {"rare", "secret"}


def test_three_users_find_what_they_may_see(
    project, other_project, tagged, member, outsider, stranger
):
    make_node(other_project, "theirs", "x", tags=["cold-store"])
    assert set(keys("tags", project, "#cold-store", user=member)) == {"rare", "secret"}
    assert keys("tags", project, "#cold-store", user=outsider) == ["rare"]
    assert keys("tags", project, "#cold-store", user=stranger) == []
    assert keys("tags", other_project, "#cold-store", user=stranger) == ["theirs"]


def test_the_label_of_a_file_gives_one_of_its_sections(project, tagged):
    (hit,) = find("tags", ask_for(project, "rota"))
    assert hit.is_part
    assert hit.key in ("file:a.md#0", "file:a.md#1")


def test_the_label_of_a_file_that_may_not_be_seen_gives_nothing(
    project, tagged, outsider
):
    closed = make_audience(project, "slack:other")
    file = make_node(
        project, "file:b.md", node_type="file", tags=["plot"], audience=closed
    )
    part = make_node(project, "file:b.md#0", "open", node_type="section")
    make_edge(part, file, "part_of")
    assert keys("tags", project, "plot", user=outsider) == []
    assert keys("tags", project, "plot") == ["file:b.md#0"]


def test_one_query_and_none_without_words(project, tagged, django_assert_num_queries):
    ask, empty = ask_for(project, "launch"), ask_for(project, "?!")
    with django_assert_num_queries(1):
        find("tags", ask)
        assert find("tags", empty) == []


def test_no_more_than_the_pool_and_only_of_allowed_types(project, tagged):
    assert len(find("tags", ask_for(project, "launch"), pool=2)) == 2
    ask = ask_for(project, "launch", filters=Filters(types=("email",)))
    assert find("tags", ask) == []


@pytest.mark.parametrize("question", ODD)
def test_odd_questions_find_nothing_and_never_fail(project, tagged, question):
    assert keys("tags", project, question) == []
