"""Which file of a folder a relative link in another one means."""

from __future__ import annotations

import posixpath
from collections.abc import Collection
from urllib.parse import unquote, urlsplit

# A page is linked without its suffix, by its folder, or as what it is rendered to.
_PAGES = (
    ".md",
    ".markdown",
    ".mdx",
    ".html",
    ".htm",
    ".rst",
    ".txt",
    ".adoc",
    ".ipynb",
)
_INDEXES = ("index", "README", "_index")
_RENDERED = (".html", ".htm")


def resolve(target: str, origin: str, files: Collection[str]) -> str | None:
    """Return the path of the file in `files` that `target` in `origin` means.

    None stands for an address elsewhere, a place outside the folder, a file that is
    not there, and the linking file itself.
    """
    try:
        parts = urlsplit(target.strip())
    except ValueError:
        return None
    path = unquote(parts.path)
    if parts.scheme or parts.netloc or not path or "\x00" in path:
        return None
    folder = "" if path.startswith("/") else posixpath.dirname(origin)
    joined = posixpath.normpath(posixpath.join(folder, path.lstrip("/")))
    if joined == ".." or joined.startswith("../"):
        return None
    found = next((name for name in _candidates(joined) if name in files), None)
    return None if found == origin else found


def _candidates(path: str) -> list[str]:
    stem, suffix = posixpath.splitext(path)
    folder = "" if path == "." else f"{path}/"
    pages = [f"{path}{page}" for page in _PAGES]
    if suffix.lower() in _RENDERED:
        pages += [f"{stem}{page}" for page in _PAGES]
    indexes = [f"{folder}{name}{page}" for name in _INDEXES for page in _PAGES]
    return [path, *pages, *indexes]
