from __future__ import annotations

import json
import zipfile
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connections.records import AudienceDraft, Failure, Record
from connections.sources import transcripts
from connections.sources.base import SourceError, connectors
from connections.sources.transcripts import TranscriptsConnector
from tests.connections.sources.transcript_files import (
    VTT,
    identities,
    make_meeting,
    make_sentence,
    one,
    pull,
    targets,
    write,
)


def test_the_connector_is_registered_and_neither_complete_nor_personal():
    assert connectors["transcripts"] is TranscriptsConnector
    assert not TranscriptsConnector.complete
    assert not TranscriptsConnector.personal


def test_a_meeting_says_when_who_and_what_was_agreed(tmp_path):
    found = one(tmp_path)
    meeting = found.nodes[0]

    assert found.key == meeting.key == "fireflies:01J9XK"
    assert meeting.content == "Friday it is.\n\n**Bob** notes"
    assert meeting.context == (
        "Ann Lee · Monday 2 November 2026 · Ann Lee, bob@acme.test"
    )
    assert meeting.metadata == {"duration": 31.5, "url": "https://f.test/view/01J9XK"}
    assert meeting.occurred_at == datetime(2026, 11, 2, 10, 0, tzinfo=UTC)
    assert found.permalink == "https://f.test/view/01J9XK"
    assert meeting.content in found.body
    assert "Ann Lee: We ship on Friday." in found.body
    assert targets(found, "organized_by") == ["person:ann@acme.test"]
    assert targets(found, "attended") == [
        "person:ann@acme.test",
        "person:bob@acme.test",
    ]


def test_a_sentence_says_who_when_and_where_to_hear_it(tmp_path):
    found = one(tmp_path, sentences=[make_sentence(index=7)])
    sentence = found.nodes[1]
    part = next(edge for edge in found.edges if edge.relation == "part_of")

    assert sentence.key == "fireflies:01J9XK:7"
    assert sentence.content == "We ship on Friday."
    assert sentence.context == "Ann Lee · Monday 2 November 2026 · Weekly sync"
    assert sentence.occurred_at == datetime(2026, 11, 2, 10, 0, 12, 400000, tzinfo=UTC)
    assert sentence.metadata["url"] == "https://f.test/view/01J9XK?t=12"
    assert (part.source, part.target, part.position) == (
        sentence.key,
        "fireflies:01J9XK",
        Decimal(7),
    )
    assert targets(found, "sent_by") == ["person:ann@acme.test"]


@pytest.mark.parametrize(
    "shape",
    [
        lambda m: {"data": {"transcripts": [m]}},
        lambda m: {"data": {"transcript": m}},
        lambda m: {"transcripts": [m]},
        lambda m: {"data": [m]},
        lambda m: [m],
        lambda m: m,
    ],
)
def test_every_shape_of_a_reply_gives_the_same_meeting(tmp_path, shape):
    found = pull(write(tmp_path / "m.json", shape(make_meeting())))

    assert [record.key for record in found] == ["fireflies:01J9XK"]


def test_a_meeting_without_sentences_or_organizer_is_kept_and_says_so(tmp_path):
    found = one(tmp_path, sentences=None, organizer_email=None, summary=None)

    assert not targets(found, "organized_by")
    assert not targets(found, "part_of")
    assert "no sentences yet" in found.warnings[0]


def test_a_host_organizes_where_no_organizer_is_named(tmp_path):
    found = one(tmp_path, organizer_email=None, host_email="Zed@acme.test")

    assert targets(found, "organized_by") == ["person:zed@acme.test"]
    assert "person:zed@acme.test" in identities(found)
    assert "person:zed@acme.test" not in targets(found, "attended")


def test_a_running_meeting_is_left_for_later_with_the_reason(tmp_path):
    (found,) = pull(write(tmp_path / "m.json", [make_meeting(is_live=True)]))

    assert isinstance(found, Failure)
    assert found.item == "m.json[0]"
    assert "is_live" in found.error


@pytest.mark.parametrize(
    ("date", "expected"),
    [
        (0.0, None),
        (86_400_000, datetime(1970, 1, 2, tzinfo=UTC)),
        ("4089657600000", datetime(2099, 8, 6, tzinfo=UTC)),
        ("2026-05-08T10:00:00.000Z", datetime(2026, 5, 8, 10, tzinfo=UTC)),
        (1e300, None),
        ("soon", None),
        ({}, None),
        (True, None),
    ],
)
def test_the_date_is_in_milliseconds_and_a_broken_one_is_said(tmp_path, date, expected):
    found = one(tmp_path, date=date)

    assert found.occurred_at == expected
    assert bool(found.warnings) == (expected is None)


def test_times_that_are_none_leave_the_sentence_at_the_start(tmp_path):
    values = ["x", None, -1, float("inf"), 1e12, [], "7.5"]
    spoken = [make_sentence(index=n, start_time=v) for n, v in enumerate(values)]
    starts = [n.occurred_at for n in one(tmp_path, sentences=spoken).nodes[1:8]]

    assert starts[:-1] == [datetime(2026, 11, 2, 10, tzinfo=UTC)] * 6
    assert starts[-1] == datetime(2026, 11, 2, 10, 0, 7, 500000, tzinfo=UTC)


def test_indexes_that_are_missing_or_taken_get_a_number_and_nothing_is_lost(tmp_path):
    indexes = [5, 5, None, -1, "x", 6.0]
    spoken = [make_sentence(index=i, text=f"s{n}") for n, i in enumerate(indexes)]
    found = one(tmp_path, sentences=[*spoken, "no object"])
    keys = [n.key.rpartition(":")[2] for n in found.nodes if n.node_type == "sentence"]

    assert keys == ["5", "7", "8", "9", "10", "6"]
    assert "4 sentences" in found.warnings[0]
    assert "1 sentences" in found.warnings[1]


def test_a_sentence_without_words_is_counted_but_not_found(tmp_path):
    found = one(tmp_path, sentences=[make_sentence(text="", raw_text=None)])

    assert found.nodes[1].content == found.nodes[1].context == ""
    assert targets(found, "part_of") == ["fireflies:01J9XK"]


def test_links_that_are_not_of_the_web_are_dropped(tmp_path):
    found = one(tmp_path, transcript_url="javascript:alert(1)")

    assert found.permalink == ""
    assert "url" not in found.nodes[0].metadata


def test_the_fuller_of_two_with_one_id_wins_and_equal_ones_are_equal(tmp_path):
    early, late, again = pull(
        write(
            tmp_path / "m.json",
            [make_meeting(summary=None), make_meeting(), make_meeting()],
        )
    )

    assert early.key == late.key
    assert early.version < late.version < 1 << 62
    assert late == again


def test_the_audience_the_operator_decides_holds(tmp_path):
    decided = AudienceDraft("private", "me")
    path = write(tmp_path / "m.json", make_meeting())

    assert pull(path)[0].audience.kind == "public"
    assert pull(path, decided)[0].audience == decided


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("m.json", b""),
        ("m.json", b"{"),
        ("m.json", b"5"),
        ("m.json", b'{"data": null}'),
        ("m.json", b'{"data": {"transcripts": 5}}'),
        ("m.json", b"[" * 100_000),
        ("m.json", b'{"errors": [{"message": "too_many_requests"}], "data": null}'),
        ("m.vtt", b""),
        ("m.vtt", b"WEBVTT\n"),
        ("m.vtt", b"hello"),
        ("m.srt", b"hello"),
        ("m.docx", b"hello"),
    ],
)
def test_a_file_that_is_no_transcript_stops_alone_but_fails_among_others(
    tmp_path, name, raw
):
    with pytest.raises(SourceError, match=name):
        pull(write(tmp_path / name, raw))

    write(tmp_path / "z.json", make_meeting())
    bad, good = pull(tmp_path)
    assert (bad.item, good.key) == (name, "fireflies:01J9XK")


def test_an_error_of_fireflies_is_passed_on(tmp_path):
    reply = {"errors": [{"message": "too_many_requests"}], "data": None}

    with pytest.raises(SourceError, match="too_many_requests"):
        pull(write(tmp_path / "m.json", reply))


@pytest.mark.parametrize("bad", [None, 5, "x", [], {}, {"id": ""}, {"id": {}}])
def test_an_item_that_is_no_transcript_fails_alone(tmp_path, bad):
    found = pull(write(tmp_path / "m.json", [bad, make_meeting()]))

    assert [type(item) for item in found] == [Failure, Record]
    assert found[0].item == "m.json[0]"


def test_a_file_that_is_too_large_says_how_large_it_may_be(tmp_path, monkeypatch):
    monkeypatch.setattr(transcripts, "MAX_FILE_BYTES", 1024 * 1024)

    with pytest.raises(SourceError, match="larger than 1 MB"):
        pull(write(tmp_path / "m.json", make_meeting(title="A" * 2_000_000)))


def test_bytes_that_are_no_utf8_are_replaced_and_the_meeting_warns(tmp_path):
    raw = json.dumps(make_meeting(title="caf#")).encode().replace(b"#", b"\xe9")
    (found,) = pull(write(tmp_path / "m.json", raw))

    assert found.nodes[0].title == "caf\ufffd"
    assert found.warnings


def test_a_zip_of_transcripts_is_read_and_a_cut_one_refused(tmp_path):
    packed = tmp_path / "m.zip"
    with zipfile.ZipFile(packed, "w") as opened:
        opened.writestr("a/m.json", json.dumps(make_meeting()))
        opened.writestr("b.vtt", VTT)

    assert len(pull(packed)) == 2
    packed.write_bytes(packed.read_bytes()[:200])
    with pytest.raises(SourceError, match="cut short"):
        pull(packed)


def test_an_empty_folder_says_what_to_give(tmp_path):
    with pytest.raises(SourceError, match="holds no files"):
        pull(tmp_path)


NESTED = (
    "index text speaker_name speaker_id start_time email displayName name id overview "
    "keywords action_items"
)


hostile = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(NESTED.split()), inner)
    ),
    max_leaves=10,
)


KEYS = (
    "title date dateString duration organizer_email host_email participants "
    "meeting_attendees transcript_url sentences summary speakers is_live"
)


@settings(max_examples=80, deadline=None)
@given(st.dictionaries(st.sampled_from(KEYS.split()), hostile))
def test_wrong_shapes_at_any_level_end_no_run(values):
    with TemporaryDirectory() as folder:
        path = write(Path(folder) / "m.json", [make_meeting(**values), make_meeting()])
        found = pull(path)

    assert isinstance(found[-1], Record)
    assert all(r.content_hash for r in found if isinstance(r, Record))
    if isinstance(found[0], Record):
        sentences = [n.key for n in found[0].nodes if n.node_type == "sentence"]
        assert len(sentences) == len(set(sentences))


@settings(max_examples=30, deadline=None)
@given(st.permutations(range(6)), st.integers(1, 5))
def test_any_split_into_files_gives_the_same_records(shuffled, files):
    meetings = [make_meeting(id=f"m{n % 4}", title=f"t{n}") for n in range(6)]

    def read(numbers: list[int], parts: int) -> list[str]:
        with TemporaryDirectory() as folder:
            for part in range(parts):
                chosen = [meetings[n] for n in numbers[part::parts]]
                write(Path(folder) / f"{part}.json", chosen)
            return sorted(
                f"{r.key} {r.version} {r.content_hash}" for r in pull(Path(folder))
            )

    assert read(list(range(6)), 1) == read(shuffled, files)
