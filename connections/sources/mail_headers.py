"""Mail headers as people wrote them: text, addresses, ids and dates, however broken."""

from __future__ import annotations

import base64
import binascii
import quopri
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from email.utils import parsedate_tz

from connections.sources.text import decode_bytes, known_charset, storable

MAX_HEADER = 1_000_000
_MAX_MAILBOX = 1_000
# The first mail between two machines was sent in 1971; clocks that lost their time
# say 1970.
_FIRST_MAIL = datetime(1971, 1, 1, tzinfo=UTC)
_CLOCK_SKEW = timedelta(days=2)
_WIDEST_ZONE = 15 * 3600

_WORD = r"=\?([^\s?*]+)(?:\*[^\s?]*)?\?([bBqQ])\?([^?]*)\?="
_ENCODED = re.compile(_WORD)
_ENCODED_RUN = re.compile(rf"{_WORD}(?:\s*{_WORD})*")
_ADDRESS = re.compile(r"[^@\s<>()\[\]\",;:\\]+@[^@\s<>()\",;\\]+")
_SPELLED_AT = re.compile(r"([^\s@<>()]+)\s+at\s+([\w-]+(?:\.[\w-]+)+)", re.IGNORECASE)
_SPECIAL = re.compile(r'["\\,;<>()]')
_ANGLE = re.compile(r"([^<]*)<([^<>]*)>?")
_COMMENT = re.compile(r"([^(]*)\((.*)\)\s*", re.DOTALL)
_GROUP = re.compile(r"[^<>\"@,:]*:(?!//)")
_BRACKETED = re.compile(r"<([^<>]+)>")
_FROM_SOMEBODY = re.compile(r"\b(?:from|von)\b[^<>]*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Mailbox:
    """A person as a header names them: `address` is lower-case, `name` may be empty.

    An address that an archive masked for good is kept as it stands, in one form.
    """

    address: str
    name: str = ""

    @property
    def shown(self) -> str:
        """The mailbox as a reader sees it: "Ann Lee <ann@acme.test>"."""
        return f"{self.name} <{self.address}>" if self.name else self.address

    @property
    def label(self) -> str:
        """The name, else the address."""
        return self.name or self.address


def header_text(raw: str, charset: str = "") -> str:
    """Return a header's value unfolded and decoded (RFC 2047, bare 8-bit bytes).

    `raw` is as the standard library's compat32 policy keeps it, with the bytes
    beyond ASCII as surrogate escapes; `charset` is what the mail's text is in.
    """
    text = " ".join(_unescaped(raw[:MAX_HEADER], charset).split())
    if "=?" in text:
        text = _ENCODED_RUN.sub(lambda run: _decoded_run(run.group(), charset), text)
    return storable(" ".join(text.split()))


def _unescaped(raw: str, charset: str) -> str:
    if raw.isascii():
        return raw
    return _short_text(raw.encode("utf-8", "surrogateescape"), charset)


def _short_text(data: bytes, charset: str) -> str:
    """Decode a few words: too few to detect their charset from."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return decode_bytes(data, charset if known_charset(charset) else "latin1")


def _decoded_run(run: str, fallback: str) -> str:
    """Decode adjacent encoded words, joining those that split a character."""
    pieces: list[tuple[str, bytes]] = []
    for charset, encoding, payload in _ENCODED.findall(run):
        data = _payload(encoding, payload)
        if data is None:
            return run
        if pieces and pieces[-1][0] == charset:
            pieces[-1] = (charset, pieces[-1][1] + data)
        else:
            pieces.append((charset, data))
    return "".join(
        decode_bytes(data, charset)
        if known_charset(charset)
        else _short_text(data, fallback)
        for charset, data in pieces
    )


def _payload(encoding: str, payload: str) -> bytes | None:
    data = payload.encode("utf-8", "surrogateescape")
    if encoding in "qQ":
        return quopri.decodestring(data, header=True)
    try:
        return base64.b64decode(data + b"=" * (-len(data) % 4))
    except (binascii.Error, ValueError):
        return None


def mailboxes(
    raw: str, charset: str = "", *, masked: bool = False
) -> tuple[Mailbox, ...]:
    """Return the mailboxes of an address header, members of groups among them.

    What is no address is left out, save that `masked` keeps one which an archive
    made unrecognisable ("b0b@ @end|ng |rom example@org (Bob)").
    """
    text = " ".join(_unescaped(raw[:MAX_HEADER], charset).split())
    if (
        masked
        and len(text) <= _MAX_MAILBOX
        and not re.search("[,;<]", text)
        and (spelled := _hidden_from_harvesters(text))
    ):
        return (spelled,)
    found = dict.fromkeys(filter(None, map(_mailbox, _split(text))))
    return tuple(found)


def _hidden_from_harvesters(text: str) -> Mailbox | None:
    """Return the mailbox of "bob at example.org (Bob)" and of masked addresses."""
    comment = _COMMENT.fullmatch(text)
    if comment is None:
        words, name = text, ""
    else:
        words, name = comment[1].strip(), _name(comment[2])
    if at := _SPELLED_AT.fullmatch(words):
        return Mailbox(storable(f"{at[1]}@{at[2]}".lower()), name)
    if words.count("@") < 2:
        return None
    return Mailbox(storable(words.lower()), name)


def _split(text: str) -> Iterator[str]:
    """Yield the mailboxes of a header: parts at commas outside quotes and brackets."""
    start = depth = 0
    quoted, escaped = False, -1
    for match in _SPECIAL.finditer(text):
        at, sign = match.start(), match.group()
        if at == escaped:
            continue
        if sign == "\\":
            escaped = at + 1
        elif sign == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif sign in "()":
            depth = max(0, depth + (1 if sign == "(" else -1))
        elif sign in ",;" and depth == 0:
            yield text[start:at]
            start = at + 1
    rest = text[start:]
    # A quote or comment that never ends would swallow every address after it.
    yield from re.split("[,;]", rest) if quoted or depth else [rest]


def _mailbox(part: str) -> Mailbox | None:
    part = part.strip()[-_MAX_MAILBOX:]
    if group := _GROUP.match(part):
        part = part[group.end() :].strip()
    name, words = "", part
    if angle := _ANGLE.search(part):
        name, words = angle[1], angle[2]
    elif comment := _COMMENT.fullmatch(part):
        words, name = comment[1], comment[2]
    words = re.sub(r"^mailto:|\s*(@)\s*", r"\1", words.strip(" '\""), flags=re.I)
    if spelled := _SPELLED_AT.fullmatch(words):
        words = f"{spelled[1]}@{spelled[2]}"
    address = _ADDRESS.search(words) or _ADDRESS.search(name)
    if address is None:
        return None
    found = storable(address.group().strip(".'").lower())
    name = _name(name)
    return Mailbox(found, "" if name.lower() == found else name)


def _name(raw: str) -> str:
    name = re.sub(r"\\(.)", r"\1", raw.strip().strip('"').strip())
    return header_text(name).strip("\"' ")


def message_ids(raw: str) -> tuple[str, ...]:
    """Return the ids in <> of a header, in order, each once."""
    found = (_squeezed(match) for match in _BRACKETED.findall(raw[:MAX_HEADER]))
    return tuple(dict.fromkeys(filter(None, found)))


def message_id(raw: str) -> str:
    """Return a Message-ID without its brackets, "" where there is none."""
    if ids := message_ids(raw):
        return ids[0]
    words = raw[:MAX_HEADER].split()
    return _squeezed(words[0].strip("<>")) if words else ""


def _squeezed(text: str) -> str:
    # Old mailers fold within an id; nothing else puts blanks there.
    return storable("".join(_unescaped(text, "").split()))


def answered_ids(raw: str) -> tuple[str, ...]:
    """Return the ids that an In-Reply-To names, without the people it names.

    Old mailers wrote "Message from Bob <bob@acme.test> of Monday <id>" or
    "<id>; from bob@acme.test".
    """
    text = raw[:MAX_HEADER]
    matches = list(_BRACKETED.finditer(text))
    ends = [0, *(match.end() for match in matches)]
    kept = [
        match[1]
        for end, match in zip(ends, matches, strict=False)
        if not _FROM_SOMEBODY.search(
            text[max(end, match.start() - 200) : match.start()]
        )
    ]
    if not kept and matches:
        kept = [matches[-1][1]]
    elif not matches and "@" in text and len(text.split()) == 1:
        kept = [text]
    return tuple(dict.fromkeys(filter(None, map(_squeezed, kept))))


def moment(raw: str) -> datetime | None:
    """Return a header's date in UTC; None where there is none or it cannot be true."""
    try:
        parsed = parsedate_tz(" ".join(_unescaped(raw[:1000], "").split()))
        if parsed is None:
            return None
        offset = parsed[9] or 0
        if abs(offset) > _WIDEST_ZONE:
            offset = 0
        zone = timezone(timedelta(seconds=offset))
        found = datetime(*parsed[:6], tzinfo=zone).astimezone(UTC)
    except (ValueError, OverflowError, IndexError, TypeError):
        return None
    return found if plausible(found) else None


def plausible(found: datetime) -> bool:
    """Return whether a mail can have been sent then: since 1971, not in the future."""
    return _FIRST_MAIL <= found <= datetime.now(UTC) + _CLOCK_SKEW
