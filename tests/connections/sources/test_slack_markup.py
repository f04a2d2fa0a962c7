from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connections.sources.slack_markup import Markup, Names, flatten

NAMES = Names({"U1": "Ann Lee", "U2": "Bob"}, {"C1": "general", "D1": "Ann Lee, Bob"})


def words(text: str) -> str:
    return Markup(NAMES).mrkdwn(text)


def said(**message: object):
    return flatten(message, NAMES)  # type: ignore[arg-type]  # hostile on purpose


def rich(*elements: dict) -> list[dict]:
    return [{"type": "rich_text", "elements": list(elements)}]


def section(*elements: dict) -> dict:
    return {"type": "rich_text_section", "elements": list(elements)}


def word(text: str, **style: bool) -> dict:
    return {"type": "text", "text": text, "style": style}


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("hi <@U1>!", "hi @Ann Lee!"),
        ("<@U9|zoe> and <@U9>", "@zoe and @U9"),
        ("<#C1> <#C1|> <#C9|random> <#C9>", "#general #general #random #C9"),
        ("<!here> <!channel> <!everyone>", "@here @channel @everyone"),
        ("<!subteam^S1|@ops> <!subteam^S1>", "@ops @S1"),
        ("<!date^1392734382^{date_num}|2014-02-18>", "2014-02-18"),
        ("<!date^1392734382^{date_num}>", "1392734382"),
        ("<https://a.test/x?a=1&amp;b=2|docs>", "docs (https://a.test/x?a=1&b=2)"),
        ("<https://a.test>", "https://a.test"),
        ("call <http://rep.int|rep.int>()", "call rep.int()"),
        ("<mailto:a@b.test|a@b.test>", "a@b.test"),
        ("<mailto:a@b.test|write>", "write (mailto:a@b.test)"),
        (":wave: *b* _i_ ~s~ `c`", ":wave: *b* _i_ ~s~ `c`"),
        ("a &lt;- b &amp;&amp; c &gt; d", "a <- b && c > d"),
        ("&amp;lt;@U1&amp;gt;", "&lt;@U1&gt;"),
        ("typed &lt;@U1&gt;", "typed <@U1>"),
        ("<b>bold</b>", "<b>bold</b>"),
        ("cut <@U1", "cut @U1"),
        ("<>", ""),
    ],
)
def test_markup_becomes_words(markup, expected):
    assert words(markup) == expected


@given(st.text(alphabet="<>|@#!^U1C:/ht.pa\n ~`*", max_size=60))
def test_no_token_is_left_however_broken_the_markup(text):
    assert not re.search(r"<[@#!]|<https?:|<mailto:", words(text))


KEYS = (
    "type text elements style indent offset fields user_id url title value rows "
    "fallback from_url name skin_tone blocks range"
)
TYPES = ("rich_text", "rich_text_list", "user", "link", "table", "mrkdwn")
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.floats(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(KEYS.split()), inner | st.sampled_from(TYPES), max_size=5
        )
    ),
    max_leaves=20,
)


@given(json_values, json_values, json_values)
def test_blocks_and_attachments_of_any_shape_never_raise(text, blocks, attachments):
    flatten({"text": text, "blocks": blocks, "attachments": attachments}, NAMES)


def test_the_same_words_in_text_and_blocks_are_said_once():
    blocks = rich(
        section(
            word("Dear "),
            {"type": "user", "user_id": "U1"},
            word(", see "),
            {"type": "link", "url": "https://a.test/?a=1&amp;b=2", "text": "this"},
            {"type": "emoji", "name": "thumbsup", "skin_tone": 2},
        )
    )
    found = said(
        text="Dear <@U1>, see <https://a.test/?a=1&amp;b=2|this>:+1::skin-tone-2:",
        blocks=blocks,
    )

    assert found.content == (
        "Dear @Ann Lee, see this (https://a.test/?a=1&b=2):thumbsup::skin-tone-2:"
    )
    assert found.people == {"U1": 1}


def test_rich_text_is_preferred_to_its_marked_up_twin():
    blocks = rich(section(word("very ", bold=True), word("good")))

    assert said(text="*very* good", blocks=blocks).content == "very good"


def test_text_that_the_blocks_do_not_say_is_kept():
    blocks = [
        {"type": "section", "text": {"type": "mrkdwn", "text": "*Closed* by Bob"}}
    ]

    assert said(text="[repo] Issue", blocks=blocks).content == (
        "*Closed* by Bob\n[repo] Issue"
    )


def test_text_that_says_all_the_blocks_say_and_more_stands_alone():
    blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": "Issue closed"}}]

    assert said(text="[repo] Issue closed", blocks=blocks).content == (
        "[repo] Issue closed"
    )


def test_an_unfurl_never_replaces_the_speakers_own_words():
    card = {"from_url": "https://n.test", "text": "Old news, more of it"}

    assert said(text="Old news", attachments=[card]).content == (
        "Old news\n> Old news, more of it"
    )


def test_lists_quotes_and_code_keep_their_shape():
    bullets = {"type": "rich_text_list", "style": "bullet", "indent": 0}
    numbers = {"type": "rich_text_list", "style": "ordered", "indent": 1, "offset": 2}
    found = said(
        blocks=rich(
            section(word("Plan\n")),
            bullets | {"elements": [section(word("one")), section(word("two"))]},
            numbers | {"elements": [section(word("deep"))]},
            {"type": "rich_text_quote", "elements": [word("she said\nthis")]},
            {"type": "rich_text_preformatted", "elements": [word("x <- 1")]},
            section(word("ls -l", code=True)),
        )
    )

    assert found.content == (
        "Plan\n- one\n- two\n  3. deep\n> she said\n> this\n```\nx <- 1\n```\n`ls -l`"
    )


def test_rich_channels_groups_and_broadcasts_are_named():
    found = said(
        blocks=rich(
            section(
                {"type": "channel", "channel_id": "C1"},
                word(" "),
                {"type": "broadcast", "range": "channel"},
                word(" "),
                {"type": "usergroup", "usergroup_id": "S1"},
                word(" "),
                {"type": "color", "value": "#2673D9"},
            )
        )
    )

    assert found.content == "#general @channel @S1 #2673D9"
    assert found.channels == {"C1": 1}


def test_tables_headers_contexts_and_pictures_are_read():
    cell = {"type": "raw_text", "text": "Ann"}
    rich_cell = {"type": "rich_text", "elements": [section(word("8 May"))]}
    found = said(
        blocks=[
            {"type": "header", "text": {"type": "plain_text", "text": "Launch"}},
            {"type": "context", "elements": [{"type": "mrkdwn", "text": "by <@U2>"}]},
            {"type": "image", "alt_text": "A rocket", "title": None},
            {"type": "section", "fields": [{"type": "mrkdwn", "text": "*Due* now"}]},
            {"type": "table", "rows": [[cell, rich_cell]]},
            {"type": "actions", "elements": [{"type": "button"}]},
        ]
    )

    assert found.content == ("Launch\nby @Bob\nA rocket\n*Due* now\nAnn | 8 May")


def test_a_bots_card_is_its_words_and_an_unfurl_is_quoted():
    card = {
        "title": "Build 7",
        "title_link": "https://ci.test/7",
        "text": "failed",
        "fields": [{"title": "Branch", "value": "main"}],
        "fallback": "no",
    }
    unfurl = {"from_url": "https://n.test", "title": "News", "text": "line\nnext"}
    found = said(text="look", attachments=[card, unfurl])

    assert found.content == (
        "look\nBuild 7 (https://ci.test/7)\nfailed\nBranch: main\n"
        "> News (https://n.test)\n> line\n> next"
    )


def test_a_card_without_words_falls_back_and_mentions_in_it_are_not_the_speakers():
    found = said(text="", attachments=[{"fallback": "ping <@U1>"}])

    assert found.content == "ping @Ann Lee"
    assert not found.people


def test_mentions_are_counted_once_for_text_and_blocks_together():
    blocks = rich(section({"type": "user", "user_id": "U1"}))

    assert said(text="<@U1> <@U1> <@U2>", blocks=blocks).people == {"U1": 2, "U2": 1}


def test_labels_are_tags_but_channels_and_code_are_not():
    found = said(text="#Launch in #general <#C9|random> `#include` ```\n#define x\n```")

    assert found.tags == ("launch",)
