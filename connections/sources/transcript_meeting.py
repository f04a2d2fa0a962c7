"""A meeting as its transcript tells it, and the record that follows from it."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from urllib.parse import urlsplit

from connections.records import JSON, EdgeDraft, NodeDraft, Record
from connections.sources.base import Pull
from connections.sources.json_input import (
    Fields,
    damage,
    digest,
    fields,
    number,
    objects,
    text,
    texts,
)
from connections.sources.text import day_in_words, find_tags, storable
from connections.sources.transcript_people import Attendee, People, address

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_YEAR = 9998
_MAX_INDEX = 1 << 31
_MAX_OFFSET = 30 * 24 * 3600
_SUMMARY = ("overview", "action_items", "gist", "short_summary", "bullet_gist")


class BadMeeting(ValueError):
    """A transcript that cannot be kept; the text says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """What one person said: `index` as in the source, times in seconds."""

    index: int
    speaker: str
    text: str
    start: float | None
    end: float | None


@dataclass(frozen=True, slots=True)
class Meeting:
    """A meeting, whatever format it came in."""

    id: str
    title: str
    at: datetime | None
    minutes: float | None
    url: str
    summary: str
    keywords: tuple[str, ...]
    organizer: str
    attendees: tuple[Attendee, ...]
    utterances: tuple[Utterance, ...]
    raw_sha256: str
    warnings: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        return f"fireflies:{self.id}"


def meeting_of_reply(raw: Fields) -> Meeting:
    """Return the meeting in one transcript of Fireflies; raises `BadMeeting`."""
    found = raw.get("id")
    meeting_id = str(found) if type(found) is int else text(found)
    if not meeting_id or any(sign.isspace() for sign in meeting_id):
        raise BadMeeting("A transcript without an id that can be used.")
    if raw.get("is_live") is True:
        raise BadMeeting(
            f"The meeting {meeting_id[:80]} is still running (is_live): its captions "
            "are not final. Import it again once Fireflies has transcribed it."
        )
    at, unread = _started(raw)
    utterances, odd = _utterances(raw)
    return Meeting(
        id=meeting_id,
        title=text(raw.get("title")) or "Untitled meeting",
        at=at,
        minutes=number(raw.get("duration")),
        url=web_link(text(raw.get("transcript_url"))),
        summary=_summary(fields(raw.get("summary"))),
        keywords=tuple(texts(fields(raw.get("summary")).get("keywords"))),
        organizer=_organizer(raw),
        attendees=tuple(_attendees(raw)),
        utterances=tuple(utterances),
        raw_sha256=digest(raw),
        warnings=(*damage(raw), *unread, *odd),
    )


def web_link(url: str) -> str:
    """Return `url` where it is one of the web, else ""."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return url if parts.scheme in ("http", "https") and parts.netloc else ""


def _started(raw: Fields) -> tuple[datetime | None, tuple[str, ...]]:
    stated = next((v for k in ("date", "dateString") if (v := raw.get(k))), None)
    if stated is None:
        return None, ("It does not say when it took place.",)
    millis = number(stated)
    try:
        if millis is not None:
            at = _EPOCH + timedelta(milliseconds=millis)
        else:
            at = datetime.fromisoformat(text(stated))
            at = (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        at = None
    if at is None or at.year > _LAST_YEAR:
        return None, (f"Its date {str(stated)[:80]!r} is no time in milliseconds.",)
    return at, ()


def _organizer(raw: Fields) -> str:
    stated = (raw.get("organizer_email"), raw.get("host_email"))
    return next((found for value in stated if (found := address(text(value)))), "")


def _attendees(raw: Fields) -> Iterator[Attendee]:
    """Yield who was there, once by address: the attendees, then the participants."""
    seen: set[str] = set()
    for item in objects(raw.get("meeting_attendees")):
        name = text(item.get("displayName")) or text(item.get("name"))
        mail = address(text(item.get("email")))
        if (name or mail) and (not mail or mail not in seen):
            seen.add(mail)
            yield Attendee("" if address(name) else name, mail)
    listed = ",".join(texts(raw.get("participants")))
    for part in listed.split(","):
        mail = address(part.strip())
        if mail and mail not in seen:
            seen.add(mail)
            yield Attendee("", mail)


def _summary(summary: Fields) -> str:
    parts = ("\n".join(texts(summary.get(name))) for name in _SUMMARY)
    return "\n\n".join(dict.fromkeys(part for part in parts if part))


def _utterances(raw: Fields) -> tuple[list[Utterance], tuple[str, ...]]:
    """Return what was said; an index that is missing or taken gets a free number."""
    stated = raw.get("sentences")
    if stated is None:
        return [], ("It has no sentences yet; import it again once transcribed.",)
    items = objects(stated)
    speakers = _speaker_names(raw)
    taken = {index for item in items if (index := _index(item)) is not None}
    free, used, odd = max(taken, default=-1) + 1, set[int](), 0
    found: list[Utterance] = []
    for item in items:
        index = _index(item)
        if index is None or index in used:
            index, free, odd = free, free + 1, odd + 1
        used.add(index)
        found.append(_utterance(item, index, speakers))
    lost = len(stated) - len(items) if isinstance(stated, list) else 1
    warnings = (
        f"{odd} sentences without an index of their own were numbered anew.",
        f"{lost} sentences are no objects and were left out.",
    )
    counts = (odd, lost)
    return found, tuple(w for w, n in zip(warnings, counts, strict=True) if n)


def _index(item: Fields) -> int | None:
    found = number(item.get("index"))
    whole = found is not None and found == int(found) and 0 <= found < _MAX_INDEX
    return int(found) if found is not None and whole else None


def _speaker_names(raw: Fields) -> dict[str, str]:
    listed = objects(raw.get("speakers"))
    return {str(item.get("id")): text(item.get("name")) for item in listed}


def _utterance(item: Fields, index: int, speakers: dict[str, str]) -> Utterance:
    speaker_id = item.get("speaker_id")
    speaker = text(item.get("speaker_name")) or speakers.get(str(speaker_id), "")
    if not speaker and isinstance(speaker_id, (int, str)) and speaker_id != "":
        speaker = f"Speaker {speaker_id}"
    return Utterance(
        index=index,
        speaker=" ".join(speaker.split()),
        text=text(item.get("text")) or text(item.get("raw_text")),
        start=_offset(item.get("start_time")),
        end=_offset(item.get("end_time")),
    )


def _offset(value: JSON) -> float | None:
    seconds = number(value)
    return seconds if seconds is not None and 0 <= seconds < _MAX_OFFSET else None


def meeting_record(meeting: Meeting, request: Pull) -> Record:
    """Return the one record of a meeting: it, its sentences and its people."""
    people = People(meeting.id, meeting.attendees, meeting.organizer)
    sentences = [_sentence(meeting, said) for said in meeting.utterances]
    spoken = [f"{u.speaker}: {u.text}".strip(": ") for u in meeting.utterances]
    edges = (*_sentence_edges(meeting, people), *_meeting_edges(meeting, people))
    return Record(
        key=meeting.key,
        kind="meeting",
        body=storable("\n".join((meeting.summary, *spoken)).strip()),
        nodes=(_meeting_node(meeting, people), *sentences, *people.nodes()),
        edges=edges,
        raw_sha256=meeting.raw_sha256,
        permalink=meeting.url,
        occurred_at=meeting.at,
        audience=request.audience_or(),
        version=_version(meeting),
        warnings=meeting.warnings,
    )


def _version(meeting: Meeting) -> int:
    """Rank what was told of one meeting: the fuller, then by content; below 2^62."""
    sentences = min(len(meeting.utterances), (1 << 32) - 1)
    summary = 1 << 20 if meeting.summary else 0
    told = hashlib.sha256(f"{meeting.raw_sha256}{meeting.title}".encode()).hexdigest()
    return sentences << 21 | summary | int(told[:5], 16)


def _meeting_node(meeting: Meeting, people: People) -> NodeDraft:
    day = day_in_words(meeting.at) if meeting.at else ""
    organizer = people.called(meeting.organizer)
    names = ", ".join(people.names())
    metadata: Fields = {
        "duration": meeting.minutes,
        "url": meeting.url,
        "keywords": [*meeting.keywords],
    }
    return NodeDraft(
        key=meeting.key,
        node_type="meeting",
        title=meeting.title,
        content=meeting.summary,
        context=" · ".join(part for part in (organizer, day, names) if part),
        tags=find_tags(f"{meeting.title}\n{meeting.summary}"),
        metadata={name: value for name, value in metadata.items() if value},
        occurred_at=meeting.at,
    )


def _sentence(meeting: Meeting, said: Utterance) -> NodeDraft:
    day = day_in_words(meeting.at) if meeting.at else ""
    metadata: Fields = {
        "start_time": said.start,
        "end_time": said.end,
        "speaker": said.speaker or None,
        "url": _link_to(meeting.url, said.start),
    }
    known = (said.speaker, day, meeting.title) if said.text else ()
    return NodeDraft(
        key=f"{meeting.key}:{said.index}",
        node_type="sentence",
        content=said.text,
        context=" · ".join(part for part in known if part),
        tags=find_tags(said.text),
        metadata={k: v for k, v in metadata.items() if v is not None},
        occurred_at=_spoken_at(meeting, said),
    )


def _link_to(url: str, start: float | None) -> str | None:
    if not url or start is None:
        return url or None
    return f"{url}{'&' if '?' in url else '?'}t={math.floor(start)}"


def _spoken_at(meeting: Meeting, said: Utterance) -> datetime | None:
    if meeting.at is None:
        return None
    return meeting.at + timedelta(seconds=said.start or 0)


def _sentence_edges(meeting: Meeting, people: People) -> Iterator[EdgeDraft]:
    for said in meeting.utterances:
        key, at = f"{meeting.key}:{said.index}", _spoken_at(meeting, said)
        yield EdgeDraft(
            source=key,
            relation="part_of",
            target=meeting.key,
            occurred_at=at,
            position=Decimal(said.index),
        )
        if said.speaker:
            yield EdgeDraft(
                source=key,
                relation="sent_by",
                target=people.speaker(said.speaker),
                occurred_at=at,
            )


def _meeting_edges(meeting: Meeting, people: People) -> Iterator[EdgeDraft]:
    spoke = (people.speaker(u.speaker) for u in meeting.utterances if u.speaker)
    for person in dict.fromkeys((*people.attendees(), *spoke)):
        yield EdgeDraft(
            source=meeting.key,
            relation="attended",
            target=person,
            occurred_at=meeting.at,
        )
    if meeting.organizer:
        yield EdgeDraft(
            source=meeting.key,
            relation="organized_by",
            target=f"person:{meeting.organizer}",
            occurred_at=meeting.at,
        )
