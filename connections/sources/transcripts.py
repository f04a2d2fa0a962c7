"""Meetings from transcripts: Fireflies replies in JSON, WebVTT and SRT files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from connections.records import JSON, Failure, Record
from connections.sources.archive import (
    MIB,
    Archive,
    Entry,
    UnreadableEntry,
    open_archive,
)
from connections.sources.base import Pull, SourceError, connectors
from connections.sources.json_input import BadJSON, fields, load, text
from connections.sources.transcript_captions import BadCaptions, meeting_of_captions
from connections.sources.transcript_meeting import (
    BadMeeting,
    meeting_of_reply,
    meeting_record,
)

# A reply holds at most 50 meetings of about 1 MB; far more is no reply.
MAX_FILE_BYTES = 512 * MIB
MAX_CAPTION_BYTES = 64 * MIB
CAPTIONS = {".vtt": "vtt", ".srt": "srt"}
_BAD = (BadCaptions, BadJSON, BadMeeting, UnreadableEntry)


@connectors.register("transcripts")
class TranscriptsConnector:
    """Reads transcripts of meetings: a file, a folder or a zip of them."""

    kind: ClassVar[str] = "transcripts"
    label: ClassVar[str] = "Meeting transcripts"
    source_kind: ClassVar[str] = "transcripts"
    complete: ClassVar[bool] = False
    personal: ClassVar[bool] = False

    def pull(self, request: Pull) -> Iterator[Record | Failure]:
        """Yield a record for each meeting, one file in memory at a time."""
        with open_archive(request.location) as archive:
            yield from archive.refused
            if not archive.entries:
                raise SourceError(
                    f"{archive.label} holds no files. Give a transcript (.json as "
                    "Fireflies replies, .vtt, .srt) or a folder of them."
                )
            for entry in archive.entries:
                yield from _file(archive, entry, request)


def _file(archive: Archive, entry: Entry, request: Pull) -> Iterator[Record | Failure]:
    try:
        yield from _meetings(archive, entry, request)
    except _BAD as error:
        if len(archive.entries) == 1 and not archive.refused:
            raise SourceError(f"{entry.name} cannot be read: {error}") from error
        yield Failure(entry.name, str(error))


def _meetings(
    archive: Archive, entry: Entry, request: Pull
) -> Iterator[Record | Failure]:
    form = _form(archive, entry)
    if form == "json":
        for place, item in _transcripts(load(archive.read(entry, MAX_FILE_BYTES))):
            yield _meeting(item, f"{entry.name}{place}", request)
    else:
        raw = archive.read(entry, MAX_CAPTION_BYTES)
        stem = Path(entry.name).stem
        yield meeting_record(meeting_of_captions(raw, stem, form), request)


def _form(archive: Archive, entry: Entry) -> str:
    suffix = Path(entry.name).suffix.lower()
    if suffix in CAPTIONS:
        return CAPTIONS[suffix]
    with archive.open(entry) as stream:
        head = stream.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip()
    if not head:
        raise UnreadableEntry("It is empty.")
    if suffix == ".json" or (not suffix and head[:1] in b"{["):
        return "json"
    if head.startswith(b"WEBVTT"):
        return "vtt"
    raise UnreadableEntry(
        "It is no transcript: .json as Fireflies replies, .vtt and .srt are read."
    )


def _transcripts(reply: JSON) -> Iterator[tuple[str, JSON]]:
    """Yield where each transcript of a reply lies, and the transcript."""
    found: JSON = reply
    place = ""
    if isinstance(reply, dict):
        if reply.get("errors") and not fields(reply.get("data")):
            raise BadJSON(f"The reply is an error: {_errors(reply)}.")
        for name in ("data", "transcripts", "transcript"):
            if isinstance(found, dict) and isinstance(found.get(name), (dict, list)):
                found, place = found[name], f"{place}.{name}"
    if isinstance(found, list):
        for number, item in enumerate(found):
            yield f"{place}[{number}]", item
    elif isinstance(found, dict) and ("id" in found or "sentences" in found):
        yield place, found
    else:
        raise BadJSON(
            "There are no transcripts in it; expected is a reply of Fireflies, "
            '{"data": {"transcripts": [...]}}, a list of transcripts or one.'
        )


def _errors(reply: dict[str, JSON]) -> str:
    errors = reply.get("errors")
    first = errors[0] if isinstance(errors, list) and errors else errors
    return text(fields(first).get("message"))[:200] or "without a message"


def _meeting(item: JSON, where: str, request: Pull) -> Record | Failure:
    try:
        if not isinstance(item, dict):
            raise BadMeeting(f"Not a transcript but {type(item).__name__}.")
        return meeting_record(meeting_of_reply(item), request)
    except BadMeeting as error:
        return Failure(where, str(error))
    except RecursionError:
        return Failure(where, "Nested too deeply to be a transcript.")
