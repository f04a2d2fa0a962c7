"""Where a node's page lies in an export: safe on every file system, and stable.

A name is what of the key is plain letters and digits, then a digest of the key: keys
that differ in case, accents or signs alone stay apart, and nothing is a device's name.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata

PAGES = "nodes"
# Of a type: so many folders, so that a million pages are some thousands in each.
_SHARD, _DIGEST, _READABLE = 2, 20, 48
# Names of devices, which Windows takes for no file.
_DEVICES = frozenset(
    ["con", "prn", "aux", "nul"]
    + [f"{port}{n}" for port in ("com", "lpt") for n in range(10)]
)
_OTHER = re.compile(r"[^a-z0-9]+")


def page_of(node_type: str, key: str) -> str:
    """Return the path of a node's page within the export."""
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
    shown = _plain(key)[:_READABLE].strip("-")
    name = f"{shown}-{digest[:_DIGEST]}" if shown else digest[:_DIGEST]

    folder = _plain(node_type)[:32].strip("-") or "other"
    if folder in _DEVICES:
        folder += "-type"
    return f"{PAGES}/{folder}/{digest[:_SHARD]}/{name}.md"


def link_between_pages(page: str) -> str:
    """Return the link from any page to another: all lie equally deep."""
    return f"../../../{page}"


def _plain(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text)
    ascii_only = decomposed.encode("ascii", "ignore").decode()
    return _OTHER.sub("-", ascii_only.lower()).strip("-")
