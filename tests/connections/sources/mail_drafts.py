"""Mails made by hand, and the drafts that come of them."""

from __future__ import annotations

from pathlib import Path

from connections.records import PUBLIC, AudienceDraft, Failure, NodeDraft, Record
from connections.sources.base import Pull
from connections.sources.mail import MailConnector, read_mail
from connections.sources.mail_files import RawMail


def make_mail(body: str | bytes = "We ship on Friday.\n", **headers: str) -> bytes:
    """Return a mail; `headers` replace the default ones, "" leaves one out."""
    lines = {
        "From": "Ann Lee <ann@acme.test>",
        "To": "Bob Ray <bob@acme.test>",
        "Subject": "Launch date",
        "Date": "Mon, 8 May 2023 10:00:00 +0200",
        "Message-ID": "<one@acme.test>",
    } | {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\n" for name, value in lines.items() if value)
    words = body if isinstance(body, bytes) else body.encode()
    return head.encode("utf-8", "surrogateescape") + b"\n" + words


def make_multipart(*parts: str, **headers: str) -> bytes:
    content_type = 'multipart/mixed; boundary="edge"'
    body = "".join(f"--edge\n{part}\n" for part in parts) + "--edge--\n"
    return make_mail(body, Content_Type=content_type, **headers)


def read(data: bytes, envelope: str = "") -> Record:
    found = list(read_mail(RawMail("a.eml", data, envelope), PUBLIC))
    assert isinstance(found[0], Record), found
    return found[0]


def own(record: Record) -> NodeDraft:
    return record.nodes[0]


def node(record: Record, key: str) -> NodeDraft:
    return next(each for each in record.nodes if each.key == key)


def targets(record: Record, relation: str) -> list[str]:
    return [edge.target for edge in record.edges if edge.relation == relation]


def pull(path: Path, audience: AudienceDraft | None = None) -> list[Record | Failure]:
    return list(MailConnector().pull(Pull(path, "mail", audience=audience)))
