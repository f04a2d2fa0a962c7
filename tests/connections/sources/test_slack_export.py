from __future__ import annotations

import json
import random
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connections.records import Record
from connections.sources import archive, json_input
from connections.sources.base import SourceError
from tests.connections.sources.slack_files import (
    ANN,
    BOB,
    DAY,
    GENERAL,
    ROOT,
    T0,
    failures,
    make_message,
    of_messages,
    one,
    pack,
    pull,
    records,
    write,
)

hostile = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["ts", "id", "name", "user", "type"]), inner)
    ),
    max_leaves=8,
)


KEYS = (
    "user bot_id text blocks attachments files file comment edited reactions replies "
    "reply_count thread_ts subtype username user_profile bot_profile topic purpose root"
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from(KEYS.split()), hostile), hostile, hostile)
def test_wrong_shapes_at_any_level_end_no_run(values, user, channel):
    files = {
        "users.json": [ANN, user, {"id": "U4", "profile": user}],
        "channels.json": [GENERAL, channel, {"id": "C2", "name": channel}],
        f"general/{DAY}": [make_message(**values), make_message(ts="1683554249.0")],
    }
    with TemporaryDirectory() as folder:
        found = pull(write(Path(folder), files))

    kinds = [item.kind for item in found if isinstance(item, Record)]
    assert kinds.count("message") >= 1
    assert all(
        -(1 << 62) <= r.version < 1 << 62 for r in found if isinstance(r, Record)
    )
    assert all(r.content_hash for r in found if isinstance(r, Record))


@pytest.mark.parametrize("name", ["users.json", "channels.json", f"general/{DAY}"])
@pytest.mark.parametrize(
    "raw", [b"", b"{}", b"null", b'[{"id": "U1"', b"\xff\xfe", b"["]
)
def test_a_broken_file_is_named_and_the_others_are_read(tmp_path, name, raw):
    files = ROOT | {
        f"general/{DAY}": [make_message()],
        f"random/{DAY}": [make_message()],
    }
    found = pull(write(tmp_path, files | {name: raw}))
    keys = {item.key for item in found if isinstance(item, Record)}

    assert any(item.startswith(name) for item, _ in failures(found))
    assert f"slack:random:{T0}" in keys


def test_messages_before_a_break_in_a_day_file_are_kept(tmp_path):
    raw = json.dumps([make_message(), make_message(ts="1683554241.0")]).encode()[:-30]
    found = pull(write(tmp_path, ROOT | {f"general/{DAY}": raw}))

    assert f"slack:C1:{T0}" in {i.key for i in found if isinstance(i, Record)}
    assert [item for item, _ in failures(found)] == [f"general/{DAY}[1:]"]


def test_a_message_too_long_to_hold_is_refused_and_other_days_are_read(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(json_input, "MAX_ITEM_CHARS", 2000)
    files = {
        "general/2023-05-07.json": [make_message(text="A" * 5000)],
        f"general/{DAY}": [make_message()],
    }
    found = pull(write(tmp_path, ROOT | files))

    assert "longer than 2,000" in failures(found)[0][1]
    assert isinstance(found[-1], Record)


def test_bytes_that_are_no_utf8_are_replaced_and_the_message_warns(tmp_path):
    raw = json.dumps([make_message(text="caf#")]).encode().replace(b"#", b"\xe9")
    found = records(write(tmp_path, ROOT | {f"general/{DAY}": raw}))[f"slack:C1:{T0}"]

    assert found.nodes[0].content == "caf\ufffd"
    assert found.warnings


def test_a_zip_one_folder_deep_reads_like_the_folder(tmp_path):
    folder = write(tmp_path / "x", ROOT | {f"general/{DAY}": [make_message()]})
    flat = pack(tmp_path / "flat.zip", folder)
    deep = pack(tmp_path / "deep.zip", folder, "Acme export/")

    assert records(flat) == records(deep) == records(folder)


def test_the_folders_alone_are_an_export_too(tmp_path):
    folder = write(tmp_path / "x", {f"general/{DAY}": [make_message()]})

    assert f"slack:general:{T0}" in records(folder)
    assert f"slack:general:{T0}" in records(pack(tmp_path / "y.zip", folder, "Acme/"))


def test_two_exports_in_one_folder_are_asked_for_one_by_one(tmp_path):
    write(tmp_path, {"a/users.json": [ANN], "b/users.json": [BOB]})

    with pytest.raises(SourceError, match="one by one"):
        pull(tmp_path)


def test_lists_beside_the_messages_are_no_conversations(tmp_path):
    beside = {
        "canvases.json": [{"permalink": "https://acme.slack.com/docs/T1/F1"}],
        "lists.json": [""],
        "huddle_transcripts.json": [""],
        "integration_logs.json": [{"user_id": "U1"}],
        "general/canvas_in_the_conversation.json": [{"id": "F1"}],
        f"general/{DAY}": [make_message()],
    }
    found = records(write(tmp_path, ROOT | beside))

    assert len(found) == 5
    assert found[f"slack:C1:{T0}"].permalink.startswith("https://acme.slack.com/")


def test_a_json_file_that_is_no_day_is_named(tmp_path):
    found = pull(write(tmp_path, ROOT | {"general/notes.json": []}))

    assert failures(found) == [("general/notes.json", "Not a day file (DATE.json).")]


@pytest.mark.parametrize("raw", [b"", b"hello", b"PK\x03\x04 cut"])
def test_what_is_no_export_says_what_to_give(tmp_path, raw):
    (tmp_path / "x.bin").write_bytes(raw)

    with pytest.raises(SourceError, match=r"zip|export"):
        pull(tmp_path / "x.bin")


def test_an_empty_folder_is_no_export(tmp_path):
    with pytest.raises(SourceError, match="no Slack export"):
        pull(tmp_path)


def test_a_bomb_alone_is_refused_and_its_reason_said(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "LIMITS", archive.Limits(ratio_from=10_000))
    with zipfile.ZipFile(tmp_path / "x.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(f"general/{DAY}", b" " * 200_000)

    with pytest.raises(SourceError, match="250 times"):
        pull(tmp_path / "x.zip")


def test_names_that_lead_out_of_the_zip_fail_alone(tmp_path):
    folder = write(tmp_path / "x", ROOT | {f"general/{DAY}": [make_message()]})
    packed = pack(tmp_path / "x.zip", folder)
    with zipfile.ZipFile(packed, "a") as opened:
        opened.writestr(f"../general/{DAY}", json.dumps([make_message()]))

    found = pull(packed)
    assert [item for item, _ in failures(found)] == [f"../general/{DAY}"]
    assert len(found) == 6


def winner(found: list[Record]) -> Record:
    return max(found, key=lambda record: record.version)


def test_what_is_newer_of_one_message_wins_in_any_order(tmp_path):
    edited = {"edited": {"user": "U1", "ts": "1683554240.000000"}, "text": "new"}
    found = of_messages(
        tmp_path,
        make_message(text="old"),
        make_message(**edited),
        make_message(text="old", thread_ts=T0, reply_count=3),
    )
    old, new, grown = found

    assert winner(found) is new
    assert grown.version > old.version
    deleted = one(tmp_path, subtype="tombstone")
    assert deleted.version > new.version


def test_equal_raw_messages_give_equal_records(tmp_path):
    first, second = of_messages(tmp_path, make_message(), make_message())

    assert first == second
    assert first.content_hash == second.content_hash


messages = st.builds(
    make_message,
    user=st.sampled_from(["U1", "U8", "U9"]),
    text=st.sampled_from(["Hi <@U7|max>", "<@U7|moritz> #go", "no"]),
    ts=st.integers(1, 40).map(lambda n: f"1683554{n:03}.000000"),
    thread_ts=st.none() | st.integers(1, 40).map(lambda n: f"1683554{n:03}.000000"),
    user_profile=st.none()
    | st.fixed_dictionaries({"real_name": st.sampled_from(["Zoe Kim", "Zoe", ""])}),
)


@settings(max_examples=30, deadline=None)
@given(st.lists(messages, min_size=2, max_size=12), st.randoms(use_true_random=False))
def test_any_order_of_day_files_gives_the_same_records(found, rng: random.Random):
    def read(items: list[dict[str, object]], days: int) -> list[str]:
        files = dict(ROOT)
        for n, item in enumerate(items):
            name = f"general/2023-05-{n % days + 1:02}.json"
            files[name] = [*files.get(name, []), item]
        with TemporaryDirectory() as folder:
            pulled = pull(write(Path(folder), files))
        return sorted(f"{r.key} {r.version} {r.content_hash}" for r in pulled)

    shuffled = rng.sample(found, len(found))
    assert read(found, 3) == read(shuffled, 5)
