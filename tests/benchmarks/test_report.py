from __future__ import annotations

import pytest

from benchmarks.report import (
    Table,
    Unavailable,
    sampled,
    sizes,
    write_results,
)

PAGE = """# One
<!-- results: one -->
old
<!-- end -->
between
<!-- results: two -->
kept
<!-- end -->
"""


def test_results_replace_those_of_their_benchmark_alone(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    write_results(page, "one", "new\nlines")
    assert page.read_text() == PAGE.replace("old", "new\nlines")


@pytest.mark.parametrize("page", ["", "<!-- results: one -->\nno end\n"])
def test_a_page_without_marks_is_left_alone(tmp_path, page):
    path = tmp_path / "page.md"
    path.write_text(page)
    with pytest.raises(Unavailable, match="has no marks"):
        write_results(path, "one", "new")
    assert path.read_text() == page


def test_a_table_stands_under_its_caption():
    table = Table("a", "b", caption="Above")
    table.add(1, None)
    assert table.markdown() == "Above\n\n| a | b |\n| --- | --- |\n| 1 |  |"


@pytest.mark.parametrize(
    ("given", "meant"),
    [("", [50_000]), ("5000", [5000]), ("50_000, 200000", [50_000, 200_000])],
)
def test_sizes_are_a_comma_list(monkeypatch, given, meant):
    monkeypatch.setenv("FABRIC_BENCH_SIZE", given)
    assert sizes() == meant


@pytest.mark.parametrize("given", ["12", "many", "5000,", "-5000", "5000;6000"])
def test_a_size_that_is_none_is_named(monkeypatch, given):
    monkeypatch.setenv("FABRIC_BENCH_SIZE", given)
    with pytest.raises(Unavailable, match="FABRIC_BENCH_SIZE"):
        sizes()


def test_a_sample_is_spread_over_all_questions(monkeypatch):
    questions = list(range(100))
    monkeypatch.setenv("FABRIC_BENCH_QUESTIONS", "4")
    assert sampled(questions) == [0, 25, 50, 75]
    monkeypatch.setenv("FABRIC_BENCH_QUESTIONS", "1000")
    assert sampled(questions) == questions
    monkeypatch.delenv("FABRIC_BENCH_QUESTIONS")
    assert sampled(questions) == questions
    monkeypatch.setenv("FABRIC_BENCH_QUESTIONS", "few")
    with pytest.raises(Unavailable, match="FABRIC_BENCH_QUESTIONS"):
        sampled(questions)
