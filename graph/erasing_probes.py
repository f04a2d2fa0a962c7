"""What is looked for after an erasure: keys, words and vectors of what goes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from connections.models import Source
from graph import plan_sql
from graph.copying import fetch

RECORDS, SHORTEST, LONGEST = 40, 24, 80
# What COPY and JSON write as it is.
_PLAIN = re.compile(r"[^\"\\\t\r\n\x00-\x1f]+")


@dataclass(frozen=True, slots=True)
class Probes:
    """Texts and vectors that nothing else holds; none may be left."""

    texts: Sequence[str]
    vectors: Sequence[str]

    @property
    def count(self) -> int:
        return len(self.texts) + len(self.vectors)


def probes_of_source(source: Source) -> Probes:
    """Return keys, words, hashes and vectors of records spread over `source`, as far
    as no other source says the same."""
    scope = {
        "tenant": source.tenant_id,
        "project": source.project_id,
        "source": source.pk,
    }
    rows = fetch(plan_sql.SAMPLE, scope | {"most": RECORDS})
    texts: set[str] = set()
    for key, body, raw, words in rows:
        texts |= {key, raw, words, snippet(body)}
    texts = {text for text in texts if len(text) >= SHORTEST / 2}
    said = [
        row[0]
        for row in fetch(plan_sql.SAID_ELSEWHERE, scope | {"texts": sorted(texts)})
    ]
    vectors = fetch(
        plan_sql.VECTORS_OF_SAMPLE, scope | {"keys": [row[0] for row in rows]}
    )
    return Probes(sorted(texts - set(said)), [row[0] for row in vectors])


def snippet(body: str) -> str:
    """Return the longest stretch of `body` that any form of it would show; "" where
    none is long enough to be nobody else's."""
    longest = max(_PLAIN.findall(body), key=len, default="").strip()
    return longest[:LONGEST] if len(longest) >= SHORTEST else ""
