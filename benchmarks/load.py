"""Any number of messages with their vectors, words and edges, by COPY.

Ingest writes some 700 messages a second, which is measured elsewhere; a million of them
must be there in minutes. Indexes and foreign keys go before and come back after, as
their own definitions have them.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice

from psycopg import Connection, Copy
from psycopg.sql import SQL, Identifier
from psycopg.types.json import Jsonb

from benchmarks.corpus import ACCOUNTS, CHANNELS, START, account_name, channel_title
from benchmarks.database import server
from benchmarks.report import progress
from connections.management.base import create_project
from connections.models import Audience, Project
from connections.sources.text import day_in_words
from graph.embed import INDEX, active_embedder, embed_texts, ensure_index
from retrieval.frequencies import count_lexemes

BATCH = 2000
SPACING = timedelta(seconds=47)
REPLIES, OPEN_THREADS = 0.35, 5
BUILD_MEMORY = "2GB"
TABLES = ("graph_nodes", "graph_edges")

# Of a table: all indexes but those that constraints own, and its foreign keys.
INDEXES = """
    SELECT i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid)
      FROM pg_index i
     WHERE i.indrelid = %s::regclass
       AND NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = i.indexrelid)
"""
FOREIGN_KEYS = """
    SELECT c.conname, pg_get_constraintdef(c.oid) FROM pg_constraint c
     WHERE c.conrelid = %s::regclass AND c.contype = 'f'
"""
NODES_IN = """
    COPY graph_nodes (id, tenant_id, project_id, audience_id, key, node_type, title,
                      content, context, source_kind, metadata, occurred_at, embedding,
                      embedding_model_id) FROM STDIN
"""
EDGES_IN = """
    COPY graph_edges (tenant_id, project_id, audience_id, source_id, relation,
                      target_id, scope_id, position, occurred_at) FROM STDIN
"""
FIRST_ID = "SELECT coalesce(max(id), 0) + 1 FROM graph_nodes"
NEXT_ID = "SELECT setval(pg_get_serial_sequence('graph_nodes', 'id'), %s)"


@dataclass(frozen=True, slots=True)
class Message:
    """A message before it has an id; `thread` and `before` number other messages."""

    number: int
    text: str
    author: int
    channel: int
    at: datetime
    thread: int | None
    before: int | None

    @property
    def context(self) -> str:
        said_by = account_name(self.author)
        return f"{said_by} · {day_in_words(self.at)} · {channel_title(self.channel)}"


@dataclass(frozen=True, slots=True)
class Scope:
    """A project being filled, and the id its first node gets.

    Its accounts come first, then its channels, its messages, and their threads.
    """

    tenant: int
    project: int
    audience: int
    first: int
    size: int

    def account(self, number: int) -> int:
        return self.first + number

    def channel(self, number: int) -> int:
        return self.first + ACCOUNTS + number

    def message(self, number: int) -> int:
        return self.first + ACCOUNTS + CHANNELS + number

    def thread(self, number: int) -> int:
        return self.message(self.size + number)


def fill(projects: Mapping[str, tuple[int, Iterable[str]]]) -> list[Project]:
    """Make each project of so many messages with these texts; count their words."""
    filled = [create_project(path) for path in projects]
    with server() as owner, bare(owner):
        for project, (size, texts) in zip(filled, projects.values(), strict=True):
            _write(owner, project, size, texts)
    with server() as owner:
        for table in TABLES:
            owner.execute(SQL("VACUUM (ANALYZE) {}").format(Identifier(table)))
    for project in filled:
        count_lexemes(project, always=True)
    return filled


@contextmanager
def bare(owner: Connection) -> Iterator[None]:
    """Take indexes and foreign keys off nodes and edges for as long as this is open.

    The index of vectors is then fitted to them, as after every first load.
    """
    indexes, keys = [], []
    for table in TABLES:
        for name, definition in owner.execute(INDEXES, [table]).fetchall():
            owner.execute(SQL("DROP INDEX {}").format(Identifier(name)))
            if name != INDEX:
                indexes.append(definition)
        for name, definition in owner.execute(FOREIGN_KEYS, [table]).fetchall():
            drop = SQL("ALTER TABLE {} DROP CONSTRAINT {}")
            owner.execute(drop.format(Identifier(table), Identifier(name)))
            keys.append((table, name, definition))
    yield
    owner.execute(f"SET maintenance_work_mem = '{BUILD_MEMORY}'")
    owner.execute("SET max_parallel_maintenance_workers = 2")
    for definition in indexes:
        progress(definition)
        owner.execute(definition)
    for table, name, definition in keys:
        add = SQL("ALTER TABLE {} ADD CONSTRAINT {} ").format(
            Identifier(table), Identifier(name)
        )
        owner.execute(add + SQL(definition))
    progress("building the index of vectors")
    ensure_index()


def _write(
    owner: Connection, project: Project, size: int, texts: Iterable[str]
) -> None:
    (first,) = owner.execute(FIRST_ID).fetchone() or (1,)
    audience, _ = Audience.objects.get_or_create(
        tenant=project.tenant, project=project, kind=Audience.Kind.PUBLIC, key=""
    )
    scope = Scope(project.tenant_id, project.pk, audience.pk, first, size)
    threads: dict[int, Message] = {}
    # Foreign keys are off, so that edges need not wait for their nodes.
    with (
        server() as other,
        owner.cursor() as nodes,
        other.cursor() as edges,
        nodes.copy(NODES_IN) as nodes_in,
        edges.copy(EDGES_IN) as edges_in,
    ):
        _write_structure(scope, nodes_in)
        messages = _messages(project.path, texts)
        while batch := list(islice(messages, BATCH)):
            _write_messages(scope, batch, nodes_in)
            _write_edges(scope, batch, edges_in)
            threads |= {each.number: each for each in batch if each.thread is None}
            progress(f"{project.path}: {batch[-1].number + 1:,} of {size:,}")
        _write_threads(scope, threads, nodes_in)
    owner.execute(NEXT_ID, [scope.thread(size)])


def _messages(name: str, texts: Iterable[str]) -> Iterator[Message]:
    """Yield messages with who said them, where, and after what."""
    rng = random.Random(name)  # noqa: S311 - repeatable on purpose
    open_threads: list[list[int]] = [[] for _ in range(CHANNELS)]
    last: dict[tuple[int, int | None], int] = {}
    at = datetime.fromtimestamp(START, UTC)
    for number, text in enumerate(texts):
        channel = min(int(rng.expovariate(0.12)), CHANNELS - 1)
        recent = open_threads[channel]
        thread = rng.choice(recent) if recent and rng.random() < REPLIES else None
        if thread is None:
            recent.append(number)
            del recent[:-OPEN_THREADS]
        place = (channel, thread)
        author = rng.randrange(ACCOUNTS)
        before = last.get(place, thread)
        yield Message(number, text, author, channel, at, thread, before)
        last[place] = number
        at += SPACING


def _write_structure(scope: Scope, into: Copy) -> None:
    _, model = active_embedder()
    for number in range(ACCOUNTS):
        _node(
            scope,
            into,
            scope.account(number),
            f"identity:{number}",
            "person",
            title=account_name(number),
            model=model.pk,
        )
    for number in range(CHANNELS):
        _node(
            scope,
            into,
            scope.channel(number),
            f"slack:C{number}",
            "channel",
            title=channel_title(number),
            model=model.pk,
        )


def _write_messages(scope: Scope, batch: list[Message], into: Copy) -> None:
    _, model = active_embedder()
    vectors = embed_texts([f"{each.context}\n{each.text}" for each in batch])
    for each, vector in zip(batch, vectors, strict=True):
        key = f"slack:C{each.channel}:{each.number}"
        _node(
            scope,
            into,
            scope.message(each.number),
            key,
            "message",
            content=each.text,
            context=each.context,
            at=each.at,
            vector=vector,
            model=model.pk,
        )


def _write_threads(scope: Scope, begun: Mapping[int, Message], into: Copy) -> None:
    _, model = active_embedder()
    for number, each in begun.items():
        key = f"slack-thread:C{each.channel}:{number}"
        _node(
            scope,
            into,
            scope.thread(number),
            key,
            "thread",
            title=each.text[:80],
            at=each.at,
            model=model.pk,
        )


def _node(
    scope: Scope,
    into: Copy,
    node: int,
    key: str,
    node_type: str,
    *,
    title: str = "",
    content: str = "",
    context: str = "",
    at: datetime | None = None,
    vector: str | None = None,
    model: int | None = None,
) -> None:
    into.write_row(
        (
            node,
            scope.tenant,
            scope.project,
            scope.audience,
            key,
            node_type,
            title,
            content,
            context,
            "slack",
            Jsonb({}),
            at,
            vector,
            model,
        )
    )


def _write_edges(scope: Scope, batch: list[Message], into: Copy) -> None:
    def edge(
        each: Message,
        relation: str,
        target: int,
        within: int | None = None,
        position: int | None = None,
    ) -> None:
        into.write_row(
            (
                scope.tenant,
                scope.project,
                scope.audience,
                scope.message(each.number),
                relation,
                target,
                within,
                position,
                each.at,
            )
        )

    for each in batch:
        channel, number = scope.channel(each.channel), each.number
        edge(each, "sent_by", scope.account(each.author))
        place = channel
        if each.thread is None:
            edge(each, "posted_in", channel, position=number)
        else:
            place = scope.thread(each.thread)
            edge(each, "posted_in", channel)
            edge(each, "in_thread", place, position=number)
            edge(each, "replied_to", scope.message(each.thread))
        if each.before is not None:
            edge(each, "follows", scope.message(each.before), within=place)
