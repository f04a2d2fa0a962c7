"""Words of others inside an answer of ours."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"[\[\u3010\uff3b]\s*(\d+)\s*[\]\u3011\uff3d]")
_ADDRESS = re.compile(r"\b(?:[A-Za-z][A-Za-z0-9+.-]*://|www\.)[^\s<>`\"\u201c\u201d]+")


def plain(text: str) -> str:
    """Return a source's words without numbers that look like citations.

    An address in them is shown as code: it can be read, but it leads nowhere.
    """
    words = _NUMBER.sub(r"(\1)", " ".join(text.split()))
    return _ADDRESS.sub(lambda found: f"`{found[0]}`", words)
