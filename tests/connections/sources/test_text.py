from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connections.sources.text import (
    decode_bytes,
    find_tags,
    html_to_text,
    known_charset,
    storable,
    tidy,
)


@pytest.mark.parametrize(
    "hidden",
    [
        '<p style="display:none">secret</p>',
        "<p hidden>secret</p>",
        '<p style="color: #FFFFFF">secret</p>',
        '<p style="font-size:0px">secret</p>',
        '<p style="max-height:0">secret</p>',
        '<p style="opacity:0">secret</p>',
        "<script>secret</script>",
        "<!-- secret -->",
        "<style>.x{display:none}</style><p class=x>secret</p>",
        "<template>secret</template>",
    ],
)
def test_hidden_text_stays_out(hidden):
    assert html_to_text(f"<div>seen</div>{hidden}") == "seen"


def test_text_on_a_coloured_ground_is_seen():
    page = '<p style="background:#036"><a style="color:#fff">Pay now</a></p>'
    assert html_to_text(page) == "Pay now"
    assert html_to_text('<p style="background-color:white">ink</p>') == "ink"


def test_what_only_a_small_screen_hides_is_seen():
    css = "<style>@media (max-width:9px){.x{display:none}}</style>"
    assert html_to_text(f"{css}<p class=x>seen</p>") == "seen"


def test_an_unreadable_style_sheet_hides_nothing():
    assert html_to_text("<style>:::{display:none} {</style><p>seen</p>") == "seen"


def test_lines_of_a_quotation_are_marked_once_however_deep():
    page = "<p>new</p><blockquote>old<blockquote>older</blockquote></blockquote>"
    assert html_to_text(page) == "new\n\n> old\n> older"


def test_a_selector_names_further_quotations():
    page = "<p>new</p><div id=x><p>old</p></div>"
    assert html_to_text(page, "#x") == "new\n\n> old"


def test_a_link_keeps_a_target_that_its_label_does_not_say():
    page = '<a href="https://a.test/x">here</a> <a href="https://b.test">https://b.test</a>'
    assert html_to_text(page) == "here (https://a.test/x) https://b.test"


def test_line_breaks_of_the_markup_are_blanks_save_in_preformatted_text():
    page = (
        "<p>one\n  two</p><pre>a\n  b</pre><table><tr><td>x</td><td>y</td></tr></table>"
    )
    assert html_to_text(page) == "one two\n\na\n  b\n\nx y"


@pytest.mark.parametrize(
    "page",
    [
        "<div>" * 20_000 + "x",
        "<blockquote>" * 20_000 + "x",
        "<a href='http://x'>" * 5_000 + "x",
        "<p>word</p>" * 20_000,
        "x" + " " * 500_000 + "y",
    ],
    ids=["nested", "quoted", "links", "flat", "blank"],
)
def test_a_hostile_page_takes_linear_time(page):
    began = time.monotonic()
    html_to_text(page)
    assert time.monotonic() - began < 10


@given(st.text())
def test_the_text_of_any_page_can_be_stored(page):
    text = html_to_text(page)
    assert storable(text) == text
    text.encode()


@given(st.text(alphabet=st.characters()))
def test_tidying_twice_changes_nothing_more(text):
    once = tidy(text)
    assert tidy(once) == once
    assert "\x00" not in once
    once.encode()


@given(st.binary(max_size=200), st.text(max_size=20))
def test_any_bytes_decode_under_any_declaration(raw, declared):
    assert isinstance(decode_bytes(raw, declared), str)


@pytest.mark.parametrize(
    ("raw", "declared", "text"),
    [
        ("Grüße".encode("latin-1"), "iso-8859-1", "Grüße"),
        (b"\x93quoted\x94", "ISO-8859-1", "“quoted”"),
        ("Grüße".encode(), "us-ascii", "Grüße"),
        ("Grüße".encode(), "x-unknown", "Grüße"),
        ("日本".encode("iso2022_jp"), "iso-2022-jp", "日本"),
        (b"\\u0041", "unicode_escape", "\\u0041"),
        (b"\xef\xbb\xbfmark", "", "mark"),
    ],
)
def test_bytes_are_read_as_declared_then_as_utf_8(raw, declared, text):
    assert decode_bytes(raw, declared) == text


def test_codecs_that_are_no_charsets_are_not_known():
    assert known_charset("utf-8")
    assert not any(map(known_charset, ("", "x-unknown", "punycode", "rot13")))


def test_labels_are_found_once_and_addresses_hold_none():
    assert find_tags("#Launch #launch #q3-plan https://a.test/#top a#b #1") == (
        "launch",
        "q3-plan",
    )


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("#3d-printing in #2026q3", ("2026q3", "3d-printing")),
        ("#12 and #2026 are numbers", ()),
        ("#fff #1f2937 #AABBCC11 are colours, #cafe is none", ("cafe",)),
        ("`#define` and ```\n#include\n``` are code", ()),
        ("<#C123|general> and <#C42>", ()),
        ("mailto:a@b.test?x=#y https://a.test/p#Top", ()),
        ("(#Alpha), #beta-; #gamma_", ("alpha", "beta", "gamma")),
        ("#a", ()),
    ],
)
def test_what_is_no_label_is_not_taken_for_one(text, tags):
    assert find_tags(text) == tags
