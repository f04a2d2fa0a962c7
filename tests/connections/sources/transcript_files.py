"""Made-up transcripts for tests, and ways to read what a pull gave."""

from __future__ import annotations

import json
from pathlib import Path

from connections.records import AudienceDraft, Identity, Record
from connections.sources.base import Pull
from connections.sources.transcripts import TranscriptsConnector

START = 1793613600000


def make_sentence(**values: object) -> dict[str, object]:
    return {
        "index": 0,
        "speaker_name": "Ann Lee",
        "text": "We ship on Friday.",
        "start_time": 12.4,
        "end_time": 14.1,
    } | values


def make_meeting(**values: object) -> dict[str, object]:
    return {
        "id": "01J9XK",
        "title": "Weekly sync",
        "date": START,
        "duration": 31.5,
        "organizer_email": "Ann@acme.test",
        "participants": ["ann@acme.test,bob@acme.test"],
        "meeting_attendees": [{"displayName": "Ann Lee", "email": "ann@acme.test"}],
        "transcript_url": "https://f.test/view/01J9XK",
        "sentences": [make_sentence()],
        "summary": {"overview": "Friday it is.", "action_items": "**Bob** notes"},
    } | values


def write(path: Path, content: object) -> Path:
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    path.write_bytes(raw)
    return path


def pull(location: Path, audience: AudienceDraft | None = None) -> list:
    return list(TranscriptsConnector().pull(Pull(location, "t", audience=audience)))


def one(tmp_path: Path, **values: object) -> Record:
    (found,) = pull(write(tmp_path / "m.json", make_meeting(**values)))
    assert isinstance(found, Record)
    return found


def targets(record: Record, relation: str) -> list[str]:
    return [edge.target for edge in record.edges if edge.relation == relation]


def identities(record: Record) -> dict[str, Identity | None]:
    return {n.key: n.identity for n in record.nodes if n.identity}


VTT = """WEBVTT

NOTE made by hand

1
00:00:01.000 --> 00:00:02.500
<v Ann Lee>Hello <b>there</b>, 1 &lt; 2</v> <v.loud Bob>hi
all</v>

2
00:00:05.000 --> 00:00:09.000
<v Speaker 2>Yes.</v>
"""


def spoken(record: Record) -> list[tuple[str, str]]:
    nodes = [n for n in record.nodes if n.node_type == "sentence"]
    return [(str(n.metadata.get("speaker", "")), n.content) for n in nodes]
