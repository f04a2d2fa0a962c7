from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from connections.records import Failure, Record
from connections.sources.base import connectors
from connections.sources.slack import SlackConnector
from tests.connections.sources.slack_files import (
    DAY,
    T0,
    edges,
    make_message,
    of_messages,
    one,
)


def test_the_connector_is_registered_and_neither_complete_nor_personal():
    connector = connectors["slack"]

    assert connector is SlackConnector
    assert (connector.complete, connector.personal) == (False, False)


def test_a_message_says_who_when_and_where(tmp_path):
    found = one(
        tmp_path,
        text="Ship it <@U2> in <#C1>, see #Launch",
        edited={"user": "U1", "ts": "1683554300.000000"},
        reactions=[{"name": "+1", "count": 2}, {"name": "eyes", "count": 1}],
        files=[{"name": "plan.pdf", "permalink": "https://x.slack.com/f?t=secret"}],
    )
    (node,) = found.nodes

    assert found.key == node.key == f"slack:C1:{T0}"
    assert found.counted
    assert node.content == found.body == "Ship it @Bob Ray in #general, see #Launch"
    assert node.context == "Ann Lee · Monday 8 May 2023 · #general · plan.pdf"
    assert node.tags == ("launch",)
    assert node.occurred_at == datetime(2023, 5, 8, 13, 57, 20, 2, tzinfo=UTC)
    assert node.metadata == {
        "author": "Ann Lee",
        "channel": "#general",
        "ts": T0,
        "edited": "1683554300.000000",
        "reactions": 3,
        "files": [{"name": "plan.pdf", "url": "https://x.slack.com/f"}],
    }
    assert edges(found) == {
        ("sent_by", "slack-user:U1"): None,
        ("posted_in", "slack:C1"): Decimal(T0),
        ("mentions", "slack-user:U2"): None,
        ("mentions", "slack:C1"): None,
    }
    assert found.permalink == f"https://x.slack.com/archives/C1/p{T0.replace('.', '')}"


def test_bots_are_marked_whether_they_post_as_bots_or_users(tmp_path):
    posted = of_messages(
        tmp_path,
        make_message(user="U3", bot_id="B3"),
        make_message(user="", bot_id="B1", subtype="bot_message", ts="1683554241.0"),
        make_message(bot_id="B2", ts="1683554242.0"),
    )

    assert [r.nodes[0].metadata.get("bot", False) for r in posted] == [
        True,
        True,
        False,
    ]
    assert [r.edges[0].target for r in posted] == [
        "slack-user:U3",
        "slack-user:B1",
        "slack-user:U1",
    ]


def test_a_thread_holds_its_parent_and_replies_and_is_named_by_the_parent(tmp_path):
    late, shown = "1683554250.000000", "1683554260.000000"
    parent, reply, broadcast = of_messages(
        tmp_path,
        make_message(thread_ts=T0, reply_count=2, text="Which day do we launch?"),
        make_message(ts=late, thread_ts=T0, user="U2", text="Friday"),
        make_message(ts=shown, thread_ts=T0, subtype="thread_broadcast"),
    )
    thread = f"slack-thread:C1:{T0}"

    assert edges(parent)[("in_thread", thread)] == Decimal(T0)
    assert edges(parent)[("posted_in", "slack:C1")] == Decimal(T0)
    assert not [e for e in parent.edges if e.relation == "replied_to"]
    assert edges(reply) == {
        ("sent_by", "slack-user:U2"): None,
        ("posted_in", "slack:C1"): None,
        ("in_thread", thread): Decimal(late),
        ("participant", "slack-user:U2"): None,
        ("replied_to", f"slack:C1:{T0}"): None,
    }
    assert edges(broadcast)[("posted_in", "slack:C1")] == Decimal(shown)
    drafts = [r.nodes[1] for r in (parent, reply, broadcast)]
    best = max(drafts, key=lambda draft: draft.precedence)
    assert (best.key, best.title) == (thread, "Which day do we launch?")


def test_a_parent_without_a_thread_ts_belongs_to_its_thread_all_the_same(tmp_path):
    assert one(tmp_path, reply_count=1).nodes[1].key == f"slack-thread:C1:{T0}"


def test_a_deleted_parent_says_nothing_and_leaves_its_thread_to_the_replies(tmp_path):
    parent, reply = of_messages(
        tmp_path,
        make_message(subtype="tombstone", user="USLACKBOT", thread_ts=T0, text="gone"),
        make_message(ts="1683554250.000000", thread_ts=T0, text="I agree"),
    )

    assert parent.nodes[0].content == parent.nodes[0].context == parent.body == ""
    assert parent.nodes[0].metadata["deleted"] is True
    assert not [e for e in parent.edges if e.relation in ("sent_by", "participant")]
    assert reply.nodes[1].precedence > parent.nodes[1].precedence
    assert reply.nodes[1].title == "I agree"


def test_a_message_that_answers_itself_or_a_circle_of_two_ends(tmp_path):
    other = "1683554250.000000"
    itself, *_ = of_messages(
        tmp_path,
        make_message(thread_ts=T0, replies=[{"user": "U1", "ts": T0}]),
        make_message(ts=other, thread_ts="1683554260.000000"),
        make_message(ts="1683554260.000000", thread_ts=other),
    )

    assert not [e for e in itself.edges if e.relation == "replied_to"]


@pytest.mark.parametrize("subtype", ["channel_join", "group_leave", "pinned_item"])
def test_notices_are_counted_but_neither_found_nor_in_the_sequence(tmp_path, subtype):
    found = one(tmp_path, subtype=subtype, text="<@U1> has joined the channel")

    assert found.counted
    assert found.body == "@Ann Lee has joined the channel"
    assert found.nodes[0].content == found.nodes[0].context == ""
    assert found.nodes[0].metadata["subtype"] == subtype
    assert edges(found)[("posted_in", "slack:C1")] is None


def test_the_old_format_of_files_and_comments_is_read(tmp_path):
    found = one(
        tmp_path,
        subtype="file_comment",
        user=None,
        comment={"user": "U2", "comment": "nice"},
        file={"title": "Map", "url_private": "https://files.slack.com/m.png?t=xoxe-1"},
        text="<@U2|bob> commented on a file: nice",
    )

    assert found.edges[0].target == "slack-user:U2"
    assert found.nodes[0].metadata["files"] == [
        {"name": "Map", "url": "https://files.slack.com/m.png"}
    ]


@pytest.mark.parametrize(
    "ts",
    [
        1683554240.000002,
        None,
        "",
        "NaN",
        "1e9",
        "-1.0",
        "1683554240.000002\n",
        "99999999999.0",
        "9999999999.0",
        "٣.٠",  # noqa: RUF001
        {},
    ],
)
def test_a_time_that_is_none_fails_that_message_alone(tmp_path, ts):
    bad, good = of_messages(tmp_path, make_message(ts=ts), make_message())

    assert isinstance(bad, Failure)
    assert bad.item == f"general/{DAY}[0]"
    assert "ts" in bad.error
    assert isinstance(good, Record)


@pytest.mark.parametrize(("ts", "year"), [("1.000001", 1970), ("4089600000.5", 2099)])
def test_times_of_1970_and_2099_are_times(tmp_path, ts, year):
    found = one(tmp_path, ts=ts)

    assert found.occurred_at.year == year
    assert 0 <= found.version < 1 << 62


def test_a_thread_time_that_is_none_is_left_out_and_said(tmp_path):
    found = one(tmp_path, thread_ts="soon")

    assert len(found.nodes) == 1
    assert "'soon'" in found.warnings[0]


@pytest.mark.parametrize("item", [None, 1, "x", [], {"type": "event", "ts": T0}])
def test_an_item_that_is_no_message_fails_alone(tmp_path, item):
    found = of_messages(tmp_path, item, make_message())

    assert [type(i) for i in found] == [Failure, Record]


def test_a_broadcast_wins_over_the_same_reply_without_it(tmp_path):
    reply = {"ts": "1683554250.000000", "thread_ts": T0}
    plain, shown = of_messages(
        tmp_path,
        make_message(**reply),
        make_message(**reply, subtype="thread_broadcast"),
    )

    assert plain.key == shown.key
    assert shown.version > plain.version
