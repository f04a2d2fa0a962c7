"""An answer's Markdown as safe HTML: numbers lead to cards, links to cited sources."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, MutableMapping
from typing import Any

from django.utils.safestring import SafeString
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

_NUMBER = re.compile(r"\s?\[(\d{1,3})\]")
# A heading of an answer stands below its question, which is a second-level one.
_DEEPER = 2


def answer_html(
    text: str, numbers: Collection[int], addresses: Collection[str], anchor: str
) -> SafeString:
    """Return Markdown as HTML without any markup of its own.

    `[n]` of `numbers` links to `#{anchor}-source-{n}`; other links stay only when they
    lead to one of `addresses`; pictures become their words.
    """
    cited: dict[str, Any] = {"numbers": set(numbers), "anchor": anchor}
    tokens = _READER.parse(text, cited)
    open_to = {_READER.normalizeLink(address) for address in addresses if address}
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + _DEEPER)}"
        if token.children:
            token.children = _without_strangers(token.children, open_to)
    rendered = _READER.renderer.render(tokens, _READER.options, cited)
    return SafeString(rendered)  # HTML is off: the reader escapes all text


def _without_strangers(tokens: list[Token], addresses: set[str]) -> list[Token]:
    """Drop links that lead elsewhere, and pictures; their words stay."""
    kept, open_links = [], []
    for token in tokens:
        if token.type == "link_open":
            open_links.append(token.attrGet("href") in addresses)
            if not open_links[-1]:
                continue
            token.attrSet("rel", "noopener noreferrer")
            token.attrSet("target", "_blank")
        elif token.type == "link_close" and not open_links.pop():
            continue
        elif token.type == "image":
            token = Token("text", "", 0, content=token.content)
        kept.append(token)
    return kept


def _number(state: StateInline, silent: bool) -> bool:
    """Read `[n]` where `n` is the number of a citation."""
    found = _NUMBER.match(state.src, state.pos)
    if not found or int(found[1]) not in state.env["numbers"]:
        return False
    if not silent:
        state.push("citation", "", 0).content = found[1]
    state.pos = found.end()
    return True


def _citation(
    renderer: RendererHTML,
    tokens: list[Token],
    at: int,
    options: Mapping[str, Any],
    env: MutableMapping[str, Any],
) -> str:
    n = int(tokens[at].content)
    return (
        f'<sup><a class="cite" href="#{env["anchor"]}-source-{n}"'
        f' aria-label="Source {n}">{n}</a></sup>'
    )


def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable("table")
    # `[1]: address` would otherwise make every `[1]` a link of the model's choosing.
    reader.disable(["reference", "html_block", "html_inline", "autolink"])
    reader.inline.ruler.before("link", "citation", _number)
    reader.add_render_rule("citation", _citation)
    return reader


_READER = _reader()
