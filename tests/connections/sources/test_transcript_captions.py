from __future__ import annotations

import hashlib
from datetime import UTC, datetime

from tests.connections.sources.transcript_files import (
    VTT,
    pull,
    spoken,
    targets,
    write,
)


def test_a_vtt_file_is_a_meeting_named_by_its_bytes(tmp_path):
    path = write(tmp_path / "Sync GMT20260508-140000.vtt", VTT.encode())
    (found,) = pull(path)
    key = f"fireflies:vtt-{hashlib.sha256(VTT.encode()).hexdigest()[:16]}"

    assert found.key == key
    assert found.occurred_at == datetime(2026, 5, 8, 14, tzinfo=UTC)
    assert found.nodes[0].title == "Sync GMT20260508-140000"
    assert [n.key for n in found.nodes[1:4]] == [f"{key}:{n}" for n in range(3)]
    assert spoken(found) == [
        ("Ann Lee", "Hello there, 1 < 2"),
        ("Bob", "hi all"),
        ("Speaker 2", "Yes."),
    ]
    assert found.nodes[3].occurred_at == datetime(2026, 5, 8, 14, 0, 5, tzinfo=UTC)
    assert targets(found, "sent_by")[0] == "name:ann lee"


def test_an_srt_file_with_names_before_the_words_is_read(tmp_path):
    srt = (
        "1\n00:00:01,000 --> 00:00:02,000\nAnn Lee: Note: we start\n\n"
        "2\n00:00:03,000 --> 00:00:04,000\nBob Ray: Go on\n\n"
        "3\n00:00:05,000 --> 00:00:06,000\nand on\n"
    )
    (found,) = pull(write(tmp_path / "2026-05-08 talk.srt", srt.encode()))

    assert spoken(found) == [
        ("Ann Lee", "Note: we start"),
        ("Bob Ray", "Go on"),
        ("", "and on"),
    ]
    assert found.occurred_at == datetime(2026, 5, 8, tzinfo=UTC)


def test_a_colon_in_plain_captions_makes_no_speaker(tmp_path):
    vtt = "WEBVTT\n\n" + "".join(
        f"00:00:0{n}.000 --> 00:00:0{n}.900\n{line}\n\n"
        for n, line in enumerate(["Remember: eat", "and then", "sleep"])
    )
    (found,) = pull(write(tmp_path / "x.vtt", vtt.encode()))

    assert spoken(found)[0] == ("", "Remember: eat")
    assert found.occurred_at is None


def test_captions_with_broken_times_are_left_out_and_said(tmp_path):
    broken = VTT + "\n3\n00:xx --> 00:00:10.000\nlost\n"
    (found,) = pull(write(tmp_path / "x.vtt", broken.encode()))

    assert len(spoken(found)) == 3
    assert found.warnings[0].startswith("1 captions have broken times")


def test_captions_in_another_encoding_are_read(tmp_path):
    vtt = VTT.replace("Yes.", "Ça va très bien, à bientôt, Éléonore")
    (found,) = pull(write(tmp_path / "x.vtt", vtt.encode("utf-16")))

    assert "très bien" in spoken(found)[-1][1]
