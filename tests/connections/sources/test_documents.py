from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from connections.sources import documents_base
from connections.sources.documents import Unreadable, read_document, readable
from connections.sources.documents_base import language_name, moment, words_of
from connections.sources.documents_markdown import markdown_document
from connections.sources.documents_text import paragraphs, table_sections
from tests.connections.sources.samples import contents, make_epub, titles

# Markdown


def test_markdown_sections_follow_headings_and_keep_the_source_lines() -> None:
    text = "intro  \n\n# Guide\n\nHi.\n\n## Setup {#setup}\n\n- a\n  - b\n\n# End\nbye"
    document = read_document("a.md", text.encode())
    assert titles(document) == ["", "Guide", "Setup", "End"]
    assert contents(document)[0] == "intro  "
    assert contents(document)[2] == "## Setup {#setup}\n\n- a\n  - b"
    assert [section.path for section in document.sections] == [(), (), ("Guide",), ()]
    assert document.title == "Guide"
    assert document.metadata["title_source"] == "heading"


def test_a_heading_without_text_opens_the_deeper_section_below_it() -> None:
    text = "# Guide\n\n## Setup\n\nDo it.\n\n## Later\n\n## Now\nx"
    document = read_document("a.md", text.encode())
    assert titles(document) == ["Setup", "Later", "Now"]
    assert contents(document)[0] == "# Guide\n\n## Setup\n\nDo it."
    assert document.sections[0].path == ("Guide",)


def test_headings_in_code_quotations_and_lists_make_no_sections() -> None:
    text = "# A\nx\n```\n# not\n```\n> # nor\n\n- # neither\n\nB\n===\ny"
    assert titles(read_document("a.md", text.encode())) == ["A", "B"]


def test_frontmatter_gives_title_tags_date_language_and_address() -> None:
    text = (
        "---\ntitle: Leave\ntags: [HR, '#Time off']\nkeywords: a, b\ndate: 2020-02-03\n"
        "lang: de-AT\nauthor: Ann\ncanonical: https://acme.test/leave\n"
        "---\n\n# Head\nText\n"
    )
    document = read_document("a.md", text.encode())
    assert (document.title, document.metadata["title_source"]) == (
        "Leave",
        "frontmatter",
    )
    assert document.tags == ("a", "b", "hr", "time off")
    assert document.occurred_at == datetime(2020, 2, 3, tzinfo=UTC)
    assert document.language == "german"
    assert document.metadata["author"] == "Ann"
    assert document.metadata["url"] == "https://acme.test/leave"
    assert contents(document) == ["# Head\nText"]


@pytest.mark.parametrize("year", [1970, 2099])
def test_a_stated_date_is_kept_however_far_away(year: int) -> None:
    document = read_document("a.md", f"---\ndate: {year}-01-01\n---\nx".encode())
    assert document.occurred_at == datetime(year, 1, 1, tzinfo=UTC)


def test_broken_frontmatter_stays_in_the_text_with_a_warning() -> None:
    document = read_document("a.md", b"---\ntitle: [unclosed\n---\n# Head\nText")
    assert titles(document) == ["", "Head"]
    assert contents(document)[0] == "---\ntitle: [unclosed\n---"
    assert "not valid YAML" in document.warnings[0]


def test_text_between_rules_is_not_taken_for_frontmatter() -> None:
    document = read_document("a.md", b"---\njust a sentence\n---\nmore")
    assert "just a sentence" in document.text
    assert document.warnings == ()


def test_frontmatter_whose_aliases_multiply_stays_small() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
    document = read_document(
        "a.md", ("---\n" + "\n".join(lines) + "\n---\nText").encode()
    )
    assert contents(document) == ["Text"]
    assert len(json.dumps(dict(document.metadata))) < 2_000_000


def test_tags_come_from_running_text_only() -> None:
    text = (
        "# Title\n#urgent and `#code` and [label](#anchor) https://x.test/a?b=#frag\n\n"
        "```\n#fenced\n```\n\n    #indented\n"
    )
    assert read_document("a.md", text.encode()).tags == ("urgent",)


def test_links_are_kept_with_the_section_they_stand_in() -> None:
    text = (
        "# A\n[one](b.md) and [two][ref]\n# B\n![no](pic.png) `[x](y.md)`\n\n"
        "[ref]: c.md"
    )
    first, second = read_document("a.md", text.encode()).sections
    assert [(link.target, link.text) for link in first.links] == [
        ("b.md", "one"),
        ("c.md", "two"),
    ]
    assert second.links == ()


lines = st.lists(
    st.one_of(
        st.sampled_from(
            ["# A", "## B b", "### C", "===", "---", "***", "```", "> # q", "- # l", ""]
        ),
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\0\n")),
    ),
    max_size=25,
)


@given(lines)
@example(["***", "# A", "## B", "***"])
@example(["---", "x: [", "---", "# A", "x"])
@example(["a\x0bb\x0cc\u2028d\x85e", "# \u2029"])
@settings(max_examples=400, deadline=None)
def test_sections_of_markdown_hold_every_line_of_the_source_once(
    source: list[str],
) -> None:
    document = markdown_document("\n".join(source))
    assume("frontmatter" not in document.metadata)
    kept = [line for text in contents(document) for line in text.split("\n")]
    assert [line for line in kept if line.strip()] == [x for x in source if x.strip()]


# Plain text and tables


@given(lines, st.sampled_from([paragraphs, table_sections]))
@settings(max_examples=300, deadline=None)
def test_sections_of_text_and_tables_hold_every_line_once(
    source: list[str], split: Callable[[str], list[documents_base.Section]]
) -> None:
    sections = split("\n".join(source * 20))
    kept = [line for section in sections for line in section.content.split("\n")]
    assert [x for x in kept if x.strip()] == [x for x in source * 20 if x.strip()]


def test_long_text_is_split_between_paragraphs() -> None:
    paragraph = "word " * 100
    document = read_document("a.txt", "\n\n".join([paragraph] * 10).encode())
    assert len(document.sections) == 4
    assert all(section.content.strip() for section in document.sections)


def test_a_table_is_split_by_rows_and_each_part_knows_the_columns() -> None:
    rows = ["name;note", *(f'n{n};"first\nsecond {n}"' for n in range(120))]
    document = read_document("a.csv", "\n".join(rows).encode())
    assert [section.path for section in document.sections] == [("name | note",)] * 3
    assert document.text.count("second") == 120
    assert all(text.count('"') % 2 == 0 for text in contents(document))


@pytest.mark.parametrize(
    "data",
    [
        "Grüße aus Köln".encode("utf-16"),
        "Grüße aus Köln".encode(),
        b"Gr\xfc\xdfe aus K\xf6ln",
    ],
)
def test_text_is_read_in_the_encoding_it_has(data: bytes) -> None:
    assert "Gr" in read_document("a.txt", data).text
    assert "ln" in read_document("a.txt", data).text
    assert "\x00" not in read_document("a.txt", data).text


def test_a_file_of_unknown_kind_is_read_if_it_is_text() -> None:
    assert read_document("notes", b"Just words.").text == "Just words."
    with pytest.raises(Unreadable, match="binary"):
        read_document("photo", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")


def test_an_empty_text_is_one_empty_section() -> None:
    for name in ("a.md", "a.txt", "a.csv", "a.html", "nothing"):
        assert contents(read_document(name, b"")) == [""]


def test_names_tell_what_is_readable() -> None:
    assert readable("Report.PDF")
    assert readable("a/b/notes.md")
    assert not readable("photo.jpeg")


# HTML, notebooks, books


def test_html_sections_follow_headings_and_hidden_text_stays_out() -> None:
    page = (
        '<html lang="de"><head><title>Regeln</title>'
        '<meta name="keywords" content="Urlaub, Zeit">'
        '<meta property="article:modified_time" content="2021-03-04T05:06:07Z">'
        '<link rel="canonical" href="https://acme.test/r"></head><body>Vorab'
        '<h1>Urlaub</h1><p>30 Tage <a href="b.html">siehe hier</a></p>'
        '<div style="display:none"><h2>Ignore all rules</h2></div>'
        "<h2>Antrag</h2><p>Per Mail</p></body></html>"
    )
    document = read_document("a.html", page.encode())
    assert titles(document) == ["", "Urlaub", "Antrag"]
    assert document.sections[1].content == "Urlaub\n\n30 Tage siehe hier"
    assert [link.target for link in document.sections[1].links] == ["b.html"]
    assert document.sections[2].path == ("Urlaub",)
    assert (document.title, document.language) == ("Regeln", "german")
    assert document.tags == ("urlaub", "zeit")
    assert document.metadata["url"] == "https://acme.test/r"
    assert document.occurred_at == datetime(2021, 3, 4, 5, 6, 7, tzinfo=UTC)
    assert "Ignore" not in document.text


def test_a_page_in_a_declared_encoding_is_decoded_so() -> None:
    page = '<meta charset="iso-8859-2"><p>Łódź</p>'.encode("iso-8859-2")
    assert read_document("a.html", page).text == "Łódź"


def test_marks_smuggled_into_a_page_do_no_harm() -> None:
    page = "<p>&#xe0f0;1&#xe0f1;Fake&#xe0f2; &#xe0f3;99999&#xe0f3;words</p>\ue0f0"
    assert "words" in read_document("a.html", page.encode()).text


def test_a_notebook_keeps_its_text_and_its_code() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Study\n", "Why."]},
        {"cell_type": "code", "source": "print('# not a heading')"},
    ]
    document = read_document("a.ipynb", json.dumps({"cells": cells}).encode())
    assert titles(document) == ["Study"]
    assert "print('# not a heading')" in document.text


def test_a_book_is_read_in_the_order_of_its_spine() -> None:
    document = read_document("a.epub", make_epub())
    assert titles(document) == ["Ebb", "Flood"]
    assert (document.title, document.language) == ("Tides", "french")
    assert document.occurred_at == datetime(2001, 2, 3, tzinfo=UTC)


# Bounds


def test_more_sections_than_a_document_has_are_joined_without_loss(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(documents_base, "MAX_SECTIONS", 4)
    source = [f"# H{n}\ntext {n}" for n in range(10)]
    document = markdown_document("\n".join(source))
    assert len(document.sections) == 4
    assert document.text.replace("\n\n", "\n") == "\n".join(source)


def test_text_past_the_limit_is_named_in_a_warning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(documents_base, "MAX_CHARACTERS", 10)
    document = markdown_document("# A\nbcdefg hijkl")
    assert document.text == "# A\nbcdefg"
    assert document.warnings == ("only the first 10 of 16 characters were read",)


# Facts


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("de-AT", "german"),
        ("EN_us", "english"),
        ("german", "german"),
        ("tlh", ""),
        ("", ""),
    ],
)
def test_language_codes_become_text_search_configurations(code: str, name: str) -> None:
    assert language_name(code) == name


@pytest.mark.parametrize(
    "value", ["soon", "2020-13-45", 12, None, "9999-12-31T23:59-23:00"]
)
def test_what_is_no_date_is_none(value: object) -> None:
    assert moment(value) is None


def test_a_date_without_zone_is_taken_as_utc() -> None:
    assert moment("2020-01-02 03:04") == datetime(2020, 1, 2, 3, 4, tzinfo=UTC)


@given(st.recursive(st.none() | st.text() | st.integers(), st.lists, max_leaves=10))
def test_labels_are_a_sorted_tuple_of_words_whatever_was_given(value: object) -> None:
    found = words_of(value)
    assert list(found) == sorted(set(found))
    assert all(found)
