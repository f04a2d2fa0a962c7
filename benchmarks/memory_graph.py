"""How fast a memory of thousands of observations is drawn as a graph."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

from django.db import connection

from benchmarks.report import Table, percentile
from connections.management.base import create_project
from connections.models import Audience, Project, User
from graph.embed import embed_backlog
from graph.models import Node
from graph.models.node import MEMORY
from memory.conversations import start_conversation
from memory.gk import LIMIT, LIMIT_MOST, memory_graph
from memory.models import Citation, MemoryScope, Observation, Turn
from retrieval.frequencies import count_lexemes

OBSERVATIONS, CONVERSATIONS, TIMES = 5_000, 500, 20
SUBJECTS, CITED = 200, 3


def run() -> list[Table]:
    """Draw a made-up memory whole, at the default limit, and for a query."""
    project = create_project("scratch/memory")
    user = User.objects.create_user("reader@scratch.test", "not used here")
    project.memberships.create(user=user)
    _fill(project, user)
    table = Table(
        "asked",
        "nodes",
        "edges",
        "p50",
        "p95",
        caption=(
            f"{OBSERVATIONS:,} observations, {CONVERSATIONS:,} conversations, "
            f"{TIMES} times each, to the finished JSON."
        ),
    )
    kinds: dict[str, Callable[[], dict]] = {
        f"all ({LIMIT_MOST:,})": lambda: _drawn(user, project, limit=LIMIT_MOST),
        f"the latest {LIMIT}": lambda: _drawn(user, project, limit=LIMIT),
        "a query": lambda: _drawn(user, project, limit=LIMIT, query="subject 7"),
    }
    for name, draw in kinds.items():
        took, answer = [], draw()
        for _ in range(TIMES):
            started = time.perf_counter()
            json.dumps(draw())
            took.append((time.perf_counter() - started) * 1000)
        found = answer["statistics"]
        table.add(
            name,
            f"{found['node_count']:,}",
            f"{found['edge_count']:,}",
            f"{percentile(took, 0.5):.0f} ms",
            f"{percentile(took, 0.95):.0f} ms",
        )
    return [table]


def _drawn(user: User, project: Project, *, limit: int, query: str = "") -> dict:
    return memory_graph(user, project, limit=limit, query=query).as_json()


def _fill(project: Project, user: User) -> None:
    conversations = [
        start_conversation(project, user, f"Conversation {n}")
        for n in range(CONVERSATIONS)
    ]
    turns = Turn.objects.bulk_create(
        Turn(
            conversation=conversation,
            question=f"What of subject {n % SUBJECTS}?",
            answer="As was said. " * 20,
            model="extractive",
        )
        for n, conversation in enumerate(conversations)
    )
    nodes = _observe(project, user, turns)
    Citation.objects.bulk_create(
        Citation(turn=turn, n=n + 1, node=node, key=node.key)
        for at, turn in enumerate(turns)
        for n, node in enumerate(nodes[at * CITED : (at + 1) * CITED])
    )
    embed_backlog(project.pk)
    count_lexemes(project, always=True)
    with connection.cursor() as cursor:
        # As after any bulk load: without statistics the planner guesses.
        cursor.execute("ANALYZE")


def _observe(project: Project, user: User, turns: list[Turn]) -> list[Node]:
    scope = MemoryScope.objects.create(
        tenant_id=project.tenant_id, project=project, user=user
    )
    audience = Audience.objects.get(project=project, key=f"user:{user.pk}")
    nodes = Node.objects.bulk_create(
        Node(
            tenant_id=project.tenant_id,
            project=project,
            key=f"memory:made-{n}",
            node_type="fact",
            content=f"Observation {n}: what was learned of subject {n % SUBJECTS}.",
            metadata={"topics": [f"topic {n % 50}"], "role": "assistant"},
            audience=audience,
            source_kind=MEMORY,
            origin=MEMORY,
        )
        for n in range(OBSERVATIONS)
    )
    Observation.objects.bulk_create(
        Observation(
            tenant_id=project.tenant_id,
            project=project,
            node=node,
            scope=scope,
            observation_type="fact",
            words_hash=f"{n:064x}",
            subject=f"subject {n % SUBJECTS}",
            conversation=turns[n % len(turns)].conversation,
            turn=turns[n % len(turns)],
        )
        for n, node in enumerate(nodes)
    )
    return nodes
