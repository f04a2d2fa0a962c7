"""Columns of what a batch writes of nodes, as COPY takes them."""

from __future__ import annotations

NODE_COLUMNS = (
    "id",
    "tenant_id",
    "project_id",
    "audience_id",
    "key",
    "node_type",
    "title",
    "content",
    "context",
    "language",
    "tags",
    "metadata",
    "source_kind",
    "origin",
    "record_id",
    "precedence",
    "occurred_at",
    "last_evidence_at",
    "created_at",
    "updated_at",
    "embedding",
    "embedding_model_id",
)
NODE_EVIDENCE_COLUMNS = (
    "id",
    "tenant_id",
    "project_id",
    "record_id",
    "node_id",
    "kind",
    "part",
    "start",
    '"end"',
    "quote",
    "weight",
    "via_source",
    "via_target",
    "assertion",
)
IDENTITY_COLUMNS = (
    "node_id",
    "tenant_id",
    "project_id",
    "person_id",
    "key",
    "side",
    "address",
    "names",
    "reasons",
    "names_stale",
)


def span_of(body: str, content: str) -> tuple[int | None, int | None]:
    """Return where `content` stands in `body`; two None where it does not."""
    start = body.find(content) if content else -1
    return (start, start + len(content)) if start >= 0 else (None, None)
