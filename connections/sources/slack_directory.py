"""The accounts and channels of a Slack export, and the records that describe them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from connections.records import (
    JSON,
    PUBLIC,
    AudienceDraft,
    Failure,
    Identity,
    NodeDraft,
    Record,
)
from connections.sources.base import Pull
from connections.sources.json_input import (
    Fields,
    digest,
    fields,
    number,
    text,
    texts,
)
from connections.sources.slack_export import (
    CHANNEL_LISTS,
    SLACKBOT,
    USER_LISTS,
    Export,
    Stranger,
    Survey,
    is_id,
)
from connections.sources.slack_markup import Names, unescape

# Folders of direct and group conversations are named by id or "mpdm-a--b-1".
_CLOSED_FOLDER = re.compile(r"[DG][A-Z0-9]{6,}|mpdm-.*")
_ADDRESS = re.compile(r"[^\s@<>]{1,64}@[^\s@<>]{1,190}")
# Below every version of a listed account or channel, in the order of `version`.
UNLISTED = 1 << 62

Kind = Literal["public", "private", "direct"]


def version(seconds: float | None, raw_sha256: str, flags: int = 0) -> int:
    """Return a rank below 2^62: by time, then 10 bits of `flags`, then content.

    The layout is 32 bits of seconds, 10 of flags, 20 of the digest of the raw item:
    equal raw items rank equal, different ones converge in any order.
    """
    stamp = min(max(int(seconds or 0), 0), (1 << 32) - 1)
    return stamp << 30 | min(flags, 1023) << 20 | int(raw_sha256[:5], 16)


@dataclass(frozen=True, slots=True)
class Account:
    """A user or bot of the workspace."""

    id: str
    handle: str
    real_name: str
    display_name: str
    role: str
    email: str
    bot: bool
    deleted: bool
    version: int
    raw_sha256: str

    @property
    def key(self) -> str:
        return f"slack-user:{self.id}"

    @property
    def title(self) -> str:
        return self.real_name or self.display_name or self.handle or self.id

    @property
    def member(self) -> str:
        """Return what an audience lists: the address, else the account's key."""
        return self.email or self.key


@dataclass(frozen=True, slots=True)
class Channel:
    """A conversation: `folder` is where its day files lie."""

    id: str
    folder: str
    title: str
    kind: Kind
    members: tuple[str, ...]
    topic: str
    purpose: str
    archived: bool
    created: datetime | None
    version: int
    raw_sha256: str

    @property
    def key(self) -> str:
        return f"slack:{self.id}"

    def audience(self, *, listing: bool = False) -> AudienceDraft:
        """Return who may read it; only `listing` says who its members are."""
        if self.kind == "public":
            return PUBLIC
        members = self.members if listing else None
        title = self.title if listing else ""
        return AudienceDraft("members", self.key, members, title)


@dataclass(slots=True)
class Directory:
    """Who and where: accounts and rooms by id, and what was unreadable.

    `folders` says which room the day files of a folder belong to.
    """

    accounts: dict[str, Account] = field(default_factory=dict)
    rooms: dict[str, Channel] = field(default_factory=dict)
    folders: dict[str, Channel] = field(default_factory=dict)
    survey: Survey = field(default_factory=Survey)
    failures: list[Failure] = field(default_factory=list)

    def names(self) -> Names:
        """Return what ids are called, for the words of messages."""
        people = {key: account.title for key, account in self.accounts.items()}
        rooms = {c.id: c.title.removeprefix("#") for c in self.rooms.values()}
        return Names(people, rooms)

    def room_key(self, channel_id: str, label: str) -> str:
        """Return the node key of a mentioned channel; `label` finds unlisted ones."""
        named = self.folders.get(label)
        unlisted = named is not None and named.id == named.folder
        known = channel_id in self.rooms or not unlisted
        return f"slack:{channel_id if known else label}"


def read_directory(export: Export) -> Directory:
    """Return the accounts and channels of an export, those it lists and the others.

    A folder that no list names is public, as Slack's standard export holds public
    channels only and leaves renamed and deleted ones out of its list. It is closed to
    all but those who wrote in it where its name is that of a direct conversation, or
    where the export lists private conversations, so that it may be one of them.
    """
    found = Directory()
    for name in USER_LISTS:
        for item in export.items(name):
            _add_account(item, name, found)
    closed = any(export.has_items(name) for name in CHANNEL_LISTS[1:])
    for name in CHANNEL_LISTS:
        for item in export.items(name):
            _add_channel(item, name, found)
    for folder in set(export.folders) & set(found.rooms):
        found.folders.setdefault(folder, found.rooms[folder])
    unlisted = set(export.folders) - set(found.folders)
    found.survey = export.survey(set(found.accounts), unlisted)
    for key, stranger in found.survey.strangers.items():
        found.accounts[key] = stranger_of(key, stranger)
    for folder in unlisted:
        found.folders[folder] = _unlisted(folder, found, closed=closed)
        found.rooms[folder] = found.folders[folder]
    return found


def _add_account(item: Fields | Failure, name: str, found: Directory) -> None:
    if isinstance(item, Failure):
        found.failures.append(item)
        return
    account = account_of(item)
    if account is None:
        said = f"A user without an id that can be used: {str(item.get('id'))[:80]!r}."
        found.failures.append(Failure(name, said))
        return
    held = found.accounts.get(account.id)
    if held is None or account.version > held.version:
        found.accounts[account.id] = account


def account_of(user: Fields) -> Account | None:
    """Return the account an entry of users.json describes, None without an id."""
    key = text(user.get("id"))
    if not is_id(key):
        return None
    profile, raw = fields(user.get("profile")), digest(user)
    email = text(profile.get("email")).lower()
    return Account(
        id=key,
        handle=text(user.get("name")) or text(profile.get("name")),
        real_name=_name(profile.get("real_name")) or _name(user.get("real_name")),
        display_name=_name(profile.get("display_name")),
        role=_name(profile.get("title")),
        email=email if _ADDRESS.fullmatch(email) else "",
        bot=user.get("is_bot") is True or key == SLACKBOT,
        deleted=user.get("deleted") is True,
        version=version(number(user.get("updated")), raw),
        raw_sha256=raw,
    )


def stranger_of(key: str, stranger: Stranger) -> Account:
    """Return the account of somebody whom only messages tell of."""
    known: Fields = {"id": key, "profile": stranger.profile, "is_bot": stranger.bot}
    raw, profile = digest(known), stranger.profile
    title = "Slackbot" if key == SLACKBOT else _name(profile.get("real_name"))
    return Account(
        id=key,
        handle=text(profile.get("name")),
        real_name=title,
        display_name=_name(profile.get("display_name")),
        role="",
        email="",
        bot=stranger.bot or key == SLACKBOT,
        deleted=False,
        version=version(stranger.known_at, raw, int(bool(profile))) - UNLISTED,
        raw_sha256=raw,
    )


def _name(value: JSON) -> str:
    return " ".join(unescape(text(value)).split())


def _add_channel(item: Fields | Failure, name: str, found: Directory) -> None:
    if isinstance(item, Failure):
        found.failures.append(item)
        return
    channel = _channel_of(item, name, found)
    if channel is None:
        said = (
            f"A channel without an id that can be used: {str(item.get('id'))[:80]!r}."
        )
        found.failures.append(Failure(name, said))
        return
    for held, key in ((found.rooms, channel.id), (found.folders, channel.folder)):
        if key not in held or _decides(channel, held[key]):
            held[key] = channel


def _decides(channel: Channel, held: Channel) -> bool:
    """Say which of two entries of one id or name counts: the more closed, the newer."""
    closed, was_closed = channel.kind != "public", held.kind != "public"
    return (closed, channel.version) > (was_closed, held.version)


def _channel_of(item: Fields, listed_in: str, found: Directory) -> Channel | None:
    key, name = text(item.get("id")), text(item.get("name"))
    if not is_id(key):
        return None
    people = [m for m in texts(item.get("members")) if is_id(m)]
    kind, raw = _kind(item, listed_in), digest(item)
    topic, purpose = fields(item.get("topic")), fields(item.get("purpose"))
    times = [number(item.get("created")), number(topic.get("last_set"))]
    known = [t for t in (*times, number(purpose.get("last_set"))) if t]
    return Channel(
        id=key,
        folder=name or key,
        title=_conversation(people, found) if kind == "direct" else f"#{name or key}",
        kind=kind,
        members=_members(people, found),
        topic=_name(topic.get("value")),
        purpose=_name(purpose.get("value")),
        archived=item.get("is_archived") is True,
        created=_moment(times[0]),
        version=version(max(known, default=0), raw),
        raw_sha256=raw,
    )


def _kind(item: Fields, listed_in: str) -> Kind:
    direct = item.get("is_im") is True or item.get("is_mpim") is True
    if direct or listed_in in ("dms.json", "mpims.json"):
        return "direct"
    private = item.get("is_private") is True or item.get("is_group") is True
    return "private" if private or listed_in != "channels.json" else "public"


def _members(people: list[str], found: Directory) -> tuple[str, ...]:
    accounts = found.accounts
    listed = {
        accounts[p].member if p in accounts else f"slack-user:{p}" for p in people
    }
    return tuple(sorted(listed))


def _conversation(people: list[str], found: Directory) -> str:
    named = [found.accounts[p].title if p in found.accounts else p for p in people]
    return ", ".join(named) or "Direct conversation"


def _unlisted(folder: str, found: Directory, *, closed: bool) -> Channel:
    named_closed = bool(_CLOSED_FOLDER.fullmatch(folder))
    people = sorted(found.survey.writers.get(folder, ()))
    facts = found.survey.facts.get(folder, {})
    kind: Kind = "direct" if named_closed else "private" if closed else "public"
    stamp = max((float(ts) for ts, _ in facts.values()), default=0)
    said: Fields = {name: value for name, (_, value) in facts.items()}
    raw = digest({"folder": folder, "facts": said, "members": [*people]})
    return Channel(
        id=folder,
        folder=folder,
        title=_conversation(people, found) if kind == "direct" else f"#{folder}",
        kind=kind,
        members=_members(people, found),
        topic=_name(said.get("topic")),
        purpose=_name(said.get("purpose")),
        archived=False,
        created=None,
        version=version(stamp, raw) - UNLISTED,
        raw_sha256=raw,
    )


def _moment(seconds: float | None) -> datetime | None:
    if not seconds or not 0 < seconds < 1 << 32:
        return None
    return datetime.fromtimestamp(int(seconds), UTC)


def account_records(found: Directory, request: Pull) -> Iterator[Record]:
    """Yield a record for each account."""
    for _, account in sorted(found.accounts.items()):
        yield account_record(account, request)


def account_record(account: Account, request: Pull) -> Record:
    """Return the record of an account, with the address of the human it belongs to."""
    names = tuple(dict.fromkeys((account.real_name, account.display_name)))
    named = () if account.bot else tuple(name for name in names if name)
    email = "" if account.bot else account.email
    nodes = [_account_node(account, Identity("chat", email, named))]
    if email:
        nodes.append(_address_node(email, Identity("mail", email, named)))
    return Record(
        key=account.key,
        kind="account",
        body=f"{account.title}\n{nodes[0].context}",
        nodes=tuple(nodes),
        raw_sha256=account.raw_sha256,
        audience=request.audience_or(PUBLIC),
        version=account.version,
        counted=False,
    )


def _account_node(account: Account, identity: Identity) -> NodeDraft:
    handle = f"@{account.handle}" if account.handle else account.id
    said = ", ".join(part for part in (handle, account.role) if part)
    metadata: Fields = {"handle": account.handle, "bot": account.bot}
    return NodeDraft(
        key=account.key,
        node_type="account",
        title=account.title,
        context=f"Slack account {said}",
        metadata=metadata | ({"deleted": True} if account.deleted else {}),
        identity=identity,
    )


def _address_node(email: str, identity: Identity) -> NodeDraft:
    return NodeDraft(
        key=f"person:{email}", node_type="address", title=email, identity=identity
    )


def channel_records(found: Directory, request: Pull) -> Iterator[Record]:
    """Yield a record for each conversation, with who may read it."""
    for _, channel in sorted(found.rooms.items()):
        content = "\n".join(filter(None, (channel.topic, channel.purpose)))
        node = NodeDraft(
            key=channel.key,
            node_type="channel",
            title=channel.title,
            content=content,
            metadata={"kind": channel.kind, "archived": channel.archived},
            occurred_at=channel.created,
        )
        yield Record(
            key=channel.key,
            kind="channel",
            body=f"{channel.title}\n{content}".strip(),
            nodes=(node,),
            raw_sha256=channel.raw_sha256,
            occurred_at=channel.created,
            audience=request.audience_or(channel.audience(listing=True)),
            version=channel.version,
            counted=False,
        )
