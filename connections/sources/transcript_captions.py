"""A meeting from a caption file: WebVTT or SRT, as Zoom, Meet and Teams write them."""

from __future__ import annotations

import hashlib
import html
import io
import re
from collections.abc import Iterator
from datetime import UTC, datetime

import webvtt
from webvtt.errors import MalformedCaptionError, MalformedFileError

from connections.sources.text import decode_bytes, storable
from connections.sources.transcript_meeting import Meeting, Utterance

_VOICE = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>]*)>")
_TAG = re.compile(r"</?[A-Za-z0-9][^<>]*>|</>")
# "Ann Lee: Good morning", as Zoom writes it in place of voice tags.
_PREFIX = re.compile(r"([^\W\d_][\w.,'\u2019() -]{0,60}): +(?=\S)")
# In the names of recordings: 2026-05-08, GMT20260508-140000.
_WHEN = re.compile(
    r"(?<!\d)(20\d\d)-?(\d\d)-?(\d\d)(?:[-_T ]+(\d\d)[-:.]?(\d\d)[-:.]?(\d\d))?(?!\d)"
)


class BadCaptions(ValueError):
    """A caption file that cannot be read; the text says why."""


def meeting_of_captions(raw: bytes, name: str, form: str) -> Meeting:
    """Return the meeting in a caption file; `form` is "vtt" or "srt".

    Its id is "vtt-" and 16 hex digits of the file's SHA-256; its day comes from the
    file's name, where that has one. Raises `BadCaptions`.
    """
    words = storable(decode_bytes(raw))
    if not words.strip():
        raise BadCaptions("It is empty.")
    cues = _cues(words, form)
    if not cues:
        raise BadCaptions("It has no captions with times.")
    sha256 = hashlib.sha256(raw).hexdigest()
    at = _when(name)
    lost = sum("-->" in line for line in words.splitlines()) - len(cues)
    warnings = [f"{lost} captions have broken times and were left out."] * (lost > 0)
    warnings += ["Its name does not say when it took place."] * (at is None)
    warnings += ["Some characters could not be read."] * ("\ufffd" in words)
    return Meeting(
        id=f"vtt-{sha256[:16]}",
        title=name.strip() or "Untitled meeting",
        at=at,
        minutes=round(max(cue.end_in_seconds for cue in cues) / 60, 1),
        url="",
        summary="",
        keywords=(),
        organizer="",
        attendees=(),
        utterances=tuple(_utterances(cues)),
        raw_sha256=sha256,
        warnings=tuple(warnings),
    )


def _cues(words: str, form: str) -> list[webvtt.Caption]:
    try:
        cues: list[webvtt.Caption] = webvtt.from_buffer(
            io.StringIO(words), format=form
        ).captions
    except (MalformedFileError, MalformedCaptionError, ValueError) as error:
        raise BadCaptions(f"It is no {form.upper()} file: {error}.") from error
    return cues


def _utterances(cues: list[webvtt.Caption]) -> Iterator[Utterance]:
    """Yield what was said, numbered from 0: a caption each, or a voice of one."""
    said = [(cue, *part) for cue in cues for part in _voices(cue.raw_text)]
    spoken = [words for _, speaker, words in said if not speaker]
    prefixed = sum(bool(_PREFIX.match(words)) for words in spoken)
    by_prefix = len(spoken) == len(said) and prefixed * 2 >= len(said)
    for index, (cue, speaker, words) in enumerate(said):
        match = _PREFIX.match(words) if by_prefix else None
        yield Utterance(
            index=index,
            speaker=match[1].strip() if match else speaker,
            text=words[match.end() :] if match else words,
            start=cue.start_time.in_milliseconds() / 1000,
            end=cue.end_time.in_milliseconds() / 1000,
        )


def _voices(raw: str) -> Iterator[tuple[str, str]]:
    """Yield speaker and words for each voice of a caption, one without a name too."""
    parts = _VOICE.split(raw)
    if words := _words(parts[0]):
        yield "", words
    for speaker, spoken in zip(parts[1::2], parts[2::2], strict=True):
        if words := _words(spoken):
            yield " ".join(html.unescape(speaker).split()), words


def _words(raw: str) -> str:
    return " ".join(html.unescape(_TAG.sub("", raw)).split())


def _when(name: str) -> datetime | None:
    match = _WHEN.search(name)
    if match is None:
        return None
    year, month, day, *clock = (int(part or 0) for part in match.groups())
    hour, minute, second = clock
    try:
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
