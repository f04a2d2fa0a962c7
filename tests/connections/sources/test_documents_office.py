from __future__ import annotations

import base64
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from connections.sources import documents_office, documents_zip
from connections.sources.documents import Unreadable, read_document
from connections.sources.documents_formats import parse
from tests.connections.sources.samples import (
    MAKERS,
    SAMPLES,
    contents,
    make_docx,
    make_pdf,
    make_pptx,
    make_xlsx,
    make_zip,
    outcome,
    replaced,
    titles,
)

# Office files and PDF


def test_word_sections_follow_headings_and_keep_tables() -> None:
    document = read_document("a.docx", make_docx())
    assert titles(document) == ["", "Booking", "Hotels"]
    assert contents(document)[1] == (
        "Booking\nBook early. #savings\nClass | Limit\nRail | 200"
    )
    assert document.sections[2].path == ("Booking",)
    assert document.title == "Travel policy"
    assert document.metadata["author"] == "Ann Lee"
    assert document.tags == ("money", "savings", "travel")
    assert document.occurred_at == datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)


def test_words_in_content_controls_and_tracked_changes_are_read() -> None:
    inserted = (
        b"<w:sdt><w:sdtContent><w:p><w:r><w:t>In a control.</w:t></w:r></w:p>"
        b"</w:sdtContent></w:sdt><w:p><w:ins><w:r><w:t>Inserted.</w:t></w:r></w:ins>"
        b"<w:del><w:r><w:delText>Deleted.</w:delText></w:r></w:del>"
        b"<w:r><w:rPr><w:vanish/></w:rPr><w:t>Hidden.</w:t></w:r></w:p><w:sectPr"
    )
    data = replaced(
        make_docx(),
        "word/document.xml",
        lambda xml: xml.replace(b"<w:sectPr", inserted, 1),
    )
    text = read_document("a.docx", data).text
    assert "In a control." in text
    assert "Inserted." in text
    assert "Deleted." not in text
    assert "Hidden." not in text


def test_slides_are_sections_with_tables_and_notes() -> None:
    document = read_document("a.pptx", make_pptx())
    assert titles(document) == ["Goals", "Slide 2"]
    assert contents(document) == [
        "Goals\nShip in June\n\nMention the budget.",
        "Owner | Bob",
    ]
    assert document.title == "Kickoff"


def test_sheets_are_sections_with_a_line_a_row() -> None:
    document = read_document("a.xlsx", make_xlsx())
    assert titles(document) == ["Prices", "Stock"]
    assert contents(document) == [
        "item | price |  | since\npart 1 | 2 |  | 2024-01-02",
        "TRUE | 3.5",
    ]


def test_a_cut_sheet_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents_office, "MAX_ROWS", 3)
    document = parse("a.xlsx", make_xlsx(rows=9))
    assert contents(document)[0].count("\n") == 2
    assert document.warnings == ("sheet 'Prices': only the first 3 rows were read",)


def test_the_same_office_bytes_give_the_same_document_without_a_stated_date() -> None:
    def undated(xml: bytes) -> bytes:
        return re.sub(rb"<dcterms:(created|modified).*?</dcterms:\1>", b"", xml)

    for suffix in ("docx", "pptx", "xlsx"):
        data = replaced(SAMPLES[suffix], "docProps/core.xml", undated)
        assert read_document(f"a.{suffix}", data).occurred_at is None


def test_pdf_pages_are_sections_under_their_bookmarks() -> None:
    document = read_document("a.pdf", make_pdf())
    assert contents(document) == ["First page here", "Second page"]
    assert titles(document) == ["Page 1", "Page 2"]
    assert [section.path for section in document.sections] == [
        ("Chapter 1",),
        ("Chapter 2",),
    ]
    assert document.title == "Yearly report"
    assert document.metadata["author"] == "Ann Lee"


def test_a_locked_pdf_is_unreadable() -> None:
    with pytest.raises(Unreadable, match="password"):
        read_document("a.pdf", make_pdf(encrypt="secret"))


# Hostile input


@pytest.mark.parametrize("suffix", sorted(MAKERS))
def test_an_empty_or_cut_file_is_unreadable_with_a_reason(suffix: str) -> None:
    data = MAKERS[suffix]()
    with pytest.raises(Unreadable, match="empty"):
        read_document(f"a.{suffix}", b"")
    if suffix != "pdf":
        with pytest.raises(Unreadable, match="damaged"):
            read_document(f"a.{suffix}", data[: len(data) // 2])


@pytest.mark.parametrize("suffix", ["docx", "pptx", "xlsx", "epub"])
def test_a_zip_bomb_is_refused_before_it_is_unpacked(suffix: str) -> None:
    bomb = make_zip({"word/media/x.xml": b"\0" * (40 * 2**20)}, MAKERS[suffix]())
    with pytest.raises(Unreadable, match="too dense"):
        read_document(f"a.{suffix}", bomb)


def test_a_container_of_too_many_or_too_large_parts_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(documents_zip, "MAX_ENTRIES", 3)
    with pytest.raises(Unreadable, match="too large"):
        parse("a.docx", make_docx())


def test_parts_named_to_climb_out_write_nothing(tmp_path: Path) -> None:
    target = tmp_path / "climbed-out"
    names = ["../" * 12 + str(target).lstrip("/"), str(target)]
    data = make_zip(dict.fromkeys(names, b"x"), make_docx())
    assert "Book early" in read_document("a.docx", data).text
    assert not target.exists()


def test_entities_that_multiply_are_not_expanded() -> None:
    laughs = b'<!DOCTYPE w [<!ENTITY a0 "ha">' + b"".join(
        b'<!ENTITY a%d "%s">' % (n, b"&a%d;" % (n - 1) * 10) for n in range(1, 12)
    )

    def change(xml: bytes) -> bytes:
        xml = xml.replace(b"<w:document", laughs + b"]><w:document", 1)
        return xml.replace(b"Book early", b"Book &a11; early")

    data = replaced(make_docx(), "word/document.xml", change)
    found = outcome("a.docx", data)
    assert len(found if isinstance(found, str) else found.text) < 10_000


def test_an_office_file_of_the_old_format_says_what_it_is() -> None:
    old = base64.b64decode("0M8R4KGxGuE=") + b"\0" * 600
    with pytest.raises(Unreadable, match="password, or of a format older"):
        read_document("a.docx", old)


def test_deep_nesting_ends_in_a_document_or_a_reason() -> None:
    for name, data in (
        ("a.html", b"<div>" * 50_000 + b"deep"),
        ("a.md", b">" * 50_000 + b" deep"),
        ("a.md", b"[" * 20_000 + b"deep"),
        ("a.ipynb", b"[" * 100_000),
    ):
        found = outcome(name, data)
        assert found if isinstance(found, str) else found.sections


SUFFIXES = [
    "md",
    "txt",
    "csv",
    "html",
    "pdf",
    "docx",
    "pptx",
    "xlsx",
    "epub",
    "ipynb",
    "py",
    "xyz",
]
MAGIC = [
    b"",
    b"%PDF-1.7\n",
    b"PK\x03\x04",
    b"---\n",
    b"\xff\xfe",
    b"<html>",
    b"{",
    b"#",
]


@given(st.sampled_from(SUFFIXES), st.sampled_from(MAGIC), st.binary(max_size=400))
@settings(max_examples=300, deadline=None)
def test_arbitrary_bytes_give_a_document_or_a_reason(
    suffix: str, magic: bytes, rest: bytes
) -> None:
    found = outcome(f"a.{suffix}", magic + rest)
    assert found if isinstance(found, str) else found.sections
    text = found if isinstance(found, str) else found.text
    assert text.encode().decode() == text


@given(
    st.sampled_from(sorted(MAKERS)),
    st.integers(min_value=0),
    st.binary(min_size=1, max_size=20),
)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_damaged_file_gives_a_document_or_a_reason(
    suffix: str, at: int, noise: bytes
) -> None:
    data = SAMPLES[suffix]
    at %= len(data)
    found = outcome(f"a.{suffix}", data[:at] + noise + data[at + len(noise) :])
    assert found if isinstance(found, str) else found.sections
