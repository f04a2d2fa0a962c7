"""An answer as Markdown, to paste elsewhere: the question, the text, its sources."""

from __future__ import annotations

import re
from collections.abc import Callable

from memory.answers import ChatAnswer, Cited

_SPECIAL = re.compile(r"([\\`*_\[\]<>])")


def as_markdown(answer: ChatAnswer, address_of: Callable[[int], str]) -> str:
    """Return the answer with its sources; `address_of` a node is where it is read."""
    parts = [f"**{_plain(answer.question)}**", answer.answer.strip()]
    sources = [_source(cited, address_of) for cited in answer.citations]
    if sources:
        parts.append("Sources:\n\n" + "\n".join(sources))
    return "\n\n".join(part for part in parts if part) + "\n"


def _source(cited: Cited, address_of: Callable[[int], str]) -> str:
    title = _plain(cited.title or cited.context or cited.key)
    address = cited.url or (address_of(cited.node_id) if cited.node_id else "")
    named = f"[{title}](<{_address(address)}>)" if address else title
    about = [cited.context] if cited.title and cited.context else []
    if cited.timestamp and not cited.context:
        about.append(f"{cited.timestamp:%-d %b %Y}")
    said = f": “{_plain(cited.quote)}”" if cited.quote else ""
    where = f" ({_plain(', '.join(about))})" if about else ""
    return f"- \\[{cited.n}\\] {named}{where}{said}"


def _plain(text: str) -> str:
    """Return one line of `text` that is no markup."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _address(address: str) -> str:
    return re.sub(r"[<>\s]", lambda each: f"%{ord(each[0]):02X}", address)
