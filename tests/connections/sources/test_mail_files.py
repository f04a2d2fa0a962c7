from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from connections.records import Failure
from connections.sources import mail_files
from connections.sources.base import SourceError
from connections.sources.mail_files import RawMail, read_mails

MAIL = b"From: ann@acme.test\nSubject: %s\n\nwords\n"


def mbox(*mails: bytes, sender: bytes = b"ann@acme.test") -> bytes:
    start = b"From " + sender + b" Mon Jan  1 10:00:00 2024\n"
    return b"\n".join(start + mail for mail in mails)


def write(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def test_an_mbox_is_split_at_its_from_lines(tmp_path):
    path = write(tmp_path, "a.mbox", mbox(MAIL % b"one", MAIL % b"two"))
    first, second = read_mails(path)
    assert (first.data, second.data) == (MAIL % b"one", MAIL % b"two")
    assert first.item == "a.mbox#1 (byte 0)"
    assert first.envelope == "From ann@acme.test Mon Jan  1 10:00:00 2024"


@pytest.mark.parametrize(
    "body",
    [
        b"From the start it was clear.\n",
        b"\nFrom the manual:\nNote: a colon is no header here\n",
        b"\nFrom here at 10:30\nit goes on\n",
        b"\nFrom: not a separator\n",
    ],
)
def test_a_sentence_that_begins_with_from_splits_nothing(tmp_path, body):
    path = write(tmp_path, "a.mbox", mbox(MAIL % b"one" + body, MAIL % b"two"))
    assert [mail.data for mail in read_mails(path)] == [
        MAIL % b"one" + body,
        MAIL % b"two",
    ]


def test_a_masked_sender_separates_mails_too(tmp_path):
    sender = b"|ee @end|ng |rom @cme@test"
    path = write(tmp_path, "a.txt", mbox(MAIL % b"1", MAIL % b"2", sender=sender))
    assert len(list(read_mails(path))) == 2


def test_the_mark_before_from_in_a_body_is_taken_off(tmp_path):
    mail = MAIL % b"one" + b">From here\n>>From there\n> quoted\n"
    (found,) = read_mails(write(tmp_path, "a.mbox", mbox(mail)))
    assert found.data.endswith(b"\nFrom here\n>From there\n> quoted\n")


def test_crlf_and_compressed_mailboxes_are_read_alike(tmp_path):
    plain = mbox(MAIL % b"one", MAIL % b"two" + b">From x\n").replace(b"\n", b"\r\n")
    write(tmp_path, "a.mbox", plain)
    write(tmp_path, "b.mbox.gz", gzip.compress(plain))
    one, two, three, four = read_mails(tmp_path)
    assert (one.data, two.data) == (three.data, four.data)
    assert two.data.endswith(b"\r\nFrom x\r\n")


def test_a_damaged_compressed_file_is_a_failure_and_the_walk_goes_on(tmp_path):
    whole = gzip.compress(mbox(MAIL % b"one") * 50)
    write(tmp_path, "a.mbox.gz", whole[: len(whole) // 2])
    write(tmp_path, "b.gz", b"no gzip")
    write(tmp_path, "c.eml", MAIL % b"fine")
    found = list(read_mails(tmp_path))
    failed = [each.item for each in found if isinstance(each, Failure)]
    assert failed == ["a.mbox.gz", "b.gz"]
    assert found[-1] == RawMail("c.eml", MAIL % b"fine")


def test_a_mail_that_is_too_large_is_named_and_the_next_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(mail_files, "MAX_MAIL_BYTES", 1_000)
    monkeypatch.setattr(mail_files, "_CHUNK", 64)
    long_line = MAIL % b"long" + b"x" * 5_000
    data = mbox(MAIL % b"one", long_line + b"\n", MAIL % b"three")
    one, two, three = read_mails(write(tmp_path, "a.mbox", data))
    assert isinstance(two, Failure)
    assert two.item == f"a.mbox#2 (byte {data.index(b'From ', 10)})"
    assert "1000" in two.error
    assert (one.data, three.data) == (MAIL % b"one", MAIL % b"three")


def test_a_single_mail_that_is_too_large_is_a_failure(tmp_path, monkeypatch):
    monkeypatch.setattr(mail_files, "MAX_MAIL_BYTES", 10)
    (found,) = read_mails(write(tmp_path, "a.eml", MAIL % b"one"))
    assert isinstance(found, Failure)


def test_a_line_longer_than_a_chunk_is_not_split_within(tmp_path, monkeypatch):
    monkeypatch.setattr(mail_files, "_CHUNK", 64)
    line = b"x" * 64 + b"From a@b.test Mon Jan  1 10:00:00 2024"
    mail = MAIL % b"one" + line + b"\nSubject: no header\n"
    (found,) = read_mails(write(tmp_path, "a.mbox", mbox(mail)))
    assert found.data == mail


def test_a_maildir_gives_what_lies_in_cur_and_new_of_all_its_folders(tmp_path):
    for name in ("cur/1:2,S", "new/2", "tmp/3", ".Sent/cur/4", ".Sent/new/5"):
        write(tmp_path, name, MAIL % name.encode())
    (tmp_path / ".Sent" / "tmp").mkdir()
    write(tmp_path, "dovecot-uidlist", b"3 V1 N2")
    found = [mail.item for mail in read_mails(tmp_path)]
    assert sorted(found) == [".Sent/cur/4", ".Sent/new/5", "cur/1:2,S", "new/2"]


def test_a_folder_is_walked_in_order_without_hidden_and_index_files(tmp_path):
    for name in ("b/2.eml", "a.eml", "c.txt", ".git/x.eml", ".DS_Store", "a.msf"):
        write(tmp_path, name, MAIL % b"x")
    assert [mail.item for mail in read_mails(tmp_path)] == [
        "a.eml",
        "c.txt",
        "b/2.eml",
    ]


def test_a_link_out_of_the_folder_and_a_pipe_are_not_read(tmp_path):
    secret = write(tmp_path, "outside.eml", MAIL % b"secret")
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "link.eml").symlink_to(secret)
    (inside / "gone.eml").symlink_to(tmp_path / "nothing")
    os.mkfifo(inside / "pipe")
    found = list(read_mails(inside))
    assert [each.item for each in found] == ["gone.eml", "link.eml", "pipe"]
    assert all(isinstance(each, Failure) for each in found)


def test_an_empty_mail_fails_and_an_empty_mailbox_does_not(tmp_path):
    (found,) = read_mails(write(tmp_path, "a.eml", b""))
    assert found == Failure("a.eml", "the file is empty")
    assert list(read_mails(write(tmp_path, "Trash", b""))) == []


def test_a_location_with_nothing_at_it_says_what_to_name(tmp_path):
    with pytest.raises(SourceError, match="name an mbox file"):
        list(read_mails(tmp_path / "nowhere"))


def test_an_mbox_is_read_one_mail_at_a_time(tmp_path):
    path = write(tmp_path, "a.mbox", mbox(*[MAIL % b"x" * 10] * 2_000))
    found = read_mails(path)
    next(found)
    assert sum(1 for _ in found) == 1_999
