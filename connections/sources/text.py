"""Words from bytes and markup, the same way for every source."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from datetime import datetime

from bs4 import BeautifulSoup, CData, NavigableString, Tag
from bs4.element import PageElement
from charset_normalizer import from_bytes
from soupsieve import SelectorSyntaxError

_HIDDEN_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|mso-hide\s*:\s*all"
    r"|font-size\s*:\s*[01](px|pt)?\s*(!important\s*)?(;|$)"
    r"|(?<![-\w])opacity\s*:\s*0(\.0+)?\s*(!important\s*)?(;|$)"
    r"|(?<![-\w])max-(height|width)\s*:\s*0(px)?\s*(!important\s*)?(;|$)",
    re.IGNORECASE,
)
_WHITE_TEXT = re.compile(
    r"(?<![-\w])color\s*:\s*(#fff(fff)?|white)\s*(!important\s*)?(;|$)", re.IGNORECASE
)
_AT_BLOCK = re.compile(r"@[^{}]*\{(?:[^{}]|\{[^{}]*\})*\}|/\*.*?\*/", re.DOTALL)
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_MAX_HIDING_RULES = 50
_MAX_CSS = 200_000
_UNSEEN = frozenset(("script", "style", "head", "template", "noscript", "svg", "title"))
_BLOCKS = frozenset(
    re.findall(
        r"\w+",
        "address article aside blockquote br dd div dl dt figcaption footer form h1 h2 "
        "h3 h4 h5 h6 header hr li main nav ol p pre section table tr ul",
    )
)
_PREFORMATTED = frozenset(("pre", "textarea", "listing"))
_BLANKS = re.compile(r"[ \t\r\n]+")
_TAG = re.compile(
    r"(?<![\w&/#<.=])#(?=[\d_-]*[^\W\d_])(\w[\w-]{1,63})(?<![-_])(?![^\W_]|\|)"
)
# An address may hold a "#", code is full of them.
_NO_TAGS = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|\b\w+://\S+|<#[^<>]*>", re.DOTALL)
_COLOUR = re.compile(r"(?=.*\d|(.)\1+$)(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})")
# Labels whose usual content is a superset of what they say (as browsers read them).
_MEANT = {
    "iso-8859-1": "cp1252",
    "latin1": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "ks_c_5601-1987": "cp949",
    "euc-kr": "cp949",
    "x-sjis": "cp932",
    "shift_jis": "cp932",
    "iso-8859-8-i": "iso-8859-8",
    "x-mac-roman": "mac-roman",
    "unicode-1-1-utf-7": "utf-7",
}
# Codecs that decode something other than a charset; two take quadratic time.
_NO_CHARSETS = frozenset(
    (
        "idna",
        "punycode",
        "unicode_escape",
        "raw_unicode_escape",
        "unicode-escape",
        "raw-unicode-escape",
        "undefined",
    )
)
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def day_in_words(moment: datetime) -> str:
    """Return "Monday 8 May 2023": what a question about a day would say."""
    return f"{moment:%A} {moment.day} {moment:%B %Y}"


def storable(text: str) -> str:
    """Return `text` with U+FFFD for what a database refuses: NUL, lone surrogates."""
    return _UNSTORABLE.sub("\ufffd", text)


def decode_bytes(raw: bytes, declared: str = "") -> str:
    """Return `raw` as text: as declared, else UTF-8, else as detected; never fails."""
    for charset in (*_codecs(declared), "utf-8-sig"):
        try:
            return raw.decode(charset)
        except (LookupError, ValueError):
            continue
    best = from_bytes(raw[:50_000]).best()
    return raw.decode(best.encoding if best else "latin-1", "replace")


def known_charset(declared: str) -> bool:
    """Return whether `declared` names a charset that text can be decoded with."""
    return any(_codecs(declared))


def _codecs(declared: str) -> Iterator[str]:
    """Yield Python's names of a declared charset: what is meant, then what is said."""
    charset = declared.strip().strip("\"'").lower()
    for label in (_MEANT.get(charset, ""), charset):
        try:
            name = codecs.lookup(label).name if label else ""
            b"a".decode(name or "ascii")  # what is no charset at all has a name too
        except (LookupError, ValueError):
            continue
        if name and name not in _NO_CHARSETS:
            yield name


def html_to_text(html: str, quoted: str = "") -> str:
    """Return the visible text of `html`, a line a block; hidden text stays out.

    A link keeps its target in parentheses where the label does not say it. Lines of
    a blockquote, and of what the CSS selector `quoted` matches, begin with "> ".
    """
    soup = BeautifulSoup(html, "lxml")
    selector = f"blockquote, {quoted}" if quoted else "blockquote"
    rendering = _Rendering(
        hidden={id(node) for node in _styled_away(soup)},
        quotes={id(node) for node in soup.select(selector)},
    )
    return tidy(rendering.of(soup))


class _Rendering:
    """Text of a parsed page, gathered in one pass without changing the tree."""

    def __init__(self, hidden: set[int], quotes: set[int]) -> None:
        self.hidden = hidden
        self.quotes = quotes
        self.out: list[str] = []
        self.preformatted = 0
        self.quote_start = -1
        self.quote_node = 0

    def of(self, soup: BeautifulSoup) -> str:
        # A stack of our own: a page may be nested deeper than Python recurses.
        stack: list[tuple[PageElement, int]] = [(soup, -1)]
        while stack:
            node, opened_at = stack.pop()
            if opened_at >= 0 and isinstance(node, Tag):
                self.close(node, opened_at)
            elif isinstance(node, Tag):
                if self.shown(node):
                    stack.append((node, len(self.out)))
                    self.open(node)
                    stack.extend((child, -1) for child in reversed(node.contents))
            elif type(node) in (NavigableString, CData):
                self.write(str(node))
        return "".join(self.out)

    def shown(self, node: Tag) -> bool:
        unseen = node.name in _UNSEEN or id(node) in self.hidden
        return not (unseen or _hidden(node))

    def write(self, text: str) -> None:
        if not self.preformatted:
            text = _BLANKS.sub(" ", text)
            if not self.out or self.out[-1][-1:] in ("\n", " "):
                text = text.lstrip(" ")
        if text:
            self.out.append(text)

    def open(self, node: Tag) -> None:
        self.preformatted += node.name in _PREFORMATTED
        if node.name in _BLOCKS:
            self.out.append("\n")
        if id(node) in self.quotes and self.quote_start < 0:
            self.quote_start, self.quote_node = len(self.out), id(node)

    def close(self, node: Tag, opened_at: int) -> None:
        self.preformatted -= node.name in _PREFORMATTED
        if node.name == "a":
            href = str(node.get("href") or "")
            label = "".join(self.out[opened_at:])
            if href.startswith(("http://", "https://")) and href not in label:
                self.out.append(f" ({href})")
        if id(node) == self.quote_node and self.quote_start >= 0:
            lines = tidy("".join(self.out[self.quote_start :])).split("\n")
            marked = "\n".join(f"> {line}".rstrip() for line in lines)
            self.out[self.quote_start :] = [f"\n{marked}\n"]
            self.quote_start = -1
        if node.name in _BLOCKS:
            self.out.append("\n")
        elif node.name in ("td", "th"):
            self.out.append(" ")


def _styled_away(soup: BeautifulSoup) -> Iterator[Tag]:
    """Yield the nodes that a style sheet hides on every screen (not within @media)."""
    css = "\n".join(style.get_text() for style in soup("style"))
    rules = _RULE.findall(_AT_BLOCK.sub("", css[:_MAX_CSS]))
    hiding = [which.strip() for which, style in rules if _HIDDEN_STYLE.search(style)]
    for selector in hiding[:_MAX_HIDING_RULES]:
        try:
            yield from soup.select(selector)
        except (SelectorSyntaxError, NotImplementedError):
            continue


def _hidden(node: Tag) -> bool:
    if node.has_attr("hidden"):
        return True
    style = str(node.get("style") or "")
    if not style:
        return False
    if _HIDDEN_STYLE.search(style):
        return True
    return bool(_WHITE_TEXT.search(style)) and not _has_background(node)


def _has_background(node: Tag) -> bool:
    """Return whether a colour lies behind `node`: white on it is meant to be read."""
    return any(
        tag.has_attr("bgcolor") or "background" in str(tag.get("style") or "").lower()
        for tag in (node, *node.parents)
    )


def tidy(text: str) -> str:
    """Return `text` as a database takes it, without trailing blanks and empty runs."""
    text = storable(text).replace("\r\n", "\n").replace("\r", "\n")
    text = "\n".join(line.rstrip(" \t\xa0") for line in text.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def find_tags(text: str) -> tuple[str, ...]:
    """Return the #labels of `text`, lower-cased, sorted, without "#".

    A label has a letter. Those in code and addresses, colours (#1f2937) and numbers of
    issues (#12) are none.
    """
    found = {match.lower() for match in _TAG.findall(_NO_TAGS.sub(" ", text))}
    return tuple(sorted(tag for tag in found if not _COLOUR.fullmatch(tag)))
