"""Invitations in mails: records of meetings, from text/calendar parts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time

from icalendar import Calendar, Component

from connections.records import (
    JSON,
    AudienceDraft,
    EdgeDraft,
    Failure,
    NodeDraft,
    Record,
    clean_key,
)
from connections.sources.mail_headers import Mailbox, mailboxes
from connections.sources.mail_people import address_node, person_key
from connections.sources.text import day_in_words, storable, tidy

MAX_ATTENDEES = 500
MAX_EVENTS = 1_000
MAX_CALENDAR_BYTES = 5_000_000


@dataclass(frozen=True, slots=True)
class _Event:
    """One VEVENT with its people decoded."""

    component: Component
    method: str
    key: str
    organizer: Mailbox | None
    attendees: tuple[tuple[Mailbox, str], ...]

    def text(self, name: str) -> str:
        return tidy(str(self.component.get(name) or ""))

    def moment(self, name: str) -> datetime | None:
        return _moment(self.component.get(name))


def read_invites(
    data: bytes, item: str, audience: AudienceDraft
) -> Iterator[Record | Failure]:
    """Yield a record for each event of an iCalendar file, newest revision winning.

    What cannot be read is a `Failure` about `item`; nothing is raised.
    """
    if len(data) > MAX_CALENDAR_BYTES:
        yield Failure(item, f"the calendar has more than {MAX_CALENDAR_BYTES} bytes")
        return
    try:
        calendars = Calendar.from_ical(data, multiple=True)
    except (
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        RecursionError,
    ) as error:
        yield Failure(
            item, f"the calendar cannot be read: {storable(str(error))[:200]}"
        )
        return
    count = 0
    for calendar in calendars:
        method = storable(str(calendar.get("METHOD") or "").upper())
        for component in calendar.walk("VEVENT"):
            count += 1
            if count > MAX_EVENTS:
                yield Failure(item, f"only its first {MAX_EVENTS} events were read")
                return
            yield _read_event(component, method, item, audience)
    if not count:
        yield Failure(item, "the calendar holds no event")


def _read_event(
    component: Component, method: str, item: str, audience: AudienceDraft
) -> Record | Failure:
    try:
        event = _event(component, method)
        if event is None:
            return Failure(item, "an event without a UID was left out")
        if method == "REPLY":
            return _answer(event, audience)
        return _meeting(event, audience)
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
        return Failure(item, f"an event cannot be read: {storable(str(error))[:200]}")


def _event(component: Component, method: str) -> _Event | None:
    uid = "".join(str(component.get("UID") or "").split())
    if not uid:
        return None
    key = f"event:{storable(uid)}"
    if recurrence := component.get("RECURRENCE-ID"):
        key += f"/{storable(recurrence.to_ical().decode('utf-8', 'replace'))}"
    organizer = component.get("ORGANIZER")
    attendees = component.get("ATTENDEE") or []
    if not isinstance(attendees, list):
        attendees = [attendees]
    people = ((_person(each), _status(each)) for each in attendees)
    return _Event(
        component,
        method,
        clean_key(key),
        _person(organizer) if organizer is not None else None,
        tuple((who, status) for who, status in people if who is not None),
    )


def _person(value: object) -> Mailbox | None:
    """Return the mailbox of an ORGANIZER or ATTENDEE ("mailto:ann@acme.test")."""
    found = next(iter(mailboxes(str(value))), None)
    if found is None:
        return None
    params = getattr(value, "params", {})
    name = " ".join(storable(str(params.get("CN") or "")).strip("\"'").split())
    return Mailbox(found.address, "" if name.lower() == found.address else name)


def _status(value: object) -> str:
    return storable(str(getattr(value, "params", {}).get("PARTSTAT") or "").upper())


def _meeting_node(event: _Event, precedence: float = 0.0) -> NodeDraft:
    start = event.moment("DTSTART")
    return NodeDraft(
        key=event.key,
        node_type="meeting",
        title=" ".join(event.text("SUMMARY").split()) or "(no title)",
        content=event.text("DESCRIPTION"),
        context=_context(event, start),
        metadata=_metadata(event),
        occurred_at=start,
        precedence=precedence,
    )


def _meeting(event: _Event, audience: AudienceDraft) -> Record:
    start = event.moment("DTSTART")
    shown = event.attendees[:MAX_ATTENDEES]
    edges = [
        EdgeDraft(
            source=event.key,
            relation="attended",
            target=person_key(who),
            occurred_at=start,
            quote=status,
        )
        for who, status in shown
        if status != "DECLINED"
    ]
    people = [who for who, _ in shown]
    if event.organizer:
        people.append(event.organizer)
        edges.append(
            EdgeDraft(
                source=event.key,
                relation="organized_by",
                target=person_key(event.organizer),
                occurred_at=start,
            )
        )
    return _record(event, event.key, _meeting_node(event), people, edges, audience)


def _answer(event: _Event, audience: AudienceDraft) -> Record | Failure:
    """Return one attendee's answer; the invitation describes the meeting better."""
    if not event.attendees:
        return Failure(event.key, "an answer to an invitation that names nobody")
    who, status = event.attendees[0]
    key = clean_key(f"{event.key}#reply-{who.address}")
    edges = []
    if status != "DECLINED":
        edges.append(
            EdgeDraft(
                source=event.key,
                relation="attended",
                target=person_key(who),
                occurred_at=event.moment("DTSTART"),
                quote=status,
            )
        )
    return _record(event, key, _meeting_node(event, -1.0), [who], edges, audience)


def _record(
    event: _Event,
    key: str,
    node: NodeDraft,
    people: list[Mailbox],
    edges: list[EdgeDraft],
    audience: AudienceDraft,
) -> Record:
    nodes = {person_key(who): address_node(who) for who in reversed(people)}
    start = event.moment("DTSTART")
    return Record(
        key=key,
        kind="event",
        body=tidy(event.component.to_ical().decode("utf-8", "replace")),
        nodes=(node, *nodes.values()),
        edges=tuple({(e.relation, e.target): e for e in edges}.values()),
        occurred_at=start,
        audience=audience,
        version=_version(event),
        counted=False,
    )


def _version(event: _Event) -> int:
    """Order the revisions of an event: by SEQUENCE, then by when it was sent."""
    said = str(event.component.get("SEQUENCE") or 0).strip()
    sequence = int(said) if said.isdecimal() else 0
    stamp = event.moment("DTSTAMP")
    seconds = int(stamp.timestamp()) if stamp else 0
    return (min(sequence, 2**29) << 33) | min(max(seconds, 0), 2**33 - 1)


def _context(event: _Event, start: datetime | None) -> str:
    said = (
        event.organizer.shown if event.organizer else "",
        day_in_words(start) if start else "",
        event.text("LOCATION"),
    )
    return " · ".join(filter(None, said))


def _metadata(event: _Event) -> dict[str, JSON]:
    start, end = event.moment("DTSTART"), event.moment("DTEND")
    status = event.text("STATUS").upper()
    found: dict[str, JSON] = {
        "start": start.isoformat() if start else None,
        "end": end.isoformat() if end else None,
        "status": status,
        "method": event.method,
        "cancelled": event.method == "CANCEL" or status == "CANCELLED",
        "location": event.text("LOCATION"),
        "attendees": [
            {"address": who.address, "name": who.name, "status": answer}
            for who, answer in event.attendees[:MAX_ATTENDEES]
        ],
    }
    if left_out := len(event.attendees) - MAX_ATTENDEES:
        found |= {"attendees_omitted": left_out} if left_out > 0 else {}
    if rule := event.component.get("RRULE"):
        found["recurrence"] = storable(rule.to_ical().decode("utf-8", "replace"))
    return found


def _moment(value: object) -> datetime | None:
    """Return an iCalendar time in UTC; a day without a time begins at midnight UTC."""
    try:
        found = getattr(value, "dt", None)
    except (ValueError, TypeError):
        return None
    if isinstance(found, datetime):
        aware = found if found.tzinfo else found.replace(tzinfo=UTC)
        return aware.astimezone(UTC)
    if isinstance(found, date):
        return datetime.combine(found, time(), tzinfo=UTC)
    return None
