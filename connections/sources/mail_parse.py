"""From the bytes of one mail to what it says: headers, text, attachments, invites."""

from __future__ import annotations

import email
import email.message
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from email.parser import BytesHeaderParser
from email.policy import Compat32
from functools import cached_property

from connections.sources.mail_headers import (
    Mailbox,
    answered_ids,
    header_text,
    mailboxes,
    message_id,
    message_ids,
    moment,
)
from connections.sources.text import (
    decode_bytes,
    html_to_text,
    known_charset,
    storable,
    tidy,
)

MAX_PARTS = 2_000
MAX_NESTED_MAILS = 10
MAX_BOUNDARIES = 1_000
MAX_HTML = 5_000_000
# Where mail programs put the mail that is answered, besides in a blockquote.
REPLY_NODES = (
    ".gmail_quote, .yahoo_quoted, #divRplyFwdMsg, #divRplyFwdMsg ~ *, "
    "#appendonsend ~ *, #reply-intro ~ *, .protonmail_quote"
)

# A file that has none of these is no mail, whatever colons are in its first lines.
_KNOWN_HEADERS = frozenset(
    (
        "from", "to", "cc", "bcc", "subject", "date", "received", "message-id",
        "return-path", "sender", "reply-to", "delivered-to", "mime-version",
        "content-type", "in-reply-to", "references", "resent-from", "resent-to",
    )
)  # fmt: skip
_SUFFIXES = {
    "application/pdf": ".pdf",
    "text/calendar": ".ics",
    "text/html": ".html",
    "text/plain": ".txt",
    "text/markdown": ".md",
    "text/csv": ".csv",
    "message/rfc822": ".eml",
}
_FORWARD_SUBJECT = re.compile(r"\s*(?:fwd?|wg|tr|rv|i|enc|doorst|vs)\s*:", re.I)
_GAP = re.compile(rb"\n\r?\n")
_BLANK_COLON = re.compile(rb"(?m)^([\x21-\x39\x3b-\x7e]{1,80})[ \t]{1,20}:")
_PATH = re.compile(r"[/\\]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\u200e\u200f\u202a-\u202e\u2066-\u2069]")

Message = email.message.Message


class _AsWritten(Compat32):
    """The lenient policy, without its replacing of bytes beyond ASCII."""

    def header_fetch_parse(self, name: str, value: str) -> str:
        return value


_AS_WRITTEN = _AsWritten()


class NotMail(ValueError):
    """Bytes that are no mail; the message says why."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """A part that is not the mail's own text; `text` where the part itself is text."""

    name: str
    media_type: str
    data: bytes
    text: str = ""


@dataclass(slots=True)
class _Contents:
    """What the parts of a mail hold, in their order."""

    plain: list[str] = field(default_factory=list)
    html: list[str] = field(default_factory=list)
    attachments: list[Attachment] = field(default_factory=list)
    calendars: list[bytes] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class ParsedMail:
    """One mail, decoded; every text in it can be stored in a database."""

    headers: tuple[tuple[str, str], ...]
    charset: str
    body: str
    attachments: tuple[Attachment, ...]
    calendars: tuple[bytes, ...]
    warnings: tuple[str, ...]

    def raw(self, name: str) -> str:
        """Return the first header of that name as it stands, "" where there is none."""
        return next(iter(self.all_raw(name)), "")

    def all_raw(self, name: str) -> tuple[str, ...]:
        """Return every header of that name as it stands."""
        return tuple(value for key, value in self.headers if key == name)

    def text(self, name: str) -> str:
        """Return a header's decoded value, "" where there is none."""
        return header_text(self.raw(name), self.charset)

    def people(self, name: str, *, masked: bool = False) -> tuple[Mailbox, ...]:
        """Return the mailboxes of all headers of that name, each once."""
        found = (
            mailbox
            for value in self.all_raw(name)
            for mailbox in mailboxes(value, self.charset, masked=masked)
        )
        return tuple(dict.fromkeys(found))

    @cached_property
    def subject(self) -> str:
        return self.text("subject")

    @cached_property
    def message_id(self) -> str:
        return message_id(self.raw("message-id"))

    @cached_property
    def references(self) -> tuple[str, ...]:
        """The ids of the mails before it in its thread, the oldest first."""
        return message_ids(" ".join(self.all_raw("references")))

    @cached_property
    def in_reply_to(self) -> tuple[str, ...]:
        return answered_ids(self.raw("in-reply-to"))

    @property
    def forwards(self) -> bool:
        """Whether the subject says that the mail hands on another one."""
        return bool(_FORWARD_SUBJECT.match(self.subject))

    def sent_at(self, envelope: str = "") -> datetime | None:
        """Return when it was sent: by its Date, else the first relay, else the mbox."""
        relays = (value.rpartition(";")[2] for value in self.all_raw("received")[::-1])
        enveloped = envelope.split(maxsplit=2)[2:]
        written = (self.raw("date"), *relays, *enveloped)
        return next(filter(None, map(moment, filter(None, written))), None)


def parse_mail(data: bytes) -> ParsedMail:
    """Return the mail in `data`; raise `NotMail` where it is none, nothing else."""
    data = data.lstrip(b"\r\n")
    if not data.strip():
        raise NotMail("the mail is empty")
    data = _without_blanks_before_colons(data)
    headers = _headers(BytesHeaderParser(policy=_AS_WRITTEN).parsebytes(data))
    if not any(name in _KNOWN_HEADERS for name, _ in headers):
        raise NotMail("no mail headers: the file is not a mail")
    message, warnings = _message(data)
    contents = _contents(message, 0)
    contents.warnings[:0] = warnings
    return ParsedMail(
        headers=headers,
        charset=_charset(message),
        body=_body(contents, headers),
        attachments=tuple(contents.attachments),
        calendars=tuple(contents.calendars),
        warnings=tuple(dict.fromkeys(contents.warnings)),
    )


def _without_blanks_before_colons(data: bytes) -> bytes:
    """Return `data` with "From :" as "From:", which was allowed until 2001."""
    end = _GAP.search(data)
    head = data[: end.start()] if end else data
    return _BLANK_COLON.sub(rb"\1:", head) + data[len(head) :]


def _message(data: bytes) -> tuple[Message, list[str]]:
    """Parse leniently: the oldest policy keeps every header and never raises.

    The parser recurses by the depth of the parts and looks at each line for every
    open boundary; a mail that abuses this is read as one plain text.
    """
    if data.lower().count(b"boundary") <= MAX_BOUNDARIES:
        try:
            return email.message_from_bytes(data, policy=_AS_WRITTEN), []
        except (RecursionError, ValueError, LookupError, TypeError, AttributeError):
            pass
    flat = BytesHeaderParser(policy=_AS_WRITTEN).parsebytes(data)
    del flat["content-type"]
    del flat["content-transfer-encoding"]
    return flat, ["its parts are nested too deeply; it was read as one text"]


def _headers(message: Message) -> tuple[tuple[str, str], ...]:
    return tuple((name.lower(), str(value)) for name, value in message.raw_items())


def _charset(message: Message) -> str:
    """Return the charset of the mail's first text, "" where none is declared."""
    for _, part in zip(range(MAX_PARTS), _leaves(message), strict=False):
        if part.get_content_maintype() == "text":
            charset = _declared(part)
            return charset if known_charset(charset) else ""
    return ""


def _declared(part: Message) -> str:
    try:
        return part.get_content_charset("") or ""
    except (LookupError, ValueError, TypeError, AttributeError):
        return ""


def _leaves(message: Message) -> Iterator[Message]:
    """Yield the parts that hold something; a mail within the mail is one part."""
    stack = [message]
    while stack:
        part = stack.pop()
        if part.get_content_maintype() == "multipart" and part.is_multipart():
            stack.extend(reversed(_inner(part)))
        else:
            yield part


def _inner(part: Message) -> list[Message]:
    return [each for each in part.get_payload() if isinstance(each, Message)]


def _contents(message: Message, depth: int) -> _Contents:
    found = _Contents()
    for count, part in enumerate(_leaves(message)):
        if count == MAX_PARTS:
            found.warnings.append(f"only the first {MAX_PARTS} parts were read")
            break
        _take(part, found, depth, alone=part is message)
    return found


def _take(part: Message, found: _Contents, depth: int, *, alone: bool) -> None:
    media_type = part.get_content_type()
    name = _file_name(part)
    if part.is_multipart():
        _take_nested(part, found, depth, name)
        return
    data = _data(part)
    if media_type == "text/calendar" or name.lower().endswith(".ics"):
        found.calendars.append(data)
    attached = _disposition(part) == "attachment" or (name and not alone)
    if not attached and media_type in ("text/plain", "text/html"):
        text = decode_bytes(data, _declared(part))
        (found.html if media_type == "text/html" else found.plain).append(text)
    elif alone and not attached and media_type.startswith("text/"):
        found.plain.append(decode_bytes(data, _declared(part)))
    elif data or name:
        found.attachments.append(_attachment(part, name, data, found))


def _attachment(part: Message, name: str, data: bytes, found: _Contents) -> Attachment:
    media_type = part.get_content_type()
    text = ""
    if media_type == "text/html":
        text = _html_text(decode_bytes(data, _declared(part)), "", found.warnings)
    elif media_type.startswith("text/") and media_type != "text/calendar":
        text = tidy(decode_bytes(data, _declared(part)))
    shown = name or _unnamed(media_type, found)
    return Attachment(shown, storable(media_type), data, text)


def _unnamed(media_type: str, found: _Contents) -> str:
    return f"attachment-{len(found.attachments)}{_SUFFIXES.get(media_type, '')}"


def _take_nested(part: Message, found: _Contents, depth: int, name: str) -> None:
    """Take a mail within the mail, or a delivery report: its words, its files."""
    texts: list[str] = []
    attachments: list[Attachment] = []
    for inner in _inner(part):
        if depth == MAX_NESTED_MAILS:
            found.warnings.append(f"mails nested deeper than {depth} were left out")
            break
        contents = _contents(inner, depth + 1)
        texts.append(_quoted_mail(inner, contents))
        attachments.extend(contents.attachments)
        found.calendars.extend(contents.calendars)
        found.warnings.extend(contents.warnings)
    text = "\n\n".join(filter(None, texts))
    media_type = part.get_content_type()
    shown = name or _unnamed(media_type, found)
    data = text.encode("utf-8", "replace")
    found.attachments.append(Attachment(shown, storable(media_type), data, text))
    found.attachments.extend(attachments)


def _quoted_mail(message: Message, contents: _Contents) -> str:
    """Return a mail within a mail as text: who wrote it when, then its words."""
    headers = _headers(message)
    report = message.get_content_type() == "text/plain" and not contents.plain
    wanted = ("from", "to", "cc", "date", "subject")
    head = [
        f"{name.title()}: {header_text(value)}"
        for name, value in headers
        if name in wanted or report
    ]
    body = _body(contents, headers)
    if not body:
        head = [f"{name.title()}: {header_text(value)}" for name, value in headers]
    return tidy("\n".join(head) + "\n\n" + body)


def _body(contents: _Contents, headers: tuple[tuple[str, str], ...]) -> str:
    """Return the mail's words: its plain text, where that is empty its HTML."""
    plain = tidy("\n\n".join(contents.plain))
    if plain or not contents.html:
        return plain
    subject = next((value for name, value in headers if name == "subject"), "")
    forwards = _FORWARD_SUBJECT.match(header_text(subject))
    quoted = "" if forwards else REPLY_NODES
    pages = (_html_text(page, quoted, contents.warnings) for page in contents.html)
    return tidy("\n\n".join(pages))


def _html_text(html: str, quoted: str, warnings: list[str]) -> str:
    if len(html) > MAX_HTML:
        warnings.append(f"only the first {MAX_HTML} characters of its HTML were read")
    return html_to_text(html[:MAX_HTML], quoted)


def _data(part: Message) -> bytes:
    """Return a part's bytes; as they stand where their encoding is broken."""
    try:
        data = part.get_payload(decode=True)
    except (ValueError, LookupError, TypeError, AttributeError, AssertionError):
        data = None
    if isinstance(data, bytes):
        return data
    del part["content-transfer-encoding"]
    data = part.get_payload(decode=True)
    return data if isinstance(data, bytes) else b""


def _disposition(part: Message) -> str:
    try:
        return part.get_content_disposition() or ""
    except (ValueError, LookupError, TypeError, AttributeError):
        return ""


def _file_name(part: Message) -> str:
    """Return a part's file name without folders, "" where it has none to go by."""
    try:
        raw = part.get_filename() or ""
    except (ValueError, LookupError, TypeError, AttributeError):
        return ""
    name = _PATH.split(_CONTROL.sub("", header_text(str(raw))))[-1].strip()
    return "" if name in ("", ".", "..") else name[:255]
