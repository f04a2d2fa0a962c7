"""JSON of unknown hands: read item by item, cleaned, and taken apart without trust."""

from __future__ import annotations

import codecs
import hashlib
import io
import json
import re
from collections.abc import Iterator
from typing import IO, TypeAlias, cast

from connections.records import JSON
from connections.sources.text import storable

Fields: TypeAlias = dict[str, JSON]

# A chat message or a member list stays far below; a "100 MB line" does not fit.
MAX_ITEM_CHARS = 16 * 1024 * 1024
CHUNK_CHARS = 256 * 1024

_DECODER = json.JSONDecoder(parse_constant=lambda name: None)
_ESCAPED = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")
_DIGITS = frozenset("0123456789")
_GAP = re.compile(r"[ \t\r\n]*")


class BadJSON(ValueError):
    """Text that is not the JSON it should be; the message says where and why."""


class _Window:
    """The part of a text that is being decoded, read on as far as it must be."""

    def __init__(self, text: io.TextIOWrapper, item_chars: int) -> None:
        self._text = text
        self._limit = item_chars
        self._buffer = ""
        self._at = 0
        self._before = 0

    def mark(self) -> str:
        """Return the next character that is no blank, "" at the end."""
        while True:
            gap = _GAP.match(self._buffer, self._at)
            self._at = gap.end() if gap else self._at
            if self._at < len(self._buffer):
                self._at += 1
                return self._buffer[self._at - 1]
            if not self._fill():
                return ""

    def back(self) -> None:
        self._at -= 1

    def place(self) -> str:
        return f"character {self._before + self._at + 1}"

    def value(self) -> JSON:
        """Return the JSON value that begins at the next character."""
        while True:
            reason = "it is cut short"
            try:
                value, end = _DECODER.raw_decode(self._buffer, self._at)
            except RecursionError:
                raise BadJSON(f"at {self.place()}: nested too deeply") from None
            except ValueError as error:
                reason = str(error)
            else:
                if end - self._at <= self._limit and self._is_whole(end):
                    spelled = self._buffer[self._at : end]
                    self._at = end
                    return _clean(cast("JSON", value), spelled)
            if len(self._buffer) - self._at > self._limit:
                raise BadJSON(
                    f"at {self.place()}: an item that is broken, or longer than "
                    f"{self._limit:,} characters; the rest was not read"
                )
            if not self._fill():
                raise BadJSON(f"in the item at {self.place()}: {reason}")

    def _is_whole(self, end: int) -> bool:
        """Say whether a value ends at `end`; a number may go on behind the window."""
        if self._buffer[end - 1] not in _DIGITS:
            return True
        gap = _GAP.match(self._buffer, end)
        after = gap.end() if gap else end
        return self._buffer[after : after + 1] in (",", "]")

    def _fill(self) -> bool:
        kept = self._buffer[self._at :]
        more = self._text.read(max(CHUNK_CHARS, len(kept)))
        self._before += self._at
        self._buffer, self._at = kept + more, 0
        return bool(more)


def iter_array(stream: IO[bytes], item_chars: int | None = None) -> Iterator[JSON]:
    """Yield the items of a JSON array, holding one at a time.

    Bytes that are not UTF-8 become U+FFFD. Raises `BadJSON` where the text ends to
    be an array; the items before have been yielded by then.
    """
    wrapped = io.TextIOWrapper(stream, "utf-8-sig", "replace", newline="")
    window = _Window(wrapped, item_chars or MAX_ITEM_CHARS)
    try:
        if window.mark() != "[":
            raise BadJSON("not a JSON array: it does not begin with [")
        if window.mark() == "]":
            return
        window.back()
        yield from _values(window)
    finally:
        wrapped.detach()


def _values(window: _Window) -> Iterator[JSON]:
    while True:
        if not window.mark():
            raise BadJSON(f"at {window.place()}: it is cut short")
        window.back()
        yield window.value()
        mark = window.mark()
        if mark == "]":
            break
        if mark != ",":
            said = "it is cut short" if not mark else f"{mark!r} instead of , or ]"
            raise BadJSON(f"at {window.place()}: {said}")
    if window.mark():
        raise BadJSON(f"at {window.place()}: something follows the array")


def load(raw: bytes) -> JSON:
    """Return the JSON value in `raw`, cleaned; raises `BadJSON`."""
    decoded = raw.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace")
    try:
        return _clean(json.loads(decoded, parse_constant=lambda name: None), decoded)
    except RecursionError:
        raise BadJSON("nested too deeply") from None
    except ValueError as error:
        raise BadJSON(str(error)) from None


def _clean(value: JSON, spelled: str) -> JSON:
    """Return `value` as `scrubbed` does, where its spelling shows any need for it."""
    return scrubbed(value) if _ESCAPED.search(spelled) else value


def scrubbed(value: JSON) -> JSON:
    """Return `value` with NUL and lone surrogates replaced: no database stores them."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {storable(k): scrubbed(v) for k, v in value.items()}
    if isinstance(value, list):
        return [scrubbed(item) for item in value]
    return value


def canonical(value: JSON) -> bytes:
    """Return one spelling of `value`: equal values give equal bytes."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def digest(value: JSON) -> str:
    """Return the SHA-256 of the canonical spelling of `value`, as 64 hex digits."""
    return hashlib.sha256(canonical(value)).hexdigest()


def damage(value: JSON) -> tuple[str, ...]:
    """Return the warning that an item with unreadable characters carries, or none."""
    if b"\\ufffd" not in canonical(value):
        return ()
    return ("Some characters could not be read; each is shown as \ufffd.",)


def text(value: JSON) -> str:
    """Return `value` where it is text, stripped, else ""."""
    return value.strip() if isinstance(value, str) else ""


def fields(value: JSON) -> Fields:
    """Return `value` where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def objects(value: JSON) -> list[Fields]:
    """Return the objects in `value` where it is an array, else none."""
    items = value if isinstance(value, list) else []
    return [item for item in items if isinstance(item, dict)]


def texts(value: JSON) -> list[str]:
    """Return the texts in `value` where it is an array or one text; no empty ones."""
    items = value if isinstance(value, list) else [value]
    return [found for item in items if (found := text(item))]


def number(value: JSON) -> float | None:
    """Return `value` as a finite number where it is one, or text that spells one."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if abs(found) < float("inf") else None
