from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connections.records import PUBLIC, Failure, Record
from connections.sources.mail_calendar import read_invites


def make_ics(method: str = "REQUEST", **changes: str) -> bytes:
    lines = {
        "UID": "UID:budget-1@acme.test",
        "SEQUENCE": "SEQUENCE:2",
        "DTSTAMP": "DTSTAMP:20240101T100000Z",
        "DTSTART": "DTSTART;TZID=Europe/Berlin:20240108T100000",
        "DTEND": "DTEND;TZID=Europe/Berlin:20240108T110000",
        "SUMMARY": "SUMMARY:Budget\\, final round",
        "DESCRIPTION": "DESCRIPTION:Bring numbers.",
        "LOCATION": "LOCATION:Room 4",
        "ORGANIZER": 'ORGANIZER;CN="Lee, Ann":mailto:Ann@acme.test',
        "ATTENDEE": "ATTENDEE;PARTSTAT=ACCEPTED;CN=Bob Ray:mailto:bob@acme.test",
        "OTHER": "ATTENDEE;PARTSTAT=DECLINED:mailto:cy@acme.test",
    } | changes
    body = [line for line in lines.values() if line]
    head = ["BEGIN:VCALENDAR", "VERSION:2.0", f"METHOD:{method}", "BEGIN:VEVENT"]
    tail = ["END:VEVENT", "END:VCALENDAR", ""]
    return "\r\n".join([*head, *body, *tail]).encode()


def read(data: bytes) -> list[Record | Failure]:
    return list(read_invites(data, "a.eml", PUBLIC))


def edges(record: Record) -> set[tuple[str, str, str]]:
    return {(edge.relation, edge.target, edge.quote) for edge in record.edges}


def test_an_invitation_is_a_meeting_with_its_people():
    (record,) = read(make_ics())
    node = record.nodes[0]
    assert (record.key, record.kind, record.counted) == (
        "event:budget-1@acme.test",
        "event",
        False,
    )
    assert (node.key, node.node_type, node.title) == (
        record.key,
        "meeting",
        "Budget, final round",
    )
    assert node.content == "Bring numbers."
    assert node.context == "Lee, Ann <ann@acme.test> · Monday 8 January 2024 · Room 4"
    assert node.occurred_at == datetime(2024, 1, 8, 9, tzinfo=UTC)
    assert node.metadata["end"] == "2024-01-08T10:00:00+00:00"
    assert edges(record) == {
        ("attended", "person:bob@acme.test", "ACCEPTED"),
        ("organized_by", "person:ann@acme.test", ""),
    }


def test_one_occurrence_of_a_series_has_a_key_of_its_own():
    (record,) = read(make_ics(RID="RECURRENCE-ID:20240108T090000Z"))
    assert record.key == "event:budget-1@acme.test/20240108T090000Z"


def test_the_greater_sequence_wins_then_the_later_stamp():
    old = make_ics(SEQUENCE="SEQUENCE:1", DTSTAMP="DTSTAMP:20250101T100000Z")
    later = make_ics(DTSTAMP="DTSTAMP:20240101T100001Z")
    versions = [read(data)[0].version for data in (old, make_ics(), later)]
    assert versions == sorted(set(versions))
    assert versions[-1] < 2**63


def test_a_cancellation_says_so():
    assert read(make_ics("CANCEL"))[0].nodes[0].metadata["cancelled"] is True
    assert read(make_ics())[0].nodes[0].metadata["cancelled"] is False


def test_an_answer_is_a_record_of_its_own_with_the_status_as_its_words():
    (record,) = read(make_ics("REPLY", OTHER=""))
    assert record.key == "event:budget-1@acme.test#reply-bob@acme.test"
    assert edges(record) == {("attended", "person:bob@acme.test", "ACCEPTED")}
    assert record.nodes[0].precedence < read(make_ics())[0].nodes[0].precedence


def test_who_declined_did_not_attend():
    (record,) = read(
        make_ics(
            "REPLY", ATTENDEE="ATTENDEE;PARTSTAT=DECLINED:mailto:b@a.test", OTHER=""
        )
    )
    assert record.edges == ()


def test_a_day_without_time_begins_at_midnight():
    (record,) = read(make_ics(DTSTART="DTSTART;VALUE=DATE:20240108", DTEND=""))
    assert record.occurred_at == datetime(2024, 1, 8, tzinfo=UTC)


@pytest.mark.parametrize(
    "broken",
    [
        {"DTEND": "DTEND:nonsense"},
        {"SEQUENCE": "SEQUENCE:many"},
        {"DTSTART": "DTSTART;TZID=Nowhere/Town:20240108T100000"},
        {"DTSTAMP": ""},
        {"ORGANIZER": "ORGANIZER:nobody"},
        {"DESCRIPTION": "DESCRIPTION:a\x00b"},
    ],
)
def test_a_broken_property_does_not_lose_the_event(broken):
    (record,) = read(make_ics(**broken))
    assert record.nodes[0].title == "Budget, final round"
    assert "\x00" not in record.body + record.nodes[0].content


@pytest.mark.parametrize(
    "data", [b"", b"no calendar", make_ics()[:60], make_ics(UID=""), b"\xff\xfe" * 99]
)
def test_what_is_no_event_is_a_failure_with_its_reason(data):
    (found,) = read(data)
    assert isinstance(found, Failure)
    assert found.item == "a.eml"
    assert found.error


@given(st.binary(max_size=300))
def test_no_bytes_raise(data):
    assert all(isinstance(each, Record | Failure) for each in read(data))


@given(st.integers(0, 700), st.binary(max_size=6))
def test_no_damage_to_a_calendar_raises(at, noise):
    whole = make_ics()
    assert read(whole[:at] + noise + whole[at + len(noise) :])
