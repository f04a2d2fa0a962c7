"""Words from a Slack message: its text, its blocks and its attachments."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from connections.records import JSON
from connections.sources.json_input import Fields, fields, number, objects, text
from connections.sources.text import find_tags, tidy

_TOKEN = re.compile(r"<+([^<>]*)>+|<+(?=[@#!]|https?:|mailto:)")
_CODE = re.compile(r"```.*?(```|\Z)|`[^`\n]*`", re.DOTALL)
_NOT_WORD = re.compile(r"[\W_]+")
_LONG_WORD = re.compile(r"\w{3,}")
_UNESCAPED = re.compile(r"&(amp|lt|gt);")
_ENTITY = {"amp": "&", "lt": "<", "gt": ">"}
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_UNFURL = ("from_url", "original_url", "is_msg_unfurl", "is_app_unfurl", "is_share")


@dataclass(frozen=True, slots=True)
class Names:
    """What ids are called: people without "@", channels without "#"."""

    people: Mapping[str, str] = field(default_factory=dict)
    channels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Said:
    """A message in words: whom and what it mentions, how often, and its #labels."""

    content: str
    people: Counter[str]
    channels: Counter[str]
    labels: Mapping[str, str]
    tags: tuple[str, ...]


def flatten(message: Fields, names: Names) -> Said:
    """Return what a message says in its text, blocks and attachments, each once.

    Unfurled links and shared messages are others' words: their lines begin with "> ".
    """
    blocks, plain, cards = Markup(names), Markup(names), Markup(names)
    own = tidy(blocks.blocks(message.get("blocks")))
    fallback = tidy(plain.mrkdwn(text(message.get("text"))))
    more = not _says(own, fallback) and _says(fallback, own)
    own = fallback if more else _joined(own, [fallback])
    shown = [cards.attachment(card) for card in objects(message.get("attachments"))]
    known = {name.casefold() for name in names.channels.values()}
    known |= blocks.shown_channels | plain.shown_channels
    return Said(
        content=_joined(own, shown),
        people=blocks.people | plain.people,
        channels=blocks.channels | plain.channels,
        labels=blocks.labels | plain.labels,
        tags=tuple(t for t in find_tags(_CODE.sub(" ", own)) if t not in known),
    )


def unescape(said: str) -> str:
    """Return `said` with the three entities Slack writes turned back, once."""
    return _UNESCAPED.sub(lambda match: _ENTITY[match[1]], said)


def link(url: str, label: str) -> str:
    """Return "label (url)", or the one that was typed where both say the same."""
    bare = re.sub(r"^(mailto:|https?://)", "", url)
    if not label or not url or label in (url, bare, bare.rstrip("/")):
        return label or url
    return f"{label} ({url})"


def _joined(said: str, more: Iterable[str]) -> str:
    """Return `said` and what of `more` it does not say already, a line a part."""
    for part in more:
        if part and not _says(said, part):
            said = f"{said}\n{part}" if said else part
    return said


def _says(said: str, part: str) -> bool:
    """Say whether `part` is in `said`, but for signs, list marks and short emoji."""
    if not said:
        return False
    squashed = _NOT_WORD.sub("", part).casefold()
    if squashed in _NOT_WORD.sub("", said).casefold():
        return bool(squashed) or part in said
    words = set(_LONG_WORD.findall(part.casefold()))
    return bool(words) and words <= set(_LONG_WORD.findall(said.casefold()))


class Markup:
    """Turns markup into words and counts the mentions on the way."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self.people: Counter[str] = Counter()
        self.channels: Counter[str] = Counter()
        self.labels: dict[str, str] = {}
        self.shown_channels: set[str] = set()

    def mrkdwn(self, said: str) -> str:
        """Return the words of Slack's mark-up; no <…> token of it is left."""
        pieces: list[str] = []
        end = 0
        for match in _TOKEN.finditer(said):
            pieces += unescape(said[end : match.start()]), self._token(match)
            end = match.end()
        return "".join((*pieces, unescape(said[end:])))

    def _token(self, match: re.Match[str]) -> str:
        target, _, label = (match[1] or "").partition("|")
        label = unescape(label)
        sign, name = target[:1], unescape(target[1:])
        if sign == "@":
            return self.person(name, label)
        if sign == "#":
            return self.channel(name, label)
        if sign == "!":
            return self._special(name, label)
        if _SCHEME.match(target):
            return link(unescape(target), label)
        return unescape(match[0]) if target else ""

    def _special(self, name: str, label: str) -> str:
        if name.startswith("date^"):
            return label or name.split("^")[1]
        if name.startswith("subteam^"):
            label = label or name.removeprefix("subteam^")
        return f"@{(label or name).lstrip('@')}" if label or name else ""

    def person(self, key: str, label: str = "") -> str:
        if key:
            self.people[key] += 1
            self.labels.setdefault(key, label.lstrip("@"))
        return f"@{self._names.people.get(key) or label.lstrip('@') or key}"

    def channel(self, key: str, label: str = "") -> str:
        if key:
            self.channels[key] += 1
            self.labels.setdefault(key, label.lstrip("#"))
        shown = self._names.channels.get(key) or label.lstrip("#") or key
        self.shown_channels.add(shown.casefold())
        return f"#{shown}"

    def blocks(self, value: JSON) -> str:
        """Return the words of Block Kit blocks, a line a block."""
        return "\n".join(said for b in objects(value) if (said := self._block(b)))

    def _block(self, block: Fields) -> str:
        kind = block.get("type")
        if kind == "rich_text":
            return self._rich(block.get("elements"))
        if kind in ("actions", "input", "divider"):
            return ""
        parts = [self._object(block.get(key)) for key in ("title", "text")]
        parts += [self._object(part) for part in objects(block.get("fields"))]
        if kind == "context":
            parts += [self._object(part) for part in objects(block.get("elements"))]
        parts += [self._row(row) for row in _rows(block)]
        return "\n".join(part for part in (*parts, text(block.get("alt_text"))) if part)

    def _object(self, value: JSON) -> str:
        """Return the words of a text object, of a picture its description."""
        if isinstance(value, str):
            return self.mrkdwn(value.strip())
        part = fields(value)
        if part.get("type") == "rich_text":
            return self._rich(part.get("elements"))
        said = text(part.get("text")) or text(part.get("alt_text"))
        return self.mrkdwn(said) if part.get("type") == "mrkdwn" else unescape(said)

    def _row(self, cells: list[Fields]) -> str:
        return " | ".join(self._object(cell).replace("\n", " ") for cell in cells)

    def _rich(self, value: JSON) -> str:
        parts = (self._rich_block(part).rstrip("\n") for part in objects(value))
        return "\n".join(part for part in parts if part)

    def _rich_block(self, block: Fields) -> str:
        kind = block.get("type")
        if kind == "rich_text_list":
            return self._list(block)
        said = self._inline(block.get("elements"))
        if kind == "rich_text_quote":
            return quoted(said)
        return f"```\n{said}\n```" if kind == "rich_text_preformatted" else said

    def _list(self, block: Fields) -> str:
        depth = min(int(number(block.get("indent")) or 0), 8)
        first = int(number(block.get("offset")) or 0) + 1
        ordered = block.get("style") == "ordered"
        lines = []
        for place, item in enumerate(objects(block.get("elements"))):
            sign = f"{first + place}." if ordered else "-"
            lines.append(f"{'  ' * depth}{sign} {self._rich_block(item)}")
        return "\n".join(lines)

    def _inline(self, value: JSON) -> str:
        return "".join(self._element(element) for element in objects(value))

    def _element(self, part: Fields) -> str:
        kind = part.get("type")
        if kind == "user":
            return self.person(text(part.get("user_id")))
        if kind == "channel":
            return self.channel(text(part.get("channel_id")))
        if kind == "link":
            return link(unescape(text(part.get("url"))), text(part.get("text")))
        if kind == "emoji":
            return _emoji(part)
        if kind == "broadcast":
            return f"@{text(part.get('range')) or 'here'}"
        if kind == "usergroup":
            return f"@{text(part.get('usergroup_id'))}"
        if isinstance(part.get("elements"), list):
            return self._rich_block(part)
        return _styled(part)

    def attachment(self, card: Fields) -> str:
        """Return a bot's card in words, an unfurled link as quoted material."""
        said = [
            self._object(card.get("pretext")),
            self._object(card.get("author_name")),
            self._title(card),
            self._object(card.get("text")),
            *(self._field(item) for item in objects(card.get("fields"))),
            self.blocks(card.get("blocks")),
        ]
        shown = _joined("", [part for part in said if part])
        shown = tidy(shown or self._object(card.get("fallback")))
        return quoted(shown) if any(card.get(key) for key in _UNFURL) else shown

    def _title(self, card: Fields) -> str:
        title = self._object(card.get("title"))
        url = text(card.get("title_link")) or text(card.get("from_url"))
        return title if not title or url in title else link(url, title)

    def _field(self, item: Fields) -> str:
        name, value = self._object(item.get("title")), self._object(item.get("value"))
        return ": ".join(part for part in (name, value) if part)


def quoted(said: str) -> str:
    """Return `said` with "> " before each line."""
    return "\n".join(f"> {line}" for line in said.split("\n")) if said else ""


def _emoji(part: Fields) -> str:
    tone = number(part.get("skin_tone"))
    name = text(part.get("name"))
    return f":{name}::skin-tone-{int(tone)}:" if tone else f":{name}:"


def _styled(part: Fields) -> str:
    said = next(
        (v for k in ("text", "fallback", "value") if isinstance(v := part.get(k), str)),
        "",
    )
    code = fields(part.get("style")).get("code") is True
    return f"`{said}`" if code and said.strip() else said


def _rows(block: Fields) -> list[list[Fields]]:
    rows = block.get("rows")
    return [objects(row) for row in rows] if isinstance(rows, list) else []
