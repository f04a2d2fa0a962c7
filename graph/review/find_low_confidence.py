"""Claims read out of texts that little speaks for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from connections.models import Project
from graph.audiences import Audiences
from graph.copying import fetch
from graph.extract import extract
from graph.review import finding_sql
from graph.review.confidence import ENOUGH, LOW, Piece, confidence_of
from graph.review.kinds import Flagged, finders
from graph.review.pages import about, evidence_of, fingerprint, pages
from graph.review.uses import uses_of
from graph.vocabulary import same_name


@dataclass(slots=True)
class _Proven:
    """What a claim rests on, and who may see each of it."""

    pieces: list[Piece] = field(default_factory=list)
    audiences: set[int] = field(default_factory=set)


@finders.register("low_confidence")
def find_low_confidence(project: Project, now: datetime) -> Iterator[Flagged]:
    """Yield extracted claims whose evidence gives them less than an even chance."""
    audiences = Audiences(project)
    for rows in pages(finding_sql.EXTRACTED, project, now, enough=ENOUGH):
        proven = _proven(project, rows)
        low = {}
        for row in rows:
            known = proven.get(row[0])
            if known and (score := confidence_of(known.pieces)) < LOW:
                low[row[0]] = (row, known, score)
        uses, evidence = uses_of(project, [*low]), evidence_of(project, [*low])
        for node, (row, known, score) in low.items():
            yield Flagged(
                subject=about(row[1]),
                fingerprint=fingerprint(evidence.get(node, "")),
                why=_why(row[2], known, score),
                audience_id=audiences.all_of({row[4], *known.audiences}),
                node_id=node,
                detail={
                    "confidence": round(score, 3),
                    "records": len({piece.record_id for piece in known.pieces}),
                    "doubts": [*_doubts(known)],
                    "type": row[2],
                },
                uses=uses[node],
            )


def _proven(project: Project, rows: Sequence[tuple[Any, ...]]) -> dict[int, _Proven]:
    named = {row[0]: (row[2], row[3]) for row in rows}
    found: dict[int, _Proven] = defaultdict(_Proven)
    pieces = fetch(finding_sql.PIECES, [project.tenant_id, project.pk, list(named)])
    for node, record, audience, kind, quote, with_model in pieces:
        by_model = with_model and not _rules_read(*named[node], quote)
        piece = Piece(record, quote, by_model, kind == "implied")
        found[node].pieces.append(piece)
        found[node].audiences.add(audience)
    return found


def _rules_read(kind: str, name: str, quote: str) -> bool:
    """Return whether the rules alone find it in its quote."""
    return any(
        entity.type == kind
        and (entity.is_claim or same_name(entity.name) == same_name(name))
        for entity in extract(quote).entities
    )


def _doubts(known: _Proven) -> list[str]:
    return list(dict.fromkeys(said for p in known.pieces for said in p.doubts))


def _why(kind: str, known: _Proven, score: float) -> str:
    records = len({piece.record_id for piece in known.pieces})
    told = "one record says" if records == 1 else f"{records} records say"
    doubts = "; ".join(_doubts(known)) or "nothing else bears it out"
    return f"Only {told} that there is this {kind} (confidence {score:.2f} of 1): {doubts}."
