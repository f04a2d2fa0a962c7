"""The page that an export begins with."""

from __future__ import annotations

from graph.exporting.pages import Shown

_HEAD = """# An export of a Fabric project

It holds **everything** of the project, closed channels and private messages included:
whoever has this folder reads it all.

- `nodes/TYPE/`: a page for every node: what it is, what it says, links to its
  neighbours. Open the folder in Obsidian, or browse it on a git server.
- `tags/`: every tag with its nodes, by first letter.
"""
_DATA = """- `data/`: every row, a line of JSON each; `manage.py import_graph` restores
  the project from these.
- `manifest.json`: what there is, with the SHA-256 of every file of `data/`.
- `SHA256SUMS`: the same of all pages; `sha256sum --check SHA256SUMS` checks them.
"""
_MEMORY = """
Conversations, memories and feedback are in it, those of single people too.
"""
_NO_MEMORY = """
Conversations, memories and feedback are left out.
"""


def readme(shown: Shown, *, has_data: bool) -> str:
    """Return what the folder holds, in words."""
    parts = [_HEAD]
    if has_data:
        parts.append(_DATA)
    parts.append(_MEMORY if shown.with_memory else _NO_MEMORY)
    if shown.moment is not None:
        day = f"{shown.moment:%Y-%m-%d %H:%M %Z}"
        parts.append(f"\nIt shows what was valid at {day}, and is for reading only.\n")
    return "".join(parts)
