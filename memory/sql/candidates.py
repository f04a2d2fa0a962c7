"""Names that texts speak of, as far as their writing shows it: words with a capital."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

MOST_WORDS = 5
_PLACEHOLDERS_MOST = 300
_RUN = re.compile(
    r"[A-ZÄÖÜ0-9][\w&'\u2019.-]*(?:\s+(?:(?:of|the|and|und|de|van|von|der|&)\s+)?"
    r"[A-ZÄÖÜ0-9][\w&'\u2019.-]*)*"
)
_EDGE = ".,;:!?'\u2019-"


def names_in(texts: Iterable[str], most: int = _PLACEHOLDERS_MOST) -> list[str]:
    """Return what may be names in `texts`, those in most texts first.

    Of words in a row every run of up to five is one: where a name begins and ends is
    for whoever knows the names to say.
    """
    counted: Counter[str] = Counter()
    for text in texts:
        runs = {run for found in _RUN.finditer(text) for run in _parts(found[0])}
        counted.update(runs)
    ranked = sorted(counted, key=lambda name: (-counted[name], -len(name), name))
    return ranked[:most]


def _parts(run: str) -> Iterable[str]:
    words = run.split()
    for start in range(len(words)):
        for end in range(start + 1, min(len(words), start + MOST_WORDS) + 1):
            name = " ".join(words[start:end]).strip(_EDGE)
            if len(name) > 1 and not name.isdecimal():
                yield name
                if name.endswith(("'s", "\u2019s")):
                    yield name[:-2]
