"""Text as people type it, as Slack stores it: mrkdwn and a rich_text block."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

from connections.demo.company import Company

_MARK = re.compile(
    r"\[(?P<label>[^\]]+)\]\((?P<url>https?://[^)]+)\)"
    r"|(?<![\w.])@(?P<user>\w+)"
    r"|(?<![\w&])#(?P<channel>[a-z][\w-]+)"
    r"|(?<![\w*])\*(?P<bold>[^*\n]+)\*"
    r"|`(?P<code>[^`\n]+)`"
    r"|:(?P<emoji>[a-z_]+):"
)
Element = dict[str, object]


def _pieces(company: Company, text: str) -> Iterator[tuple[str, Element]]:
    end = 0
    for match in _MARK.finditer(text):
        piece = _piece(company, match)
        if piece is None:
            continue
        if match.start() > end:
            yield _plain(text[end : match.start()])
        yield piece
        end = match.end()
    if end < len(text):
        yield _plain(text[end:])


def _plain(text: str) -> tuple[str, Element]:
    return escape(text, quote=False), {"type": "text", "text": text}


def _piece(company: Company, match: re.Match[str]) -> tuple[str, Element] | None:
    kind, words = str(match.lastgroup), str(match[str(match.lastgroup)])
    if kind == "url":
        label = escape(match["label"], quote=False)
        link: Element = {"type": "link", "url": words, "text": match["label"]}
        return f"<{words}|{label}>", link
    if kind == "user" and words in company.people:
        user = company.people[words].slack_id
        return f"<@{user}>", {"type": "user", "user_id": user}
    if kind == "channel" and words in company.channels:
        channel = company.channels[words].id
        return (
            f"<#{channel}|{words}>",
            {"type": "channel", "channel_id": channel},
        )
    if kind in ("bold", "code"):
        sign = "*" if kind == "bold" else "`"
        styled: Element = {"type": "text", "text": words, "style": {kind: True}}
        return sign + escape(words, quote=False) + sign, styled
    if kind == "emoji":
        return f":{words}:", {"type": "emoji", "name": words}
    return None


def render(company: Company, text: str, block_id: str) -> tuple[str, list[Element]]:
    """Return `text` as mrkdwn and as the blocks that stand beside it."""
    pieces = list(_pieces(company, text))
    section = {
        "type": "rich_text_section",
        "elements": [element for _, element in pieces],
    }
    block: Element = {"type": "rich_text", "block_id": block_id, "elements": [section]}
    return "".join(mrkdwn for mrkdwn, _ in pieces), [block]
