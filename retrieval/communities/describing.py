"""The texts of communities, read from their most central members in batches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from connections.models import Project
from graph.copying import fetch
from retrieval.communities import sql
from retrieval.communities.partition import Found
from retrieval.communities.reading import Graph, Ids
from retrieval.communities.swap import Described, Named
from retrieval.communities.texts import (
    TEXT_CHARACTERS,
    Stem,
    Stems,
    Text,
    describe,
    words_of,
)

# The most central texts of a community: what its title and summary are made of.
EVIDENCE, NAMED = 30, 3
AT_ONCE = 200


def describe_all(
    project: Project, graph: Graph, named: Sequence[Named]
) -> dict[int, Described]:
    """Return each community's title and summary, with the texts they come from."""
    described: dict[int, Described] = {}
    for start in range(0, len(named), AT_ONCE):
        texts = {
            each.id: _texts_of(project, graph, each.found)
            for each in named[start : start + AT_ONCE]
        }
        stems = _weigh(project, (text for own in texts.values() for text in own))
        for community, own in texts.items():
            described[community] = Described(describe(own, stems), tuple(own))
    return described


def _texts_of(project: Project, graph: Graph, found: Found) -> list[Text]:
    """Return the most central members that say something; where none does, the first
    few, whose names are all there is."""
    saying = np.flatnonzero(graph.has_text[found.places])[:EVIDENCE]
    chosen = saying if len(saying) else np.arange(min(NAMED, len(found.places)))
    ids: Ids = graph.ids[found.places[chosen]]
    scope = {"tenant": project.tenant_id, "project": project.pk}
    rows: Mapping[int, tuple[int, str, str, str, str]] = {
        row[0]: (row[0], row[1], row[2], row[3], row[4])
        for row in fetch(
            sql.TEXTS, {**scope, "nodes": ids.tolist(), "characters": TEXT_CHARACTERS}
        )
    }
    centrality = found.centrality[chosen].tolist()
    return [
        Text(*rows[node], central)
        for node, central in zip(ids.tolist(), centrality, strict=True)
        if node in rows
    ]


def _weigh(project: Project, texts: Iterable[Text]) -> Stems:
    words = sorted({(text.language, word) for text in texts for word in words_of(text)})
    rows = fetch(
        sql.WEIGH,
        {
            "project": project.pk,
            "languages": [language for language, _ in words],
            "words": [word for _, word in words],
        },
    )
    return {(row[0], row[1]): Stem(row[2], float(row[3])) for row in rows}
