"""What the graph and the connections give to an export."""

from __future__ import annotations

from functools import cache

from django.db.models import Model

from connections.models import (
    ApiToken,
    Audience,
    AudienceMember,
    Audit,
    AuditCheck,
    AuditDetail,
    AuditHead,
    Database,
    DatabaseChange,
    DatabaseColumn,
    DatabaseKey,
    DatabaseQuery,
    DatabaseTable,
    Membership,
    ModelCredential,
    ModelUsage,
    Project,
    SavedView,
    Source,
    SyncError,
    SyncRun,
    Tenant,
    User,
    UserAddress,
)
from connections.records import node_types, relations
from graph.copying import fetch
from graph.exporting import audience_names
from graph.exporting.parts import Row, Translated, add_part, leave_out
from graph.exporting.undo_payloads import UNDO, check_undo
from graph.models import (
    Alias,
    DailyFigure,
    Edge,
    EmbeddingModel,
    ErasedName,
    Erasure,
    Evidence,
    ExtractedText,
    ExtractionAnswer,
    GraphCheck,
    Identity,
    IdentityDecision,
    Merge,
    Node,
    NodePosition,
    PendingEdge,
    Record,
    RefusedText,
    ReviewDecision,
    ReviewItem,
    StaleThreshold,
    Tombstone,
    Trashed,
)
from graph.models.node import MEMORY

_VECTOR = "made again by the embedder; --with-vectors writes data/vectors.jsonl"
_WORDS = "made from the words by a trigger"
_HELD = "of the moment: who has an item open"
_NOT_MEMORY_KEY = "{column} NOT LIKE 'memory:%'"
# Kinds of review items that speak of what people said to Fabric.
MEMORY_KINDS = ("contradiction", "feedback")
# Beyond, and so beside every id that the database will ever give out here.
MOST_MEMORY = 10**15


def _known_type(row: Row) -> str:
    if row["node_type"] in node_types:
        return ""
    return f"there is no node type {row['node_type']!r} here"


def _known_relation(row: Row) -> str:
    if row["relation"] in relations:
        return ""
    return f"there is no relation {row['relation']!r} here"


@cache
def known_languages() -> frozenset[str]:
    """Return the text search configurations; ask before a COPY is open."""
    rows = fetch("SELECT c.cfgname FROM pg_catalog.pg_ts_config c", [])
    return frozenset(row[0] for row in rows)


def _known_language(row: Row) -> str:
    if row["language"] in known_languages():
        return ""
    return f"there is no text search configuration {row['language']!r} here"


def _sane_key(row: Row) -> str:
    key = str(row["key"])
    if not key or len(key.encode("utf-8", "surrogatepass")) > 512:
        return "a key has 1 to 512 bytes"
    number = key.removeprefix("memory:")
    if number != key and number.isdigit() and int(number) > MOST_MEMORY:
        return f"{key} is no number of a memory"
    return ""


def _without(*columns: str) -> str:
    return " AND ".join(_NOT_MEMORY_KEY.format(column=f"t.{c}") for c in columns)


def _add_place() -> None:
    add_part(
        Project,
        "project",
        "language",
        where="t.id = {project}",
        left_out={
            "slug": "an import names the project it is for",
            "created_at": "when it was made here",
        },
        checks=(_known_language,),
    )
    add_part(
        Audience,
        "audiences",
        "kind",
        "key",
        prepare=audience_names.name_audiences,
        address_of=audience_names.address_of,
        translated={
            "key": Translated(out=audience_names.KEY_OUT, back=audience_names.KEY_BACK)
        },
        checks=(audience_names.wrong_user,),
    )
    through: type[Model] = Audience.parts.through
    add_part(
        through,
        "audience_parts",
        "from_audience",
        "to_audience",
        within="from_audience",
        restored=audience_names.name_combined,
    )
    add_part(
        AudienceMember,
        "audience_members",
        "audience",
        "user",
        "member",
        within="audience",
    )


def _add_sources() -> None:
    add_part(Source, "sources", "name")
    add_part(
        SyncRun, "sync_runs", "source", "started_at", is_numbered=True, within="source"
    )
    add_part(
        SyncError, "sync_errors", "run", "at", "item", is_numbered=True, within="run"
    )
    _add_databases()


def _add_databases() -> None:
    add_part(
        Database,
        "databases",
        "name",
        left_out={
            "password": "a secret",
            "certificate": "set anew with the password",
            "enabled": "off until somebody gives it a password",
            "tested_at": "of this installation's network",
            "test_report": "of this installation's network",
            "failures": "of the moment",
            "paused_until": "of the moment",
        },
        fixed={"enabled": False},
    )
    add_part(
        DatabaseTable,
        "database_tables",
        "database",
        "schema",
        "name",
        within="database",
    )
    add_part(DatabaseColumn, "database_columns", "table", "name", within="table")
    add_part(DatabaseKey, "database_keys", "table", "name", within="table")


def _add_graph() -> None:
    add_part(Record, "records", "source", "key", checks=(_sane_key,))
    add_part(
        Node,
        "nodes",
        "key",
        left_out={
            "search_vector": _WORDS,
            "metadata_vector": _WORDS,
            "embedding": _VECTOR,
            "embedding_model": _VECTOR,
        },
        where_without_memory=f"t.origin <> '{MEMORY}'",
        checks=(_known_type, _known_language, _sane_key),
    )
    add_part(
        Edge,
        "edges",
        "source",
        "relation",
        "target",
        "scope",
        "valid_from",
        where_without_memory=f"t.origin <> '{MEMORY}'",
        checks=(_known_relation,),
    )
    add_part(
        Evidence,
        "evidence",
        "node",
        "edge",
        "record",
        "part",
        "via_source",
        "via_target",
    )
    add_part(
        PendingEdge,
        "pending_edges",
        "record",
        "source_key",
        "relation",
        "target_key",
        where_without_memory=_without("source_key", "target_key"),
        checks=(_known_relation,),
    )
    add_part(Alias, "aliases", "record", "key")
    add_part(Identity, "identities", "node")
    add_part(IdentityDecision, "identity_decisions", "first_key", "second_key")
    add_part(Tombstone, "tombstones", "key", where_without_memory=_without("key"))
    add_part(
        Merge,
        "merges",
        "key",
        "target",
        "merged_at",
        is_numbered=True,
        where_without_memory=_without("key", "target"),
    )
    add_part(ExtractionAnswer, "extraction_answers", "asked", "words")


def _add_review() -> None:
    kinds = ", ".join(f"'{kind}'" for kind in MEMORY_KINDS)
    add_part(StaleThreshold, "stale_thresholds", "node_type", checks=(_known_type,))
    add_part(
        ReviewItem,
        "review_items",
        "kind",
        "subject",
        left_out={"held_by": _HELD, "held_until": _HELD},
        where_without_memory=f"t.kind NOT IN ({kinds})",
    )
    add_part(
        ReviewDecision,
        "review_decisions",
        "item",
        "decided_at",
        is_numbered=True,
        translated={"before": UNDO},
        checks=(check_undo,),
    )
    add_part(
        Trashed,
        "trash",
        "node",
        translated={
            "chosen": Translated(
                out="(SELECT c.address FROM exported_nodes c WHERE c.id = t.chosen)",
                back="(SELECT c.id FROM restored_nodes c"
                " WHERE c.address = s.doc -> 'chosen')",
            )
        },
    )


def _leave_out() -> None:
    leave_out(
        User,
        UserAddress,
        Membership,
        Tenant,
        why="people and what they may do "
        "are decided where the project lives; rows name users by address",
    )
    leave_out(ApiToken, ModelCredential, why="secrets")
    leave_out(
        Audit, AuditDetail, why="the log of this installation; verify_audit exports it"
    )
    leave_out(
        ModelUsage,
        DatabaseQuery,
        DatabaseChange,
        why="what happened in this installation, not what the project knows",
    )
    leave_out(
        AuditHead, AuditCheck, why="of the audit's chain, which stays where it is"
    )
    leave_out(DailyFigure, GraphCheck, NodePosition, why="computed anew from the rest")
    leave_out(
        Erasure,
        ErasedName,
        why="what was erased is not there, and its names are hashed with a key of "
        "this installation",
    )
    leave_out(SavedView, why="lists of this installation's admin")
    leave_out(EmbeddingModel, RefusedText, why="of this installation's embedder")
    leave_out(
        ExtractedText,
        why="texts are read again; what a model answered is kept, "
        "so nothing is asked twice",
    )


_add_place()
_add_sources()
_add_graph()
_add_review()
_leave_out()
