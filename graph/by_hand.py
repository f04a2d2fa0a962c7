"""What people, agents and the API write into the graph: checked, proven, audited.

What somebody wrote is a record of its own, so that it is evidence like any other: it
stands beside what sources say of the same thing, and who wrote it is known.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime

from django.db import transaction
from django.utils import timezone
from psycopg.types.json import Jsonb

from connections.models import Project, User
from connections.records import JSON, clean_key, node_types
from connections.roles import Act, must
from graph import by_hand_sql as sql
from graph import ingest_sql
from graph.audiences import Audiences
from graph.claims import CLAIM_TYPES
from graph.copying import execute, fetch
from graph.edges import GraphScope
from graph.hand import (
    KIND,
    Author,
    NotWritten,
    WriteRefused,
    Written,
    audit_write,
    write_record,
)
from graph.language import detect_language
from graph.locks import lock_project
from graph.merged import describe, resolved
from graph.models import Merge, Node, Tombstone
from graph.models.node import EXTRACTION, IMPLIED, MEMORY, OF_ITS_SOURCE
from graph.parts import clean_text
from graph.same_names import MERGED_BY_NAME, named_same
from graph.vocabulary import same_name
from graph.written import WrittenNode, give_vectors, write_node

# A person's words describe a thing before what sources say of it in passing; the
# latest first.
PRECEDENCE, PER_SECOND = 10.0, 1e-10
SAME = "It was written under a name that says the same."


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeByHand:
    """A node as somebody writes it; without a key it gets that of its name."""

    node_type: str
    title: str = ""
    content: str = ""
    key: str = ""
    tags: Sequence[str] = ()
    metadata: Mapping[str, JSON] = field(default_factory=dict)


def write_node_by_hand(project: Project, draft: NodeByHand, by: Author) -> Written:
    """Return the node, made or met by its key or by a name that says the same.

    It is there, as it was written, when this returns. Raises `WriteRefused`.
    """
    must(by.user, Act.WRITE_GRAPH, project.pk)
    check_draft(draft)
    scope = GraphScope(project, Audiences(project), timezone.now())
    with transaction.atomic():
        lock_project(project)
        key, there = _find(project, draft, by.user)
        node = there.pk if there else _make(scope, key, draft, by.origin)
        prove(scope, node, key, draft, audience_of(scope, there), by)
        if there is None:
            Tombstone.objects.filter(project=project, key=key).delete()
        elif key != there.key:
            _stand_for(project, key, there.key, by.user)
        describe(project, [node])
        give_vectors([node])
        new, at = there is None, there.key if there else key
        audit_write(
            project, "node.written", f"node:{node}", by, is_new=new, key=at, named=key
        )
    return Written(node, there is None)


def check_draft(draft: NodeByHand) -> None:
    """Raise `WriteRefused` for what cannot be written by hand."""
    node_types[draft.node_type]
    if draft.node_type in (*OF_ITS_SOURCE, "person"):
        raise WriteRefused(
            f"A {draft.node_type} is what its source says; it is not written by hand."
        )
    if not (draft.title.strip() or draft.content.strip()):
        raise WriteRefused("Give the node a title or a content.")
    prefix, colon, _ = clean_key(draft.key).partition(":")
    if colon and prefix != draft.node_type:
        raise WriteRefused(
            f"Keys that begin with {prefix!r} are not for a {draft.node_type}: leave "
            f"the key out, or begin it with '{draft.node_type}:'."
        )


def _find(project: Project, draft: NodeByHand, user: User) -> tuple[str, Node | None]:
    """Return the key it is written under, and the node that is there already."""
    key = clean_key(draft.key) or _key_of_name(draft)
    there = _by_key(project, key)
    if there and there.node_type != draft.node_type and not draft.key:
        key = clean_key(f"{draft.node_type}:{draft.title}")
        there = _by_key(project, key)
    if there is None and draft.title:
        same = named_same(project, draft.node_type, clean_text(draft.title))
        rows = Node.objects.defer("embedding").filter(pk__in=[same] if same else [])
        there = rows.first()
    if there:
        _may_meet(there, draft.node_type, user)
    return key, there


def _key_of_name(draft: NodeByHand) -> str:
    """Return the key that extraction would give it, so that both mean one node."""
    if draft.node_type in CLAIM_TYPES and not draft.title:
        said = hashlib.sha256(same_name(draft.content).encode()).hexdigest()[:32]
        return f"{draft.node_type}:{said}"
    name = draft.title or same_name(draft.content)
    is_name = draft.node_type in MERGED_BY_NAME[:-2]
    return clean_key(name if is_name else f"{draft.node_type}:{name}")


def _by_key(project: Project, key: str) -> Node | None:
    named = resolved(project, [key]).get(key, key)
    rows = Node.objects.of(project).defer("embedding")
    return rows.filter(key=named).first()


def _may_meet(node: Node, node_type: str, user: User) -> None:
    if node.trashed_at is not None:
        raise WriteRefused(f"{node.key!r} was pruned: put it back from the trash.")
    is_seen = Node.objects.visible_to(user).filter(pk=node.pk).exists()
    if not is_seen and node.origin != EXTRACTION:
        raise WriteRefused(f"The key {node.key!r} is taken: choose another one.")
    if node.node_type != node_type:
        raise WriteRefused(
            f"{node.key!r} is a {node.node_type} already: choose another key."
        )
    if node.origin == MEMORY:
        raise WriteRefused(f"{node.key!r} is an observation: correct it in memory.")


def _make(scope: GraphScope, key: str, draft: NodeByHand, origin: str) -> int:
    """Return the id of the new node, which is there as it was written."""
    written = WrittenNode(
        key=key,
        node_type=draft.node_type,
        origin=origin,
        audience_id=scope.audiences.public,
        title=draft.title,
        content=draft.content,
        source_kind=KIND,
        metadata=draft.metadata,
        tags=tuple(draft.tags),
        occurred_at=scope.now if draft.node_type in CLAIM_TYPES else None,
    )
    return verified(scope.project, written, now=scope.now)


def verified(project: Project, written: WrittenNode, *, now: datetime) -> int:
    """Write a node and look whether it is there with its type, name and metadata; try
    once more where it is not, then raise `NotWritten`."""
    for _ in range(2):
        node = write_node(project, written, now=now)
        is_there = Node.objects.filter(
            pk=node,
            node_type=written.node_type,
            title=clean_text(written.title),
            metadata=dict(written.metadata),
            trashed_at=None,
        )
        if is_there.exists():
            return node
    raise NotWritten(
        f"The node {written.key!r} was written and is not there as it was written; "
        "nothing was kept. Try again; the log of the server may say why."
    )


def audience_of(scope: GraphScope, there: Node | None) -> int:
    """Return who may see what is written: those who see the node it is met with; a
    name read out of texts, and what was only implied, everybody who may name it."""
    if there is None or there.origin in (EXTRACTION, IMPLIED):
        return scope.audiences.public
    return there.audience_id


def prove(
    scope: GraphScope,
    node: int,
    key: str,
    draft: NodeByHand,
    audience: int,
    by: Author,
) -> None:
    """Keep what was written as a record, and that as evidence of the node."""
    words = clean_text("\n\n".join(filter(None, (draft.title, draft.content))))
    record = write_record(
        scope, f"{by.user.pk}:{key}", asdict(draft), words, audience, by
    )
    own = fetch("SELECT n.key, n.language FROM graph_nodes n WHERE n.id = %s", [node])
    language = detect_language(clean_text(draft.content)) or own[0][1]
    execute(ingest_sql.KEEP_ASSERTIONS, [[node]])
    values = {
        "tenant": scope.key[0],
        "project": scope.key[1],
        "record": record,
        "node": node,
        "quote": "",
        "via": key if own[0][0] != key else "",
        "assertion": Jsonb(_assertion(draft, language, scope.now)),
    }
    execute(sql.PROVE_NODE, values)
    execute(sql.NO_LONGER_IMPLIED, {**values, "origin": by.origin})
    execute(sql.MEET_NODE, {**values, "audience": audience, "now": scope.now})


def _assertion(draft: NodeByHand, language: str, now: datetime) -> dict[str, JSON]:
    return {
        "node_type": draft.node_type,
        "title": clean_text(draft.title),
        "content": clean_text(draft.content),
        "context": "",
        "language": language,
        "tags": list(draft.tags),
        "metadata": dict(draft.metadata),
        "occurred_at": None,
        "precedence": PRECEDENCE + PER_SECOND * now.timestamp(),
    }


def _stand_for(project: Project, key: str, target: str, user: User) -> None:
    """Let the name it was written under stand for the node that was there."""
    is_free = not Node.objects.of(project).filter(key=key).exists()
    if is_free and not resolved(project, [key]):
        Merge.objects.create(
            tenant_id=project.tenant_id,
            project=project,
            key=key,
            target=target,
            merged_by=user,
            reason=SAME,
        )
