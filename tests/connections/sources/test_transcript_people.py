from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connections.records import Identity
from connections.sources.transcript_people import is_generic, normalised
from tests.connections.sources.transcript_files import (
    identities,
    make_sentence,
    one,
    targets,
)


@pytest.mark.parametrize(
    ("speaker", "key"),
    [
        ("ann  LEE", "person:ann@acme.test"),
        ("Cy", "person:cy@acme.test"),
        ("dee.fox", "person:dee.fox@acme.test"),
        ("Dee Fox", "person:dee.fox@acme.test"),
        ("eve@acme.test", "person:eve@acme.test"),
        ("Sam Poe", "name:sam poe"),
        ("Zoe Kim", "name:zoe kim"),
        ("Zoe", "name:01J9XK/zoe"),
        ("Speaker 2", "name:01J9XK/speaker 2"),
    ],
)
def test_a_speaker_is_the_one_attendee_of_that_name_or_a_name(tmp_path, speaker, key):
    attendees = [
        {"displayName": "Ann Lee", "email": "ANN@acme.test"},
        {"displayName": "Sam Poe", "email": "sam@acme.test"},
        {"displayName": "Sam Poe", "email": "sam.poe@other.test"},
        {"displayName": None, "email": "cy@acme.test"},
        {"displayName": "D. Fox", "email": "dee.fox@acme.test"},
        {"displayName": "Eve", "email": "eve@acme.test"},
    ]
    found = one(
        tmp_path,
        meeting_attendees=attendees,
        participants=None,
        sentences=[make_sentence(speaker_name=speaker)],
    )

    expected = "person:sam.poe@other.test" if speaker == "Sam Poe" else key
    assert targets(found, "sent_by") == [expected]
    assert expected in targets(found, "attended")
    assert expected in identities(found)


def test_two_attendees_of_one_name_leave_the_speaker_a_name(tmp_path):
    attendees = [
        {"displayName": "Sam Poe", "email": "sp1@acme.test"},
        {"displayName": "Sam Poe", "email": "sp2@acme.test"},
    ]
    sentences = [make_sentence(speaker_name="Sam Poe")]
    found = one(tmp_path, meeting_attendees=attendees, sentences=sentences)

    assert targets(found, "sent_by") == ["name:sam poe"]


def test_identities_have_the_names_people_go_by_and_labels_none(tmp_path):
    spoken = [
        make_sentence(index=n, speaker_name=name)
        for n, name in enumerate(["Zoe Kim", "Zoe", "Speaker 2"])
    ]
    found = identities(one(tmp_path, sentences=spoken))

    assert found["person:ann@acme.test"] == Identity(
        "mail", "ann@acme.test", ("Ann Lee",)
    )
    assert found["person:bob@acme.test"] == Identity("mail", "bob@acme.test")
    assert found["name:zoe kim"] == Identity("name", names=("Zoe Kim",))
    assert found["name:01J9XK/zoe"] == Identity("name", names=("Zoe",))
    assert found["name:01J9XK/speaker 2"] == Identity("name")


@pytest.mark.parametrize(
    "name",
    ["Speaker 2", "Speaker A", "Unknown", "unknown speaker", "7", "?", "Guest-3"],
)
def test_labels_of_machines_are_no_names(name):
    assert is_generic(name)


@pytest.mark.parametrize("name", ["Ann", "Ann Lee", "Guest Smith", "J R", "李 雷"])
def test_names_are_no_labels(name):
    assert not is_generic(name)


@given(st.text())
def test_a_normalised_name_stays_as_it_is(name):
    assert normalised(normalised(name)) == normalised(name)


def test_a_nameless_speaker_is_looked_up_then_numbered_then_nobody(tmp_path):
    found = one(
        tmp_path,
        speakers=[{"id": 0, "name": "Ann Lee"}],
        sentences=[
            make_sentence(index=0, speaker_name=None, speaker_id=0),
            make_sentence(index=1, speaker_name=None, speaker_id=4),
            make_sentence(index=2, speaker_name=None, speaker_id=None),
        ],
    )

    assert targets(found, "sent_by") == [
        "person:ann@acme.test",
        "name:01J9XK/speaker 4",
    ]
