"""A page of Markdown for every node: what it is, what it says, what it is tied to."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from django.db import connection

from connections.models import Project
from graph.copying import fetch
from graph.exporting import pages_sql
from graph.exporting.folders import Writer
from graph.exporting.paths import link_between_pages, page_of

BATCH = 500
# Of a relation and of the evidence; data/ has them all.
MOST_LINKS, MOST_EVIDENCE = 100, 20
# Signs that YAML takes in a quoted text only as escapes.
_UNPRINTED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_MARKUP = re.compile(r"([\\`*_\[\]<>#|])")


@dataclass(frozen=True, slots=True)
class Shown:
    """Which nodes get a page: with what people said, and as of which moment."""

    with_memory: bool = True
    moment: datetime | None = None


@dataclass(frozen=True, slots=True)
class Described:
    """A node as its page has it."""

    id: int
    key: str
    node_type: str
    title: str
    content: str
    context: str
    language: str
    tags: Sequence[str]
    source_kind: str
    origin: str
    occurred_at: datetime | None
    valid_from: datetime | None
    valid_to: datetime | None
    confirmed_at: datetime | None
    last_evidence_at: datetime | None
    gone_at: datetime | None
    audience_kind: str
    audience_title: str
    permalink: str | None


@dataclass(frozen=True, slots=True)
class Proof:
    """A piece of a node's evidence."""

    source: str
    record: str
    permalink: str
    quote: str
    kind: str


@dataclass(frozen=True, slots=True)
class Neighbour:
    """One end of an edge, seen from the other; `many` have that relation to it."""

    is_out: bool
    relation: str
    key: str
    node_type: str
    title: str
    valid_to: datetime | None
    many: int


def write_pages(project: Project, shown: Shown, writer: Writer) -> Iterator[int]:
    """Write the page of every node; yield after each batch how many there are."""
    scope: dict[str, Any] = {
        "tenant": project.tenant_id,
        "project": project.pk,
        "memory": shown.with_memory,
        "moment": shown.moment,
        "most": MOST_LINKS,
    }
    done = 0
    for nodes in _batches(scope):
        here = scope | {"nodes": nodes}
        proofs = _by_node(
            fetch(pages_sql.EVIDENCE, here | {"most": MOST_EVIDENCE}), Proof
        )
        ties = _by_node(fetch(pages_sql.NEIGHBOURS, here), Neighbour)
        for row in fetch(pages_sql.DESCRIBED, {"nodes": nodes}):
            node = Described(*row)
            text = page(node, proofs.get(node.id, ()), ties.get(node.id, ()))
            writer.page(page_of(node.node_type, node.key), text)
        done += len(nodes)
        yield done


def page(node: Described, proofs: Sequence[Proof], ties: Sequence[Neighbour]) -> str:
    """Return the page of one node: frontmatter, its words, its links."""
    parts = [_frontmatter(node, proofs), f"# {one_line(_name(node))}"]
    if node.context and node.title:
        parts.append(f"*{one_line(node.context)}*")
    if node.content:
        parts.append(node.content.strip("\n"))
    parts += _links(ties)
    return "\n\n".join(parts) + "\n"


def one_line(text: str) -> str:
    """Return `text` in one line that Markdown leaves as it is."""
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))


def _name(node: Described) -> str:
    return node.title or node.context or node.key


def _frontmatter(node: Described, proofs: Sequence[Proof]) -> str:
    said: dict[str, Any] = {
        "key": node.key,
        "type": node.node_type,
        "title": node.title,
        **_dates(node),
        "tags": list(node.tags),
        "language": node.language,
        "source": sorted({proof.source for proof in proofs if proof.source}),
        "source_kind": node.source_kind,
        "origin": node.origin,
        "link": node.permalink,
        "audience": " ".join(t for t in (node.audience_kind, node.audience_title) if t),
    }
    lines = [f"{name}: {_yaml(value)}" for name, value in said.items() if value]
    if proofs:
        lines.append("evidence:")
        lines += [f"  - {_yaml(_proof(proof))}" for proof in proofs]
    return "\n".join(["---", *lines, "---"])


def _dates(node: Described) -> dict[str, str]:
    names = (
        "occurred_at",
        "valid_from",
        "valid_to",
        "confirmed_at",
        "last_evidence_at",
        "gone_at",
    )
    moments = {name: getattr(node, name) for name in names}
    return {name: _moment(at) for name, at in moments.items() if at is not None}


def _proof(proof: Proof) -> dict[str, str]:
    said = {
        "record": proof.record,
        "source": proof.source,
        "link": proof.permalink,
        "quote": proof.quote,
        "kind": "" if proof.kind == "said" else proof.kind,
    }
    return {name: value for name, value in said.items() if value}


def _links(ties: Sequence[Neighbour]) -> Iterator[str]:
    if ties:
        yield "## Links"
    for (is_out, relation), group in groupby(
        ties, key=lambda tie: (tie.is_out, tie.relation)
    ):
        held = list(group)
        words = relation.replace("_", " ")
        yield f"### {words}" if is_out else f"### \N{LEFTWARDS ARROW} {words}"
        lines = [_link(tie) for tie in held]
        if held[0].many > len(held):
            lines.append(f"- {held[0].many - len(held):,} more in data/edges.jsonl")
        yield "\n".join(lines)


def _link(tie: Neighbour) -> str:
    address = link_between_pages(page_of(tie.node_type, tie.key))
    ended = f" (until {tie.valid_to.astimezone(UTC):%Y-%m-%d})" if tie.valid_to else ""
    return f"- [{one_line(tie.title or tie.key)}]({address}){ended}"


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat()


def _yaml(value: Any) -> str:
    """Return a value as YAML in one line: JSON, with the signs escaped it may not have."""
    text = json.dumps(value, ensure_ascii=False)
    return _UNPRINTED.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text)


def _batches(scope: dict[str, Any]) -> Iterator[list[int]]:
    """Yield the ids of the nodes in the order of their keys."""
    with connection.chunked_cursor() as cursor:
        cursor.execute(pages_sql.NODES, scope)
        while rows := cursor.fetchmany(BATCH):
            yield [row[0] for row in rows]


def _by_node(rows: Sequence[tuple[Any, ...]], kind: Any) -> dict[int, list[Any]]:
    found: dict[int, list[Any]] = {}
    for node, *values in rows:
        found.setdefault(node, []).append(kind(*values))
    return found
