from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from memory.agent.citations import REMOVED, CitationFilter

URLS = {"https://wiki.test/a": 1, "https://chat.test/p?x=(1)": 2}


def make() -> CitationFilter:
    return CitationFilter(lambda n: 1 <= n <= 9, URLS.get)


def filtered(text: str) -> str:
    return make().whole(text)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("The pump failed [3].", "The pump failed [1]."),
        ("A [7][3] b [3].", "A [1][2] b [2]."),
        ("A [3, 7] b", "A [1][2] b"),
        ("A [3; 7 ,4] b", "A [1][2][3] b"),
        ("A [2-4].", "A [1][2][3]."),
        ("A [[3]].", "A [1]."),
        ("A [[3], [4]].", "A [1][2]."),
        ("A 【3】 and \uff3b4\uff3d.", "A [1] and [2]."),
        ("A 【3†source】.", "A [1]."),
        ("A [\uff13].", "A [1]."),
        ("A [^3].", "A [1]."),
        ("A \\[3\\].", "A [1]."),
        ("A [3] b [12] c.", "A [1] b c."),
        ("A [12].", "A."),
        ("A [12]b", "A b"),
        ("A [3, 12].", "A [1]."),
        ("Code `a[12]` stays.", "Code `a[12]` stays."),
        ("```py\na[12]\n```\nb [12]", "```py\na[12]\n```\nb"),
        ("~~~\na[12]\n~~~\n", "```\na[12]\n```\n"),
        ("```\na[12]", "```\na[12]\n```"),
        ("A `b [3]", "A \\`b [1]"),
        ("[sic] and [x][3]", "[sic] and [x] [1]"),
        ("cut [3", "cut \\[3"),
        ("[1[12]]", "[1]"),
        ("[1`a`]", "[1`a`]"),
        ("A [3](so it says).", "A [1] (so it says)."),
        ("A 【3】(so it says).", "A [1] (so it says)."),
        ("A [3][12](b c)", "A [1] (b c)"),
        ("【3】()", "[1] ()"),
        ("[x]()", "x"),
        ("【3】: b", "[1] : b"),
    ],
)
def test_markers_are_numbered_by_first_use_and_unknown_ones_go(written, said):
    assert filtered(written) == said


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("See [the wiki](https://wiki.test/a).", "See the wiki [1]."),
        ("See [it](https://evil.test/?q=1).", "See it."),
        ('See [it](<https://evil.test> "a title").', "See it."),
        ("See [3](https://evil.test).", "See [1]."),
        ("![alt](https://evil.test/i.png)", "alt"),
        ("![](https://evil.test/i.png)", REMOVED),
        ("![a [b](https://evil.test)](https://evil.test)", "a b"),
        ("[a]: https://evil.test\nSee [x][a], [a], ![y][a].", "See x, a, y."),
        ("See [x][a].\n\n[a]: https://evil.test", "See x.\n\n"),
        ("[a]: https://wiki.test/a\nSee [x][a].", "See x [1]."),
        ("[https://bank.test](https://evil.test)", REMOVED),
        ("<https://evil.test> <https://wiki.test/a>", f"{REMOVED} [1]"),
        ("at https://evil.test/x?d=s.", f"at {REMOVED}."),
        ("at https://wiki.test/a.", "at [1]."),
        ("at www.evil.test and //evil.test/x", f"at {REMOVED} and {REMOVED}"),
        ("<img src=x onerror=y>", "&lt;img src=x onerror=y>"),
        ("a < b, <3", "a < b, <3"),
        ("ask ann@acme.test, 10:30 and/or n/a", "ask ann@acme.test, 10:30 and/or n/a"),
        ("> ``` x\n![i](https://evil.test) ```", "> \\`\\`\\` x\ni \\`\\`\\`"),
    ],
)
def test_only_citations_lead_anywhere(written, said):
    assert filtered(written) == said


def test_what_was_taken_out_is_counted():
    made = make()
    made.whole("A [12][13, 1] [b](https://evil.test) https://evil.test")
    assert (made.unknown_numbers, made.links_removed, made.cited) == (2, 2, {1: 1})


def test_a_marker_is_held_back_until_it_is_whole():
    made = make()
    told = [made.feed(part) for part in ("It failed", " [", "3", "]", ".")]
    assert told == ["It", " failed", "", "", " [1]."]
    assert made.close() == ""


PIECES = st.lists(
    st.sampled_from(
        [
            "word",
            " ",
            "\n",
            "\n\n",
            "[3]",
            "[",
            "]",
            "(",
            ")",
            "[12]",
            "[1, 2]",
            "【4】",
            "【",
            "`",
            "```",
            "~~~",
            "!",
            "![x](https://evil.test/i)",
            "[x](https://evil.test)",
            "[x](",
            "][",
            "[x][y]",
            "[y]: https://evil.test",
            "[y]:",
            "https://evil.test/a",
            "https://wiki.test/a",
            "http",
            "s://",
            "evil.test",
            "//evil.test",
            "www.",
            "<",
            "<https://evil.test>",
            "<img src='https://evil.test'>",
            "\\",
            "> ",
            "- ",
            "    ",
            "1",
            ":",
            "é",
            "\uff3b",
            "|",
            "*",
        ]
    ),
    max_size=14,
).map("".join)


@settings(max_examples=600, deadline=None)
@given(PIECES, st.data())
def test_any_chunks_of_a_text_give_the_same(text, data):
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=8).map(sorted))
    whole, parts = make(), make()
    places = [0, *cuts, len(text)]
    said = "".join(parts.feed(text[a:b]) for a, b in pairwise(places))
    assert said + parts.close() == whole.whole(text)
    assert (parts.cited, parts.unknown_numbers) == (whole.cited, whole.unknown_numbers)


def without_code(text: str) -> str:
    """Return what a reader of Markdown takes for text, links and images in it."""
    said = []
    for token in MarkdownIt("commonmark", {"linkify": False}).parse(text):
        for child in token.children or ():
            assert child.type not in ("link_open", "image", "html_inline"), text
            if child.type == "text":
                said.append(child.content)
            elif child.type in ("softbreak", "hardbreak", "code_inline"):
                said.append(" ")
        assert token.type != "html_block", text
        said.append("\N{PILCROW SIGN}")  # two blocks hold no marker together
    return "".join(said)


@settings(max_examples=800, deadline=None)
@given(PIECES)
def test_a_reader_of_markdown_finds_no_link_no_image_and_only_citations(text):
    made = make()
    said = made.whole(text)
    seen = without_code(said)
    numbers = {int(n) for n in re.findall(r"\[\s*(\d+)\s*\]", seen)}
    assert numbers <= set(made.cited.values()), said
    assert "evil.test/" not in re.sub(r"`[^`\n]+`", "", seen), said
