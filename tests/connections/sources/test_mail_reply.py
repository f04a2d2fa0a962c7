from __future__ import annotations

import pytest

from tests.connections.sources.mail_drafts import (
    make_mail,
    own,
    read,
)


def test_quoted_mails_and_the_signature_are_kept_in_the_body_only():
    body = (
        "Agreed, Friday it is. #launch\n\nOn Mon, 8 May 2023, Bob Ray wrote:\n"
        "> Shall we ship?\n> Or wait?\n\n-- \nAnn Lee\nAcme\n"
    )
    record = read(make_mail(body, In_Reply_To="<zero@acme.test>"))
    assert own(record).content == "Agreed, Friday it is. #launch"
    assert "Shall we ship?" in record.body
    assert "Acme" in record.body
    assert own(record).tags == ("launch",)
    assert own(record).metadata["has_quoted"] is True
    assert own(record).metadata["signature"] is True


@pytest.mark.parametrize(
    ("body", "new"),
    [
        ("Ja.\n\nAm 8.5.2023 schrieb Bob Ray:\n> Passt das?\n", "Ja."),
        ("Bob writes:\n\n> one?\n\nYes.\n\n> two?\n\nNo.\n", "Yes.\n\nNo."),
        ("On 8 May 2023, Bob wrote:\n| Shall we?\n| Today?\n\nYes.\n", "Yes."),
        (
            "That suits us very well.\n\nFrom: Bob <b@a.test>\nSent: Monday\n"
            "To: Ann\nSubject: Launch\n\nShall we?\n",
            "That suits us very well.",
        ),
        (
            "These are the open points:\n- one\n- two\n\nThanks, it works now.\nMore.",
            "These are the open points:\n- one\n- two\n\nThanks, it works now.\nMore.",
        ),
        ("> only quoted\n", "> only quoted"),
        ("See /usr/lib.\n/etc too.\n    indented\n", None),
    ],
)
def test_the_content_is_what_the_writer_added(body, new):
    record = read(make_mail(body, References="<zero@acme.test>"))
    assert own(record).content == (body.strip() if new is None else new)


def test_lines_with_a_mark_are_kept_where_the_mail_answers_nothing():
    body = "Run this:\n\n> print(1)\n[1] 1\n"
    assert own(read(make_mail(body))).content == body.strip()


def test_a_forward_is_not_a_quotation():
    body = (
        "FYI\n\n---------- Forwarded message ---------\nFrom: Cy <cy@a.test>\n"
        "Date: Monday\nSubject: Prices\n\nPrices rise in June.\n"
    )
    assert "Prices rise in June." in own(read(make_mail(body))).content
    plain = "FYI\n\nFrom: Cy\nSent: Monday\nTo: Ann\nSubject: Prices\n\nThey rise.\n"
    record = read(make_mail(plain, Subject="FW: Prices"))
    assert "They rise." in own(record).content


def test_html_is_read_where_there_is_no_plain_text():
    page = (
        "<p>New <b>words</b>.</p><div style='display:none'>hidden</div>"
        "<div class=gmail_quote>On Mon, Bob wrote:<blockquote>old</blockquote></div>"
    )
    record = read(
        make_mail(page, Content_Type="text/html", In_Reply_To="<z@acme.test>")
    )
    assert own(record).content == "New words."
    assert "> old" in record.body
    assert "hidden" not in record.body
