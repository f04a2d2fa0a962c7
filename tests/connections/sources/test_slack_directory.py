from __future__ import annotations

import pytest

from connections.records import AudienceDraft, Identity
from tests.connections.sources.slack_files import (
    DAY,
    ROOT,
    T0,
    edges,
    make_message,
    pull,
    records,
    write,
)


def test_accounts_carry_their_identities_and_bots_no_name(tmp_path):
    found = records(write(tmp_path, ROOT))
    account, address = found["slack-user:U1"].nodes
    names = ("Ann Lee", "annie")

    assert account.title == "Ann Lee"
    assert account.context == "Slack account @ann, Engineer"
    assert account.identity == Identity("chat", "ann@acme.test", names)
    assert address.key == "person:ann@acme.test"
    assert address.identity == Identity("mail", "ann@acme.test", names)
    assert len(found["slack-user:U2"].nodes) == 1
    assert found["slack-user:U3"].nodes[0].identity == Identity("chat")
    assert found["slack-user:U3"].nodes[0].metadata["bot"] is True
    assert not any(record.counted for record in found.values())


def test_records_come_as_accounts_then_channels_then_messages(tmp_path):
    write(tmp_path, ROOT | {f"general/{DAY}": [make_message()]})

    assert [item.kind for item in pull(tmp_path)] == [
        *["account"] * 3,
        "channel",
        "message",
    ]


def test_a_channel_has_its_topic_and_is_public(tmp_path):
    found = records(write(tmp_path, ROOT))["slack:C1"]

    assert found.nodes[0].title == "#general"
    assert found.nodes[0].content == "All & more"
    assert found.audience.kind == "public"


def test_private_and_direct_conversations_are_for_their_members(tmp_path):
    closed = {
        "groups.json": [{"id": "G1", "name": "board", "members": ["U1", "U2", "U9"]}],
        "dms.json": [{"id": "D1", "members": ["U1", "U2"]}],
        "mpims.json": [{"id": "G2", "name": "mpdm-a--b-1", "members": ["U2", "U3"]}],
    }
    days = {f"{f}/{DAY}": [make_message()] for f in ("board", "D1", "mpdm-a--b-1")}
    found = records(write(tmp_path, ROOT | closed | days))

    assert found["slack:G1"].audience == AudienceDraft(
        "members",
        "slack:G1",
        ("ann@acme.test", "slack-user:U2", "slack-user:U9"),
        "#board",
    )
    assert found["slack:D1"].nodes[0].title == "Ann Lee, Bob Ray"
    assert found["slack:D1"].audience.members == ("ann@acme.test", "slack-user:U2")
    for key in ("G1", "D1", "G2"):
        audience = found[f"slack:{key}:{T0}"].audience
        assert audience == AudienceDraft("members", f"slack:{key}", None)


def test_a_private_channel_that_is_also_listed_as_public_stays_private(tmp_path):
    twice = {"id": "C1", "name": "general", "members": ["U1"]}
    found = records(write(tmp_path, ROOT | {"groups.json": [twice]}))

    assert found["slack:C1"].audience.kind == "members"


def test_a_private_flag_in_the_public_list_counts(tmp_path):
    flagged = {"id": "C7", "name": "hr", "is_private": True, "members": ["U1"]}
    found = records(write(tmp_path, ROOT | {"channels.json": [flagged]}))

    assert found["slack:C7"].audience.members == ("ann@acme.test",)


def test_the_audience_the_operator_decides_holds_for_everything(tmp_path):
    decided = AudienceDraft("private", "me")
    write(tmp_path, ROOT | {f"D12345678/{DAY}": [make_message()]})

    assert {item.audience for item in pull(tmp_path, decided)} == {decided}


def test_a_folder_that_no_list_names_is_a_public_channel_of_its_name(tmp_path):
    topic = make_message(subtype="channel_topic", topic="Old &lt;things&gt;")
    found = records(write(tmp_path, ROOT | {f"attic/{DAY}": [topic]}))

    assert found["slack:attic"].nodes[0].title == "#attic"
    assert found["slack:attic"].nodes[0].content == "Old <things>"
    assert found["slack:attic"].audience.kind == "public"
    assert f"slack:attic:{T0}" in found
    assert found["slack:attic"].version < 0


@pytest.mark.parametrize("folder", ["D0123ABCDE", "G0123ABCDE", "mpdm-ann--bob-1"])
def test_an_unlisted_direct_folder_is_for_those_who_wrote_in_it(tmp_path, folder):
    found = records(write(tmp_path, ROOT | {f"{folder}/{DAY}": [make_message()]}))

    assert found[f"slack:{folder}"].audience.members == ("ann@acme.test",)
    assert found[f"slack:{folder}:{T0}"].audience.kind == "members"


def test_an_unlisted_folder_beside_private_ones_may_be_private(tmp_path):
    closed = {"groups.json": [{"id": "G1", "name": "board", "members": ["U1"]}]}
    files = ROOT | closed | {f"attic/{DAY}": [make_message(user="U2")]}

    assert records(write(tmp_path, files))["slack:attic"].audience.members == (
        "slack-user:U2",
    )


def test_authors_that_no_list_names_get_an_account_that_a_listed_one_replaces(tmp_path):
    profile = {"real_name": "Zoe Kim", "display_name": "zoe", "name": "zoe"}
    messages = [
        make_message(user="U8", user_profile=profile, text="<@U7|max> and <@W5X>"),
        make_message(user="", bot_id="B1", username="Alerts", ts="1683554241.000000"),
    ]
    found = records(write(tmp_path, ROOT | {f"general/{DAY}": messages}))
    named = {k: r.nodes[0].title for k, r in found.items() if r.version < 0}

    assert named == {
        "slack-user:U8": "Zoe Kim",
        "slack-user:U7": "max",
        "slack-user:W5X": "W5X",
        "slack-user:B1": "Alerts",
    }
    assert found["slack-user:B1"].nodes[0].identity == Identity("chat")
    assert found[f"slack:C1:{T0}"].nodes[0].context.startswith("Zoe Kim · ")


def test_a_person_whom_only_blocks_name_gets_an_account_too(tmp_path):
    named = {"type": "user", "user_id": "U6"}
    section = {"type": "rich_text_section", "elements": [named]}
    blocks = [{"type": "rich_text", "elements": [section]}]
    message = make_message(text="", blocks=blocks)
    found = records(write(tmp_path, ROOT | {f"general/{DAY}": [message]}))

    assert found["slack-user:U6"].nodes[0].title == "U6"


def test_a_mentioned_channel_that_is_only_a_folder_is_found_by_its_label(tmp_path):
    files = ROOT | {
        f"general/{DAY}": [make_message(text="see <#C0LD|attic>")],
        f"attic/{DAY}": [make_message()],
    }
    found = records(write(tmp_path, files))[f"slack:C1:{T0}"]

    assert ("mentions", "slack:attic") in edges(found)
