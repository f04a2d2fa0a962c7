"""What a source hands upward: records, and the nodes and edges they assert.

A `Record` is one thing a source said (a message, a mail, a meeting, a file), whole.
It drafts the nodes and edges that follow from it; `graph.ingest` writes them, keeps
the record as their evidence, and resolves keys to nodes. Drafts are values: the same
input gives equal drafts, in any order and any split of an import.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from functools import cached_property
from typing import Literal, TypeAlias

from connections.registry import Registry

JSON: TypeAlias = (
    bool
    | int
    | float
    | str
    | list["JSON"]
    | tuple["JSON", ...]
    | dict[str, "JSON"]
    | None
)

MAX_KEY_BYTES = 512


@dataclass(frozen=True, slots=True)
class Relation:
    """What an edge of one name means, between which node types, by example."""

    name: str
    meaning: str
    source: str
    target: str
    example: str


@dataclass(frozen=True, slots=True)
class NodeType:
    """A kind of node: `structure` is never quoted as an answer's evidence."""

    name: str
    meaning: str
    icon: str = "circle"
    structure: bool = False


relations: Registry[Relation] = Registry("relation")
node_types: Registry[NodeType] = Registry("node type")


def relation(
    name: str, source: str, target: str, meaning: str, example: str
) -> Relation:
    """Register a relation; `source` and `target` name node types, `|` between them."""
    return relations.add(name, Relation(name, meaning, source, target, example))


def node_type(
    name: str, meaning: str, icon: str, *, structure: bool = False
) -> NodeType:
    """Register a node type; `icon` is a Material Symbols name."""
    return node_types.add(name, NodeType(name, meaning, icon, structure))


def clean_key(key: str) -> str:
    """Return `key` as it is stored: no NUL, at most 512 bytes.

    A longer one keeps its head and ends in `~` and 32 hex digits of its SHA-256.
    """
    key = key.replace("\x00", "\ufffd").strip()
    encoded = key.encode("utf-8", "surrogatepass")
    if len(encoded) <= MAX_KEY_BYTES:
        return encoded.decode("utf-8", "replace")
    head = encoded[: MAX_KEY_BYTES - 33].decode("utf-8", "ignore")
    return f"{head}~{hashlib.sha256(encoded).hexdigest()[:32]}"


@dataclass(frozen=True, slots=True)
class AudienceDraft:
    """Who may see what a record says.

    `public` is every member of the project. `members` are the people listed, each an
    address ("ann@acme.test") or an identity key ("slack-user:U1"); `None` refers to
    an audience that another record lists.
    """

    kind: Literal["public", "members", "private"] = "public"
    key: str = ""
    members: tuple[str, ...] | None = None
    title: str = ""


PUBLIC = AudienceDraft()


@dataclass(frozen=True, slots=True)
class Identity:
    """Marks a node as one way a human is named: an address, an account, a bare name."""

    side: Literal["mail", "chat", "name"]
    address: str = ""
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeDraft:
    """A node as one record asserts it.

    `content` is the source's own words, exactly as they may be quoted; `context` is
    what a reader knows besides (author, day in words, channel, path) and is searched
    and embedded with it. Where several records assert one node, the draft with the
    greatest `precedence` describes it. `part` marks a node whose number at the end of
    its key ("file:a.md#2") is kept by its content when the record changes.
    """

    key: str
    node_type: str
    title: str = ""
    content: str = ""
    context: str = ""
    language: str = ""
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, JSON] = field(default_factory=dict)
    occurred_at: datetime | None = None
    precedence: float = 0.0
    identity: Identity | None = None
    part: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeDraft:
    """An edge as one record asserts it, between the keys of two nodes.

    A key of a person is that of the identity the source names ("slack-user:U1");
    ingest draws the edge to the person. `position` puts the source node into the
    sequence of the target (messages of a channel, mails of a thread, sentences of a
    meeting): `follows` edges come from it. `quote` is the words that say so. Until
    `target` arrives the edge goes to the first of `otherwise` that is there: the mail
    answered may be missing where the one it answers is not.
    """

    source: str
    relation: str
    target: str
    weight: float = 1.0
    occurred_at: datetime | None = None
    position: Decimal | None = None
    valid_from: datetime | None = None
    quote: str = ""
    otherwise: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Alias:
    """`key` stands for `target`: a mail's own thread is the thread of its root.

    `own` marks what the thing itself says; hearsay (another mail's References) only
    counts where there is nothing better.
    """

    key: str
    target: str
    own: bool = True


@dataclass(frozen=True, kw_only=True)
class Record:
    """One thing a source said, and what follows from it; its first node is its own.

    `counted` records are what a person would count (messages, mails, meetings,
    files); the others (accounts, channels, folders) describe their surroundings.
    Of two records with one key the greater `version` is kept. `warnings` are what
    could not be read though the rest could.
    """

    key: str
    kind: str
    body: str
    nodes: tuple[NodeDraft, ...]
    edges: tuple[EdgeDraft, ...] = ()
    aliases: tuple[Alias, ...] = ()
    raw_sha256: str = ""
    permalink: str = ""
    occurred_at: datetime | None = None
    audience: AudienceDraft = PUBLIC
    version: int = 0
    counted: bool = True
    warnings: tuple[str, ...] = ()

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 over everything the record says and drafts, as 64 hex digits."""
        said = (
            self.kind,
            self.body,
            self.permalink,
            self.occurred_at,
            _values(self.audience),
            [_values(node) for node in self.nodes],
            [_values(edge) for edge in self.edges],
            [_values(alias) for alias in self.aliases],
        )
        text = json.dumps(said, default=_plain, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


def _values(
    draft: AudienceDraft | NodeDraft | EdgeDraft | Alias | Identity,
) -> list[object]:
    """Return the fields in order: `asdict` copies deeply, at ten times the cost."""
    return [getattr(draft, name) for name in draft.__slots__]


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    return _values(value) if isinstance(value, Identity) else str(value)


@dataclass(frozen=True, slots=True)
class Failure:
    """An item of a source that could not be read: where it is, and why.

    `keys` are those of the records it stands for, and of what lies below them: they
    are there, so that a complete walk must not take them for vanished.
    """

    item: str
    error: str
    keys: tuple[str, ...] = ()


node_type("message", "A chat message.", "chat")
node_type("email", "A mail, or an attachment of one.", "mail")
node_type(
    "thread", "A conversation: a mail thread or a chat thread.", "forum", structure=True
)
node_type(
    "channel",
    "A chat channel, a group or a direct conversation.",
    "tag",
    structure=True,
)
node_type("meeting", "A meeting, transcribed or from an invitation.", "groups")
node_type("sentence", "One utterance of a meeting.", "format_quote")
node_type(
    "file",
    "A file: its title and path; its text lies in its sections.",
    "draft",
    structure=True,
)
node_type("section", "A section of a file.", "article")
node_type("folder", "A folder of files.", "folder", structure=True)
node_type(
    "person", "A human, as one or more identities name them.", "person", structure=True
)
node_type("address", "A mail address: an identity.", "alternate_email", structure=True)
node_type(
    "account", "An account of a chat workspace: an identity.", "badge", structure=True
)
node_type(
    "name", "A bare name in a transcript: an identity.", "id_card", structure=True
)
node_type("domain", "The domain of mail addresses.", "domain", structure=True)
node_type("topic", "A topic.", "label", structure=True)

relation(
    "sent_by",
    "message|email|sentence",
    "person",
    "Who wrote or said it.",
    "Ann's mail sent_by Ann",
)
relation(
    "replied_to",
    "message|email",
    "message|email",
    "The message it answers.",
    "Bob's mail replied_to Ann's mail",
)
relation(
    "in_thread",
    "message|email",
    "thread",
    "The thread it belongs to.",
    "Ann's mail in_thread 'Launch date'",
)
relation(
    "posted_in",
    "message",
    "channel",
    "The channel it was posted in.",
    "a message posted_in #support",
)
relation("attended", "meeting", "person", "Who took part.", "Weekly sync attended Ann")
relation(
    "organized_by",
    "meeting",
    "person",
    "Who called the meeting.",
    "Weekly sync organized_by Bob",
)
relation(
    "participant",
    "thread",
    "person",
    "Who wrote in it or received it.",
    "'Launch date' participant Ann",
)
relation(
    "in_folder",
    "file|folder",
    "folder",
    "The folder that holds it.",
    "plan.md in_folder projects",
)
relation(
    "from_domain",
    "person",
    "domain",
    "The domain of an address of theirs.",
    "Ann from_domain acme.test",
)
relation(
    "has_email",
    "person",
    "address",
    "An address of theirs.",
    "Ann has_email ann@acme.test",
)
relation(
    "part_of",
    "sentence|section|email|message|file",
    "meeting|file|email|message",
    "What it is a part of.",
    "a sentence part_of Weekly sync",
)
relation(
    "follows",
    "message|email|sentence",
    "message|email|sentence",
    "The item before it in its thread, channel or meeting.",
    "the second message follows the first",
)
relation(
    "mentions",
    "message|email|sentence|section|meeting",
    "person|channel|file|topic|agent|technology|pattern|decision|preference|blocker",
    "What the text names outright.",
    "a message mentions Ann",
)
