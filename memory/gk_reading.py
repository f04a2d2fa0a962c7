"""What a user's memory of a project holds: facts, and episodes of conversation."""

from __future__ import annotations

import unicodedata
import uuid
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath

from django.contrib.postgres.search import SearchQuery, SearchVector
from django.db.models import Count, Max, Q, QuerySet

from connections.models import Project, User
from connections.records import JSON
from graph.models import Edge, Node
from graph.models.node import MEMORY
from memory.models import Citation, Conversation, Turn
from memory.scopes import current
from retrieval.results import Contribution, Filters
from retrieval.search import search

HAND = "hand"
MOST_TOPICS = 8
# What a text names outright that is a subject, not a person or a place.
TOPICAL_TYPES = ("topic", "tag", "technology", "pattern")
_EDGES_OF_TOPICS = "mentions"
_EDGES_OF_CHANNELS = "posted_in"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One thing remembered; `agent_id` is who wrote it down, empty for a person.

    `metadata` is its node's; `contributions` are the retrievers that found it for a
    query, none without one.
    """

    node_id: int
    text: str
    observation_type: str
    agent_id: str
    topics: tuple[str, ...]
    is_shared: bool
    timestamp: datetime
    metadata: Mapping[str, JSON]
    contributions: Mapping[str, Contribution] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A conversation as an episode: what it was about, who answered, from where.

    Not `is_own` where another shared it. `source`, `filename` and `channel` are those
    cited most; empty where none is.
    """

    id: uuid.UUID
    title: str
    summary: str
    topics: tuple[str, ...]
    agent_id: str
    turn_count: int
    timestamp: datetime
    is_own: bool = True
    source: str = ""
    filename: str = ""
    channel: str = ""
    tenant_id: str = ""


def get_facts(user: User, project: Project, query: str, limit: int) -> list[Fact]:
    """Return what `user` remembers of `project` or had shared with them.

    The latest first; with a query the best first, each with what found it.
    """
    held = current(project, user)
    if not query.strip():
        newest = held.order_by("-created_at", "-node_id")
        return [_fact(row, {}) for row in newest.values_list(*_COLUMNS)[:limit]]
    found = search(
        project, query, user=user, limit=limit, filters=Filters(sources=(MEMORY,))
    )
    by_node = {result.node_id: result.contributions for result in found.results}
    rows = held.filter(node__in=list(by_node)).values_list(*_COLUMNS)
    facts = {row[0]: _fact(row, by_node[row[0]]) for row in rows}
    return [facts[node] for node in by_node if node in facts]


def list_sessions(
    user: User, project: Project, limit: int, query: str = ""
) -> list[Session]:
    """Return the conversations that `user` may see, the latest first.

    With a query those whose questions say its words. What was answered from a source
    that is closed to the user by now is not told.
    """
    rows = Conversation.objects.visible_to(user).of(project)
    if query.strip():
        rows = rows.filter(pk__in=_asking(rows, project, query))
    found = list(rows.order_by("-updated_at", "pk")[:limit])
    return _Episodes.read(user, project, found).sessions()


def normalised(topic: str) -> str:
    """Return a topic as it is compared: folded, one space, no sign around it."""
    folded = unicodedata.normalize("NFKC", topic).casefold()
    return " ".join(folded.split()).strip("#.,;:!?\"'()[] ")


def normalised_all(topics: Iterable[JSON]) -> tuple[str, ...]:
    """Return the topics that are words, normalised, each once, in their order."""
    names = (normalised(topic) for topic in topics if isinstance(topic, str))
    return tuple(dict.fromkeys(name for name in names if name))


_COLUMNS = (
    "node_id",
    "node__content",
    "node__title",
    "node__metadata",
    "node__tags",
    "observation_type",
    "origin",
    "subject",
    "is_shared",
    "created_at",
)


def _fact(row: tuple, contributions: Mapping[str, Contribution]) -> Fact:
    node, content, title, metadata, tags, kind, origin, subject, shared, made = row
    told = metadata.get("agent_id")
    several = metadata.get("topics")
    topics = [
        metadata.get("topic"),
        *(several if isinstance(several, list) else [several]),
        subject,
        *tags,
    ]
    return Fact(
        node_id=node,
        text=content or title,
        observation_type=kind,
        agent_id=str(told) if told else "" if origin == HAND else origin,
        topics=normalised_all(topics),
        is_shared=shared,
        timestamp=made,
        metadata=metadata,
        contributions=contributions,
    )


def _asking(rows: QuerySet[Conversation], project: Project, query: str) -> QuerySet:
    """Return the conversations one of whose questions or titles says the query."""
    asked = SearchQuery(query, config=project.language, search_type="websearch")
    said = SearchVector("question", "conversation__title", config=project.language)
    turns = Turn.objects.filter(conversation__in=rows.order_by())
    return turns.annotate(said=said).filter(said=asked).values("conversation")


@dataclass(frozen=True, slots=True)
class _Cited:
    """A node that a conversation cited and its reader may see."""

    source_kind: str
    filename: str
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Counted:
    turns: int
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Episodes:
    """Conversations with all that their episodes are made of, read at once."""

    project: Project
    user_id: int
    conversations: Sequence[Conversation]
    counts: Mapping[uuid.UUID, _Counted]
    first: Mapping[uuid.UUID, tuple[str, str, Mapping[str, JSON]]]
    models: Mapping[uuid.UUID, str]
    cited: Mapping[uuid.UUID, Sequence[int]]
    nodes: Mapping[int, _Cited]
    named: Mapping[int, Sequence[str]]
    channels: Mapping[int, str]
    subjects: Mapping[uuid.UUID, Sequence[str]]

    @classmethod
    def read(
        cls, user: User, project: Project, found: Sequence[Conversation]
    ) -> _Episodes:
        ids = [conversation.pk for conversation in found]
        counts = _counts(ids)
        first, models = _turns(ids, [count.last for count in counts.values()])
        cited = _citations(ids)
        nodes = _open(user, project, {node for each in cited.values() for node in each})
        named, channels = _tied(user, project, nodes)
        return cls(
            project=project,
            user_id=user.pk,
            conversations=found,
            counts=counts,
            first=first,
            models=models,
            cited=cited,
            nodes=nodes,
            named=named,
            channels=channels,
            subjects=_subjects(user, project, ids),
        )

    def sessions(self) -> list[Session]:
        return [self._session(conversation) for conversation in self.conversations]

    def _session(self, conversation: Conversation) -> Session:
        pk = conversation.pk
        cited = self.cited.get(pk, ())
        known = [node for node in cited if node in self.nodes]
        count = self.counts.get(pk)
        return Session(
            id=pk,
            title=conversation.title,
            summary=self._summary(conversation, is_open=len(known) == len(cited)),
            topics=self._topics(pk, known),
            agent_id=self.models.get(pk, ""),
            turn_count=count.turns if count else 0,
            timestamp=conversation.updated_at,
            is_own=conversation.user_id == self.user_id,
            source=_most(self.nodes[node].source_kind for node in known),
            filename=_most(self.nodes[node].filename for node in known),
            channel=_most(self.channels.get(node, "") for node in known),
            tenant_id=self.project.tenant.slug,
        )

    def _summary(self, conversation: Conversation, *, is_open: bool) -> str:
        question, answer, _ = self.first.get(conversation.pk, ("", "", {}))
        asked = question or conversation.title
        if not is_open:
            return asked
        both = f"{asked}\n{answer}" if answer else asked
        return conversation.summary or both

    def _topics(self, pk: uuid.UUID, known: Sequence[int]) -> tuple[str, ...]:
        """Return what it was about: what was asked for, learned, then cited most."""
        _, _, parsed = self.first.get(pk, ("", "", {}))
        hints = parsed.get("entity_hints")
        said = Counter(
            name
            for node in known
            for name in (*self.nodes[node].tags, *self.named.get(node, ()))
        )
        topics = normalised_all(
            [
                *(hints if isinstance(hints, list) else ()),
                *self.subjects.get(pk, ()),
                *(name for name, _ in said.most_common()),
            ]
        )
        return topics[:MOST_TOPICS]


def _counts(ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, _Counted]:
    rows = Turn.objects.filter(conversation__in=ids).order_by()
    counted = rows.values("conversation").annotate(n=Count("pk"), last=Max("pk"))
    return {row["conversation"]: _Counted(row["n"], row["last"]) for row in counted}


def _turns(
    ids: Sequence[uuid.UUID], last: Sequence[int]
) -> tuple[dict[uuid.UUID, tuple[str, str, Mapping[str, JSON]]], dict[uuid.UUID, str]]:
    """Return of each conversation how it began, and who answered last."""
    first = (
        Turn.objects.filter(conversation__in=ids)
        .order_by("conversation", "pk")
        .distinct("conversation")
        .values_list("conversation", "question", "answer", "parsed")
    )
    models = Turn.objects.filter(pk__in=last).values_list("conversation", "model")
    return {pk: (asked, said, parsed) for pk, asked, said, parsed in first}, dict(
        models
    )


def _citations(ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, list[int]]:
    rows = Citation.objects.filter(turn__conversation__in=ids, node__isnull=False)
    found: dict[uuid.UUID, list[int]] = defaultdict(list)
    for pk, node in rows.order_by("pk").values_list("turn__conversation", "node"):
        found[pk].append(node)
    return found


def _open(user: User, project: Project, ids: Collection[int]) -> dict[int, _Cited]:
    visible = Node.objects.visible_to(user).of(project).current()
    rows = visible.filter(pk__in=list(ids)).values_list(
        "pk", "source_kind", "tags", "metadata__filename", "metadata__path"
    )
    return {
        pk: _Cited(kind, str(name or PurePosixPath(path or "").name), tuple(tags))
        for pk, kind, tags, name, path in rows
    }


def _tied(
    user: User, project: Project, nodes: Collection[int]
) -> tuple[dict[int, list[str]], dict[int, str]]:
    """Return what the nodes name, and the channel that each was posted in."""
    edges = Edge.objects.visible_to(user).of(project).live()
    rows = edges.filter(
        Q(relation=_EDGES_OF_CHANNELS)
        | Q(relation=_EDGES_OF_TOPICS, target__node_type__in=TOPICAL_TYPES),
        source__in=list(nodes),
    )
    named: dict[int, list[str]] = defaultdict(list)
    channels: dict[int, str] = {}
    for source, relation, title in rows.order_by("pk").values_list(
        "source", "relation", "target__title"
    ):
        if relation == _EDGES_OF_CHANNELS:
            channels[source] = title
        else:
            named[source].append(title)
    return named, channels


def _subjects(
    user: User, project: Project, ids: Sequence[uuid.UUID]
) -> dict[uuid.UUID, list[str]]:
    """Return what was learned about in each conversation."""
    rows = current(project, user).filter(conversation__in=ids).order_by("pk")
    found: dict[uuid.UUID, list[str]] = defaultdict(list)
    for pk, subject in rows.values_list("conversation", "subject"):
        found[pk].append(subject)
    return found


def _most(values: Iterable[str]) -> str:
    """Return what occurs most, the first of several; empty of nothing."""
    counted = Counter(value for value in values if value)
    return counted.most_common(1)[0][0] if counted else ""
