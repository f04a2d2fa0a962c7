from __future__ import annotations

import pytest

from graph.embed import embed_backlog
from retrieval.arms.filename import names
from retrieval.results import Filters
from tests.factories import make_audience, make_edge, make_node
from tests.retrieval.arms.asking import ODD, ask_for, find, keys

pytestmark = pytest.mark.django_db


def make_file(project, path, title, *sections, audience=None):
    file = make_node(
        project,
        f"file:{path}",
        node_type="file",
        title=title,
        metadata={"path": path},
        audience=audience,
    )
    for n, text in enumerate(sections):
        part = make_node(
            project,
            f"file:{path}#{n}",
            text,
            node_type="section",
            metadata={"position": n},
            audience=audience,
        )
        make_edge(part, file, "part_of")
    return file


@pytest.fixture
def named(project, member):
    closed = make_audience(project, "slack:board", [member])
    make_file(
        project,
        "ops/on-call-rota.md",
        "Who is on call",
        "In May it is Ann who carries the phone.",
        "Cakes are for everybody.",
    )
    make_file(project, "ops/budget-2026.md", "Budget of the harbour", "Nine millions.")
    make_file(
        project, "board/nightingale.md", "Nightingale", "The shipyard.", audience=closed
    )
    make_node(project, "fireflies:1", "", node_type="meeting", title="Pricing review")
    make_node(project, "email:1", "see file", node_type="email", title="Rota of June")
    make_node(
        project,
        "email:1#attachment-0",
        "a,b",
        node_type="email",
        title="rota-june.csv",
    )
    embed_backlog(project.pk)


def test_names_are_words_and_paths_as_typed():
    assert names("Where is ops/on-call-rota.md, please?") == [
        "where",
        "ops/on-call-rota.md",
        "please",
    ]
    assert names("is it?") == []


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("what is in on-call-rota.md?", "file:ops/on-call-rota.md#0"),
        ("the harbor budget", "file:ops/budget-2026.md#0"),
        ("what came of the pricing reveiw?", "fireflies:1"),
        ("rota-june", "email:1#attachment-0"),
    ],
)
def test_a_name_is_found_by_title_or_path_misspelt_too(project, named, question, first):
    assert keys("filename", project, question)[0] == first


def test_a_file_is_given_by_the_section_nearest_the_question_once(project, named):
    found = find("filename", ask_for(project, "rota: who gets cakes, everybody?"))
    sections = [hit for hit in found if "on-call" in hit.key]
    assert [hit.key for hit in sections] == ["file:ops/on-call-rota.md#1"]
    assert sections[0].is_part


def test_the_subject_of_a_mail_is_no_name_of_a_file(project, named):
    assert "email:1" not in keys("filename", project, "rota of june")


def test_three_users_find_what_they_may_see(
    project, other_project, named, member, outsider, stranger
):
    make_file(other_project, "nightingale.md", "Nightingale", "theirs")
    question = "the nightingale file"
    secret = "file:board/nightingale.md#0"
    assert keys("filename", project, question, user=member) == [secret]
    assert keys("filename", project, question, user=outsider) == []
    assert keys("filename", project, question, user=stranger) == []
    assert keys("filename", other_project, question, user=stranger) == [
        "file:nightingale.md#0"
    ]


def test_a_name_that_may_not_be_seen_finds_no_open_section_either(
    project, named, outsider
):
    closed = make_audience(project, "slack:other")
    file = make_node(
        project, "file:plot.md", node_type="file", title="Plot", audience=closed
    )
    part = make_node(project, "file:plot.md#0", "open", node_type="section")
    make_edge(part, file, "part_of")
    assert keys("filename", project, "plot", user=outsider) == []
    assert keys("filename", project, "plot") == ["file:plot.md#0"]


def test_stop_words_name_nothing(project, named):
    assert keys("filename", project, "who is on it and what for") == []


def test_filters_and_pool_are_kept(project, named):
    ask = ask_for(project, "budget rota review", filters=Filters(types=("meeting",)))
    assert [hit.key for hit in find("filename", ask)] == ["fireflies:1"]
    assert len(find("filename", ask_for(project, "budget rota review"), pool=1)) == 1


def test_two_queries_and_none_without_words(project, named, django_assert_num_queries):
    ask, empty = ask_for(project, "rota"), ask_for(project, "?!")
    with django_assert_num_queries(2):
        find("filename", ask)
        assert find("filename", empty) == []


@pytest.mark.parametrize("question", ODD)
def test_odd_questions_find_nothing_and_never_fail(project, named, question):
    assert keys("filename", project, question) == []
