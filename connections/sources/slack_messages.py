"""The record of one Slack message: its node, its thread, and how they hang together."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from connections.records import JSON, EdgeDraft, NodeDraft, Record
from connections.sources.base import Pull
from connections.sources.json_input import (
    Fields,
    damage,
    digest,
    fields,
    number,
    objects,
    text,
)
from connections.sources.slack_directory import (
    Channel,
    Directory,
    account_record,
    stranger_of,
    version,
)
from connections.sources.slack_export import Stranger, author_of, is_id, is_ts
from connections.sources.slack_markup import Said, flatten
from connections.sources.text import day_in_words

# What Slack writes itself: counted, kept as a record, but never found or followed.
NOTICES = {
    f"{place}_{act}"
    for place in ("channel", "group")
    for act in ("join", "leave", "archive", "unarchive", "name")
} | {
    "bot_add",
    "bot_remove",
    "channel_posting_permissions",
    "ekm_access_denied",
    "pinned_item",
    "unpinned_item",
}
_SILENT = Said("", Counter(), Counter(), {}, ())
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DELETED = (1 << 32) - 1
# A thread is named by its earliest message with words; one without comes last.
_WORDLESS = 1e11
TITLE_CHARS = 80


class BadMessage(ValueError):
    """A message that cannot be kept; the text says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Post:
    """A message as it stands in its channel and thread; `thread_ts` "" for neither."""

    raw: Fields
    channel: Channel
    ts: str
    thread_ts: str
    author: str
    subtype: str

    @property
    def key(self) -> str:
        return f"{self.channel.key}:{self.ts}"

    @property
    def thread_key(self) -> str:
        return f"slack-thread:{self.channel.id}:{self.thread_ts}"

    @property
    def at(self) -> datetime:
        seconds, _, fraction = self.ts.partition(".")
        micros = int(fraction.ljust(6, "0")) if fraction else 0
        return _EPOCH + timedelta(seconds=int(seconds), microseconds=micros)

    @property
    def is_reply(self) -> bool:
        return self.thread_ts not in ("", self.ts)

    @property
    def is_deleted(self) -> bool:
        return self.subtype == "tombstone"

    @property
    def is_notice(self) -> bool:
        return self.subtype in NOTICES

    @property
    def stands_in_channel(self) -> bool:
        broadcast = self.subtype == "thread_broadcast"
        return (broadcast or not self.is_reply) and not self.is_notice


def post_of(raw: Fields, channel: Channel) -> Post:
    """Return `raw` placed in `channel`; raises `BadMessage` where it has no place."""
    if raw.get("type", "message") != "message":
        raise BadMessage(f"Not a message but {str(raw.get('type'))[:80]!r}.")
    ts, thread_ts = text(raw.get("ts")), raw.get("thread_ts")
    if not is_ts(raw.get("ts")):
        raise BadMessage(
            f"Its ts is {str(raw.get('ts'))[:80]!r}, not text like '1683554240.000002'."
        )
    if not is_ts(thread_ts):
        thread_ts = ts if number(raw.get("reply_count")) or raw.get("replies") else ""
    subtype = text(raw.get("subtype"))
    return Post(raw, channel, ts, text(thread_ts), author_of(raw), subtype)


class Drafter:
    """Turns messages into records, with the names and places of one export."""

    def __init__(self, directory: Directory, request: Pull) -> None:
        self.directory = directory
        self._request = request
        self._names = directory.names()
        self._met: set[str] = set()

    def record(self, raw: Fields, channel: Channel) -> Record:
        """Return the record of a message; raises `BadMessage` where it is none."""
        post = post_of(raw, channel)
        said = _SILENT if post.is_deleted else flatten(raw, self._names)
        body = said.content
        if post.is_notice:
            said = _SILENT
        sha256 = digest(raw)
        nodes = [self._message(post, said)]
        if post.thread_ts:
            nodes.append(_thread(post, said))
        return Record(
            key=post.key,
            kind="message",
            body=body,
            nodes=tuple(nodes),
            edges=tuple(self._edges(post, said)),
            raw_sha256=sha256,
            permalink=self._permalink(post),
            occurred_at=post.at,
            audience=self._request.audience_or(channel.audience()),
            version=_version(post, sha256),
            warnings=_warnings(post),
        )

    def newcomers(self, record: Record) -> Iterator[Record]:
        """Yield accounts that only the blocks of a message name, each once."""
        for edge in record.edges:
            prefix, _, key = edge.target.partition(":")
            known = key in self.directory.accounts or key in self._met
            if prefix == "slack-user" and not known:
                self._met.add(key)
                yield account_record(stranger_of(key, Stranger()), self._request)

    def _message(self, post: Post, said: Said) -> NodeDraft:
        silent = post.is_deleted or post.is_notice
        return NodeDraft(
            key=post.key,
            node_type="message",
            content=said.content,
            context="" if silent else self._context(post),
            tags=said.tags,
            metadata=self._metadata(post),
            occurred_at=post.at,
        )

    def _author(self, post: Post) -> str:
        shown = text(post.raw.get("username")) if post.subtype == "bot_message" else ""
        return shown or self._names.people.get(post.author, post.author)

    def _context(self, post: Post) -> str:
        files = [str(f["name"]) for f in files_of(post.raw) if f["name"]]
        known = (self._author(post), day_in_words(post.at), post.channel.title, *files)
        return " · ".join(part for part in known if part)

    def _is_bot(self, post: Post) -> bool:
        account = self.directory.accounts.get(post.author)
        if account is not None and account.bot:
            return True
        by_app = bool(text(post.raw.get("bot_id"))) and not text(post.raw.get("user"))
        return post.subtype == "bot_message" or by_app

    def _metadata(self, post: Post) -> Fields:
        raw = post.raw
        counts = [number(r.get("count")) for r in objects(raw.get("reactions"))]
        edited = text(fields(raw.get("edited")).get("ts"))
        known: Fields = {
            "author": "" if post.is_deleted else self._author(post),
            "channel": post.channel.title,
            "ts": post.ts,
            "thread_ts": post.thread_ts,
            "subtype": post.subtype,
            "edited": edited if is_ts(edited) else "",
            "reactions": int(sum(count for count in counts if count)),
            "files": [*files_of(raw)],
            "bot": self._is_bot(post),
            "deleted": post.is_deleted,
        }
        return {name: value for name, value in known.items() if value}

    def _permalink(self, post: Post) -> str:
        host = self.directory.survey.host
        if not host or post.channel.id == post.channel.folder:
            return ""
        link = f"https://{host}/archives/{post.channel.id}/p{_digits(post.ts)}"
        within = f"?thread_ts={post.thread_ts}&cid={post.channel.id}"
        return link + within if post.is_reply else link

    def _edges(self, post: Post, said: Said) -> Iterator[EdgeDraft]:
        author = "" if post.is_deleted else post.author
        position = Decimal(post.ts)
        if author:
            yield _edge(post, post.key, "sent_by", f"slack-user:{author}")
        stands = position if post.stands_in_channel else None
        yield _edge(post, post.key, "posted_in", post.channel.key, position=stands)
        if post.thread_ts:
            thread = post.thread_key
            yield _edge(post, post.key, "in_thread", thread, position=position)
            if author:
                yield _edge(post, thread, "participant", f"slack-user:{author}")
        if post.is_reply:
            parent = f"{post.channel.key}:{post.thread_ts}"
            yield _edge(post, post.key, "replied_to", parent)
        yield from self._mentions(post, said)

    def _mentions(self, post: Post, said: Said) -> Iterator[EdgeDraft]:
        targets = {f"slack-user:{k}": n for k, n in said.people.items() if is_id(k)}
        for key, times in said.channels.items():
            if is_id(key):
                target = self.directory.room_key(key, said.labels.get(key, ""))
                targets[target] = targets.get(target, 0) + times
        for target, times in sorted(targets.items()):
            yield _edge(post, post.key, "mentions", target, weight=float(times))


def _edge(
    post: Post,
    source: str,
    relation: str,
    target: str,
    *,
    weight: float = 1.0,
    position: Decimal | None = None,
) -> EdgeDraft:
    return EdgeDraft(
        source=source,
        relation=relation,
        target=target,
        weight=weight,
        occurred_at=post.at,
        position=position,
    )


def _thread(post: Post, said: Said) -> NodeDraft:
    title = textwrap.shorten(said.content, TITLE_CHARS, placeholder="…")
    return NodeDraft(
        key=post.thread_key,
        node_type="thread",
        title=title or said.content[:TITLE_CHARS],
        precedence=-float(post.ts) - (0 if title else _WORDLESS),
    )


def files_of(raw: Fields) -> list[dict[str, JSON]]:
    """Return name and link of each file of a message; links lose their token."""
    attached = objects(raw.get("files")) + objects([raw.get("file")])
    found: list[dict[str, JSON]] = []
    for item in attached:
        name = text(item.get("name")) or text(item.get("title"))
        url = text(item.get("permalink")) or text(item.get("url_private"))
        url = url.partition("?")[0] if url.startswith("https://") else ""
        if name or url:
            found.append({"name": name, "url": url})
    return found


def _version(post: Post, sha256: str) -> int:
    """Rank what was said of one message: the later edit, the longer thread."""
    edited = fields(post.raw.get("edited")).get("ts")
    stamp = max(float(post.ts), float(str(edited)) if is_ts(edited) else 0.0)
    if post.is_deleted:
        return version(_DELETED, sha256)
    replies = min(int(max(number(post.raw.get("reply_count")) or 0, 0)), 255)
    flags = (512 if is_ts(edited) else 0) + (
        256 if post.subtype == "thread_broadcast" else 0
    )
    return version(min(stamp, _DELETED - 1), sha256, flags + replies)


def _digits(ts: str) -> str:
    seconds, _, fraction = ts.partition(".")
    return seconds + fraction.ljust(6, "0")


def _warnings(post: Post) -> tuple[str, ...]:
    found = damage(post.raw)
    stated = post.raw.get("thread_ts")
    if stated is not None and not is_ts(stated):
        found += (f"Its thread_ts {str(stated)[:80]!r} is no time; it was left out.",)
    if not post.author and not post.is_deleted:
        found += ("It does not say who wrote it.",)
    return found
