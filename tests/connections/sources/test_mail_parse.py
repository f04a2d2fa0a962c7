from __future__ import annotations

import time
from base64 import b64encode
from collections.abc import Iterable
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connections.records import PUBLIC, Failure, Record
from connections.sources.mail import read_mail
from connections.sources.mail_files import RawMail
from tests.connections.sources.mail_drafts import (
    make_mail,
    make_multipart,
    node,
    own,
    read,
    targets,
)


def test_an_attachment_with_text_is_a_part_of_the_mail():
    note = b64encode("Rosé is out of stock.".encode("latin-1")).decode()
    record = read(
        make_multipart(
            "Content-Type: text/plain\n\nSee the note.",
            "Content-Type: text/plain; charset=latin-1\n"
            "Content-Disposition: attachment; filename*=utf-8''stock%20list.txt\n"
            f"Content-Transfer-Encoding: base64\n\n{note}",
            "Content-Type: image/png; name=logo.png\n\nabc",
        )
    )
    assert own(record).content == "See the note."
    part = node(record, "email:one@acme.test#attachment-0")
    assert (part.title, part.content) == ("stock list.txt", "Rosé is out of stock.")
    assert part.context.startswith("attachment of Launch date · Ann Lee")
    assert targets(record, "part_of") == ["email:one@acme.test"]
    names = [each["name"] for each in own(record).metadata["attachments"]]
    assert names == ["stock list.txt", "logo.png"]
    assert record.warnings == ()


def test_a_damaged_attachment_is_named_with_a_warning_if_its_kind_is_read():
    record = read(
        make_multipart(
            "Content-Type: text/plain\n\nSee.",
            "Content-Type: application/pdf; name=plan.pdf\n\nno pdf",
            "Content-Type: application/ms-tnef; name=winmail.dat\n\nxx",
        )
    )
    assert len(own(record).metadata["attachments"]) == 2
    assert [warning.split(":")[0] for warning in record.warnings] == [
        "attachment 'plan.pdf'"
    ]


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("../../etc/passwd", "passwd"),
        ("..", "attachment-0.txt"),
        ("C:\\temp\\a.txt", "a.txt"),
        ("a\u202etxt.exe", "atxt.exe"),
    ],
)
def test_the_name_of_an_attachment_never_leads_out_of_a_folder(name, kept):
    record = read(
        make_multipart(
            "Content-Type: text/plain\n\nSee.",
            "Content-Type: text/plain\n"
            f'Content-Disposition: attachment; filename="{name}"\n\nwords',
        )
    )
    assert own(record).metadata["attachments"][0]["name"] == kept


def test_a_mail_within_a_mail_is_an_attachment_with_its_files():
    inner = make_multipart(
        "Content-Type: text/plain\n\nInner words.",
        "Content-Type: text/plain; name=deep.txt\n\ndeep words",
        Subject="Inner",
    ).decode()
    inner = inner.replace("edge", "inner-edge")
    record = read(
        make_multipart(
            "Content-Type: text/plain\n\nOuter.",
            f"Content-Type: message/rfc822\n\n{inner}",
        )
    )
    texts = [each.content for each in record.nodes if "#attachment" in each.key]
    assert own(record).content == "Outer."
    assert "Subject: Inner" in texts[0]
    assert "Inner words." in texts[0]
    assert texts[1] == "deep words"


def test_an_invitation_is_a_record_beside_the_mail_and_a_broken_one_a_warning():
    ics = (
        "BEGIN:VCALENDAR\nMETHOD:REQUEST\nBEGIN:VEVENT\nUID:e1\nSUMMARY:Budget\n"
        "DTSTART:20240108T100000Z\nEND:VEVENT\nEND:VCALENDAR"
    )
    data = make_multipart(
        "Content-Type: text/plain\n\nJoin us.",
        f"Content-Type: text/calendar; method=REQUEST\n\n{ics}",
        "Content-Type: application/ics; name=x.ics\n\nbroken",
    )
    mail, event = read_mail(RawMail("a.eml", data), PUBLIC)
    assert (event.key, event.counted) == ("event:e1", False)
    assert len(mail.warnings) == 1
    assert "calendar" in mail.warnings[0]


def strings(value: object) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from strings(key)
            yield from strings(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from strings(each)


def check_storable(found: Iterable[Record | Failure]) -> None:
    for record in found:
        drafts = (
            [record.item, record.error]
            if isinstance(record, Failure)
            else [
                record.body,
                record.key,
                *record.warnings,
                *map(asdict, (*record.nodes, *record.edges, *record.aliases)),
            ]
        )
        for text in strings(drafts):
            assert "\x00" not in text
            text.encode()


@given(st.binary(max_size=400))
def test_arbitrary_bytes_never_raise_and_always_can_be_stored(data):
    check_storable(read_mail(RawMail("x", data), PUBLIC))
    check_storable(read_mail(RawMail("x", b"From: a@b\n" + data), PUBLIC))


WHOLE = make_multipart(
    "Content-Type: text/plain; charset=utf-8\n\nWords.",
    "Content-Type: message/rfc822\n\nSubject: inner\n\ninner",
    "Content-Type: message/delivery-status\n\nA: b\n\nC: d",
    "Content-Type: application/x; name*=utf-8''a%00b\n"
    "Content-Transfer-Encoding: base64\n\nAAAA",
    "Content-Type: text/html; charset=x\nContent-Transfer-Encoding: uuencode\n\nbegin",
    References="<r@x> <s@x>",
    Cc="=?utf-8?q?=00=ED=A0=80?= <cy@a.test>",
)


@given(st.integers(0, len(WHOLE)), st.binary(max_size=12))
def test_a_damaged_mail_never_raises_and_always_can_be_stored(at, noise):
    check_storable(
        read_mail(RawMail("x", WHOLE[:at] + noise + WHOLE[at + len(noise) :]), PUBLIC)
    )
    check_storable(read_mail(RawMail("x", WHOLE[:at] + noise), PUBLIC))


def test_surrogates_and_nul_never_reach_a_draft():
    data = make_mail(
        "a\x00b",
        Subject="=?utf-8?b?7aCA?= =?utf-16?b?ANg=?= \x00",
        From="=?utf-7?q?+2AA-?= <a\x00n@acme.test>",
        Message_ID="<\x00\udcff@x>",
    )
    check_storable([read(data)])


@pytest.mark.parametrize(
    "data",
    [
        "".join(
            f'Content-Type: multipart/mixed; boundary="b{n}"\n\n--b{n}\n'
            for n in range(10_000)
        ).encode(),
        b"Subject: x\n" * 100_000 + b"\nwords",
        make_mail(Subject="x" * 2_000_000),
        make_mail(References="<a@x> " * 200_000),
        make_mail(To="(" * 500_000),
        make_mail("<div>" * 100_000, Content_Type="text/html"),
        make_mail(
            "> " * 500_000 + "\n" + "On x wrote:\n" * 50_000, In_Reply_To="<a@x>"
        ),
        make_mail("x" * 5_000_000),
        b"Content-Type: message/rfc822\n\n" * 5_000,
        make_multipart(*["Content-Type: text/plain\n\nx"] * 5_000),
    ],
    ids=[
        "nested parts",
        "headers",
        "subject",
        "references",
        "comments",
        "html",
        "quotes",
        "line",
        "nested mails",
        "parts",
    ],
)
def test_a_hostile_mail_is_read_in_bounded_time(data):
    began = time.monotonic()
    found = list(read_mail(RawMail("x", data), PUBLIC))
    assert isinstance(found[0], Record)
    assert time.monotonic() - began < 20


def test_a_truncated_multipart_keeps_what_is_there():
    data = make_multipart("Content-Type: text/plain\n\nFirst words.")
    record = read(data[: data.index(b"words") + 6])
    assert own(record).content == "First words."
