"""The meetings as transcription services hand them out: JSON, and one WebVTT file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from connections.demo.company import Company, short_hash
from connections.demo.items import Meeting
from connections.demo.mail_archive import Addresses

_SENTENCE_END = re.compile(r"(?<=[.?!])\s+(?=[A-ZÀ-Ý])")
_WORDS_A_SECOND = 2.4


def meeting_id(meeting: Meeting) -> str:
    """Return the id that follows from a meeting's slug and day."""
    return "01" + short_hash(f"{meeting.slug}|{meeting.at:%Y-%m-%d}", 24)


class _Spoken:
    """A meeting as timed sentences; names and addresses are those of its day."""

    def __init__(self, company: Company, meeting: Meeting) -> None:
        self._people = company.people
        self._addresses = Addresses(company)
        self._meeting = meeting

    def name(self, who: str) -> str:
        known = self._people.get(who)
        return known.name_at(self._meeting.at) if known else who

    def sentences(self) -> Iterator[tuple[str, str, float, float]]:
        """Yield (speaker, words, start, end), the times in seconds."""
        now = 4.0
        for who, turn in self._meeting.lines:
            for words in _SENTENCE_END.split(turn.strip()):
                end = now + max(1.2, len(words.split()) / _WORDS_A_SECOND)
                yield self.name(who), words, round(now, 2), round(end, 2)
                now = end + 0.4
            now += 1.1

    def attendees(self) -> list[tuple[str, str]]:
        known = [who for who in self._meeting.attendees if not self._hidden(who)]
        return [self._addresses.of(who, self._meeting.at) for who in known]

    def _hidden(self, who: str) -> bool:
        person = self._people.get(who)
        return person is not None and person.name_only


def fireflies_reply(company: Company, meeting: Meeting) -> dict[str, object]:
    """Return the API's reply that holds this one meeting."""
    spoken = _Spoken(company, meeting)
    sentences = list(spoken.sentences())
    speakers = list(dict.fromkeys(name for name, *_ in sentences))
    attendees = spoken.attendees()
    number = meeting_id(meeting)
    transcript = {
        "id": number,
        "title": meeting.title,
        "date": int(meeting.at.timestamp() * 1000),
        "dateString": f"{meeting.at.isoformat()}",
        "duration": round((sentences[-1][3] + 20) / 60, 2),
        "organizer_email": company.people[meeting.organizer].email_at(meeting.at),
        "host_email": company.people[meeting.organizer].email_at(meeting.at),
        "participants": [address for _, address in attendees],
        "meeting_attendees": [
            {"displayName": name, "name": name, "email": address, "phoneNumber": None}
            for name, address in attendees
        ],
        "transcript_url": f"https://meetings.tarnwick.example/view/{number}",
        "speakers": [{"id": i, "name": name} for i, name in enumerate(speakers)],
        "sentences": [
            _sentence(index, speakers.index(name), name, words, start, end)
            for index, (name, words, start, end) in enumerate(sentences)
        ],
        "summary": _summary(spoken, meeting),
    }
    return {"data": {"transcripts": [transcript]}}


def _sentence(
    index: int, speaker: int, name: str, words: str, start: float, end: float
) -> dict[str, object]:
    plain = re.sub(r"[^\w\s'-]", "", words).lower()
    filters = {"task": None, "question": words if words.endswith("?") else None}
    return {
        "index": index,
        "speaker_id": speaker,
        "speaker_name": name,
        "text": words,
        "raw_text": plain,
        "start_time": start,
        "end_time": end,
        "ai_filters": filters,
    }


def _summary(spoken: _Spoken, meeting: Meeting) -> dict[str, object]:
    blocks = [
        f"**{spoken.name(who)}**\n" + "".join(f"{item}\n" for item in items)
        for who, items in meeting.actions.items()
    ]
    return {
        "overview": meeting.overview,
        "short_summary": meeting.overview.split(". ")[0].rstrip(".") + ".",
        "action_items": "\n".join(blocks),
        "keywords": list(meeting.keywords),
    }


def write_json(folder: Path, company: Company, meeting: Meeting) -> None:
    """Write `meeting` as one JSON file, named by its day and slug."""
    reply = fireflies_reply(company, meeting)
    text = json.dumps(reply, ensure_ascii=False, indent=1) + "\n"
    name = f"{meeting.at:%Y-%m-%d}-{meeting.slug}.json"
    (folder / name).write_text(text, encoding="utf-8", newline="\n")


def write_vtt(folder: Path, company: Company, meeting: Meeting) -> None:
    """Write `meeting` as WebVTT with voice tags; its name holds the day."""
    lines = ["WEBVTT", "", f"NOTE {meeting.title}, {meeting.at:%Y-%m-%d %H:%M}", ""]
    for name, words, start, end in _Spoken(company, meeting).sentences():
        lines += [f"{_clock(start)} --> {_clock(end)}", f"<v {name}>{words}</v>", ""]
    name = f"{meeting.at:%Y-%m-%d}-{meeting.slug}.vtt"
    (folder / name).write_text("\n".join(lines), encoding="utf-8", newline="\n")


def _clock(seconds: float) -> str:
    minutes, rest = divmod(seconds, 60)
    return f"00:{int(minutes):02d}:{rest:06.3f}"
