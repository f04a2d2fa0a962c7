"""The one definition of the text that a node's vector is made of."""

from __future__ import annotations

from typing import Protocol

from connections.records import node_types


class Described(Protocol):
    """A node, or what may become one, as far as its vector depends on it."""

    @property
    def node_type(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def content(self) -> str: ...
    @property
    def context(self) -> str: ...


def embedded_text(node: Described) -> str:
    """Return the text a node's vector is made of; empty for structure.

    Its context comes first: without the author a message is not found.
    """
    kind = node_types.get(node.node_type)
    if kind is not None and kind.structure:
        return ""
    if not (node.content or node.title).strip():
        return ""
    return "\n".join(text for text in (node.context, node.title, node.content) if text)
