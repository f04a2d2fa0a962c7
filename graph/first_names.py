"""First names of somebody to be erased, as others call them in passing.

A bare first name may be somebody else's, or a word: it is looked for as it is written,
and offered to be taken out only where nobody else of the project bears it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from connections.models import Project
from graph import plan_sql
from graph.copying import fetch
from graph.persons import full_name
from graph.scrubbing import pattern_of

_WORD = re.compile(r"[^\W\d_][\w'\u2019-]*")
SHORTEST = 2


@dataclass(frozen=True, slots=True)
class FirstName:
    """A first name, in how many records of others it stands alone, and whether nobody
    else of the project bears it."""

    name: str
    records: int
    is_alone: bool


def first_names(
    project: Project,
    keys: Collection[str],
    names: Collection[str],
    going: Sequence[int],
) -> list[FirstName]:
    """Return the first names among `names` of the identities `keys`; records of
    `going` are not counted."""
    scope = {"tenant": project.tenant_id, "project": project.pk}
    wholes = [name for name in names if full_name(name)]
    found = []
    for first in sorted({one for name in wholes if (one := _first(name))}):
        pattern = {"pattern": pattern_of([first])}
        others = fetch(plan_sql.BEARERS, scope | pattern | {"keys": list(keys)})
        said = scope | pattern | {"wholes": pattern_of(wholes), "going": list(going)}
        counted = fetch(plan_sql.RECORDS_NAMING, said)
        found.append(FirstName(first, int(counted[0][0]), not others[0][0]))
    return found


def _first(name: str) -> str:
    """Return the first name of a full one as it is written there."""
    first = full_name(name).split()[0]
    written = (word for word in _WORD.findall(name) if _plain(word) == first)
    found = next(written, "")
    return found if len(found) >= SHORTEST else ""


def _plain(word: str) -> str:
    plain = unicodedata.normalize("NFKD", word.strip("."))
    return "".join(c for c in plain if not unicodedata.combining(c)).casefold()
