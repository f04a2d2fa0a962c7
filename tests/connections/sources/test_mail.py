from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from connections.records import PUBLIC, AudienceDraft, Failure
from connections.sources import mail as mail_module
from connections.sources.base import connectors
from connections.sources.mail import MailConnector
from tests.connections.sources.mail_drafts import (
    make_mail,
    node,
    own,
    pull,
    read,
    targets,
)


def test_a_mail_is_a_counted_record_with_its_own_node_first():
    record = read(make_mail())
    assert (record.key, record.kind, record.counted) == (
        "email:one@acme.test",
        "mail",
        True,
    )
    assert (own(record).key, own(record).node_type) == (record.key, "email")
    assert (own(record).title, own(record).content) == (
        "Launch date",
        "We ship on Friday.",
    )
    assert (
        own(record).context
        == "Ann Lee <ann@acme.test> · Monday 8 May 2023 · to Bob Ray"
    )
    assert record.occurred_at == datetime(2023, 5, 8, 8, tzinfo=UTC)


def test_the_connector_is_registered_and_personal(tmp_path):
    assert connectors["mail"] is MailConnector
    assert (MailConnector.complete, MailConnector.personal) == (False, True)
    closed = AudienceDraft("private", "ann")
    path = tmp_path / "a.eml"
    path.write_bytes(make_mail())
    assert [record.audience for record in pull(path)] == [PUBLIC]
    assert [record.audience for record in pull(path, closed)] == [closed]


def test_a_file_of_text_without_headers_is_a_failure(tmp_path):
    (tmp_path / "LICENSE").write_text("All rights given.\n\nNote: none kept.\n")
    (tmp_path / "a.eml").write_bytes(make_mail())
    failure, record = pull(tmp_path)
    assert failure == Failure("LICENSE", "no mail headers: the file is not a mail")
    assert record.key == "email:one@acme.test"


def test_people_are_address_nodes_with_names_that_are_names():
    record = read(make_mail(To="bob@acme.test, 'cy@acme.test' <cy@acme.test>"))
    ann = node(record, "person:ann@acme.test")
    assert (ann.node_type, ann.title) == ("address", "Ann Lee")
    assert (ann.identity.side, ann.identity.names) == ("mail", ("Ann Lee",))
    assert node(record, "person:cy@acme.test").identity.names == ()
    assert targets(record, "sent_by") == ["person:ann@acme.test"]
    assert sorted(targets(record, "participant")) == [
        "person:ann@acme.test",
        "person:bob@acme.test",
        "person:cy@acme.test",
    ]


@pytest.mark.parametrize(
    ("sender", "key", "name"),
    [
        ("bob at example.org (Bob Ray)", "person:bob@example.org", "Bob Ray"),
        (
            "B0b@ @end|ng  |rom ex@mp|e@org (Bob Ray)",
            "person:b0b@ @end|ng |rom ex@mp|e@org",
            "Bob Ray",
        ),
        ("=?utf-8?q?J=C3=BCrgen=2C_B?= <j@a.test>", "person:j@a.test", "Jürgen, B"),
        ('"Ray, Bob" <bob@a.test>', "person:bob@a.test", "Ray, Bob"),
        ("Team: Bob <bob@a.test>;", "person:bob@a.test", "Bob"),
        ("bob@corp.test via board <board@a.test>", "person:board@a.test", ""),
        ("B\udcf6b <bob@a.test>", "person:bob@a.test", "Böb"),
        ("=?utf-8?b?w6?= <bob@a.test>", "person:bob@a.test", None),
    ],
)
def test_senders_are_read_however_they_are_written(sender, key, name):
    record = read(make_mail(From=sender))
    assert targets(record, "sent_by") == [key]
    if name is not None:
        assert node(record, key).identity.names == ((name,) if name else ())


def test_a_list_is_no_participant_and_its_rewritten_sender_is_resolved():
    record = read(
        make_mail(
            From="Ann Lee via board <board@a.test>",
            Reply_To="Ann Lee <ann@acme.test>",
            To="board@a.test",
            List_Post="<mailto:board@a.test>",
        )
    )
    assert targets(record, "sent_by") == ["person:ann@acme.test"]
    assert targets(record, "participant") == ["person:ann@acme.test"]


def test_thousands_of_recipients_are_capped_and_counted():
    many = ", ".join(f"P {n} <p{n}@acme.test>" for n in range(5_000))
    record = read(make_mail(To=many))
    assert len(targets(record, "participant")) == mail_module.MAX_PARTICIPANTS
    assert own(record).metadata["participants_omitted"] == 5_001 - 200
    assert own(record).context.endswith("to P 0, P 1, P 2 and 4997 more")


@pytest.mark.parametrize(
    ("headers", "envelope", "moment"),
    [
        ({"Date": "8 May 23 10:00 GMT"}, "", datetime(2023, 5, 8, 10, tzinfo=UTC)),
        ({"Date": "Thu, 1 Jan 1970 00:00:00 GMT"}, "", None),
        ({"Date": "Thu, 1 Jan 2099 00:00:00 GMT"}, "", None),
        ({"Date": "soon"}, "", None),
        (
            {"Date": "", "Received": "by a; Mon, 8 May 2023 10:00:00 GMT"},
            "",
            datetime(2023, 5, 8, 10, tzinfo=UTC),
        ),
        (
            {"Date": ""},
            "From ann@acme.test Mon May  8 10:00:00 2023",
            datetime(2023, 5, 8, 10, tzinfo=UTC),
        ),
        (
            {"Date": "Mon, 8 May 2023 10:00:00 +9900"},
            "",
            datetime(2023, 5, 8, 10, tzinfo=UTC),
        ),
    ],
)
def test_a_date_that_cannot_be_true_gives_way_to_the_next_best(
    headers, envelope, moment
):
    record = read(make_mail(**headers), envelope)
    assert record.occurred_at == moment
    position = next(e.position for e in record.edges if e.relation == "in_thread")
    assert position == Decimal(int(moment.timestamp()) if moment else 0)


@pytest.mark.parametrize(
    ("data", "content_type", "text"),
    [
        ("Grüße".encode("latin-1"), "text/plain; charset=iso-8859-1", "Grüße"),
        ("Grüße".encode(), "text/plain; charset=unknown-8bit", "Grüße"),
        ("日本語".encode("iso2022_jp"), "text/plain; charset=iso-2022-jp", "日本語"),
        (b"a\x00b", "text/plain", "a\ufffdb"),
        ("Grüße".encode(), "text/plain; charset", "Grüße"),
        ("Grüße".encode(), "rubbish", "Grüße"),
        ("Grüße".encode(), "text/plain; charset=a\x00b", "Grüße"),
    ],
)
def test_text_is_decoded_as_declared_or_as_it_is(data, content_type, text):
    assert own(read(make_mail(data, Content_Type=content_type))).content == text


def test_the_declared_language_is_kept_where_it_is_known():
    assert own(read(make_mail(Content_Language="de-AT, en"))).language == "german"
    assert own(read(make_mail(Content_Language="tlh"))).language == ""


@pytest.mark.parametrize(
    ("headers", "automatic", "bulk"),
    [
        ({}, False, False),
        ({"Auto_Submitted": "auto-replied"}, True, False),
        ({"Auto_Submitted": "no"}, False, False),
        ({"From": "No Reply <no-reply@a.test>"}, True, False),
        ({"X_Auto_Response_Suppress": "All"}, True, False),
        ({"List_Unsubscribe": "<https://a.test/u>"}, False, True),
        (
            {"List_Unsubscribe": "<https://a.test/u>", "List_Id": "<n.a.test>"},
            False,
            True,
        ),
        ({"Precedence": "bulk"}, True, True),
        ({"Precedence": "bulk", "List_Post": "<mailto:l@a.test>"}, False, False),
        ({"Precedence": "bulk", "Sender": "owner-l@a.test"}, False, False),
        ({"Precedence": "bulk", "List_Post": "NO"}, True, True),
        ({"Precedence": "list", "Mailing_List": "list l@a.test"}, False, False),
    ],
)
def test_automatic_and_bulk_mail_is_marked_and_kept(headers, automatic, bulk):
    found = own(read(make_mail(**headers))).metadata
    assert (found["automatic"], found["bulk"]) == (automatic, bulk)


def test_labels_and_the_list_are_kept():
    found = own(
        read(make_mail(X_Gmail_Labels="Inbox,Q3 plan,Inbox", List_Id="Us <l.a.test>"))
    ).metadata
    assert found["labels"] == ("Inbox", "Q3 plan")
    assert found["list_id"] == "l.a.test"


def test_without_an_id_the_key_is_a_hash_of_the_bytes():
    data = make_mail(Message_ID="")
    record = read(data)
    assert record.key == f"email:sha256-{record.raw_sha256[:32]}"
    assert read(data) == record
    assert read(data + b"x").key != record.key


def test_of_two_mails_with_one_id_the_same_wins_in_any_order():
    one, two = read(make_mail("one")), read(make_mail("two"))
    assert one.key == two.key
    assert one.version != two.version
    assert 0 <= one.version < 2**63
