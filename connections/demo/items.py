"""What the sources are written from: posts, mails and meetings as plain values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from connections.demo.company import TEXT, at_local, listed, read_rows


@dataclass(frozen=True, slots=True)
class Post:
    """A chat message; those of one thread follow their root in `replies`."""

    channel: str
    at: datetime
    by: str
    text: str
    replies: tuple[Post, ...] = ()
    reactions: Mapping[str, list[str]] = field(default_factory=dict)
    edited: bool = False
    deleted: bool = False
    broadcast: bool = False
    file: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail; `to` and `cc` are handles, customers' names or whole addresses."""

    id: str
    at: datetime
    sender: str
    to: tuple[str, ...]
    subject: str
    body: str
    cc: tuple[str, ...] = ()
    parent: str = ""
    kind: str = ""
    html: bool = False
    attachment: str = ""
    invite: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Meeting:
    """A transcribed meeting; `lines` are turns of (handle or name, words)."""

    slug: str
    title: str
    at: datetime
    organizer: str
    attendees: tuple[str, ...]
    lines: tuple[tuple[str, str], ...]
    overview: str = ""
    keywords: tuple[str, ...] = ()
    actions: Mapping[str, list[str]] = field(default_factory=dict)


def _stories(folder: str) -> Iterator[dict]:
    for path in sorted((TEXT / folder).glob("s[tp]*.yaml")):
        yield from read_rows(f"{folder}/{path.name}")


def story_posts() -> list[Post]:
    """Return the hand-written threads, in the order of their files."""
    posts = []
    for row in _stories("slack"):
        post = _post(row)
        posts.append(post)
        if other := row.get("crosspost"):
            copy = {**row, "in": other, "re": []}
            later = post.at + timedelta(minutes=2)
            posts.append(_post({**copy, "at": f"{later:%Y-%m-%d %H:%M}"}))
    return posts


def _post(row: dict) -> Post:
    start = at_local(row["at"])
    replies = []
    for minutes, who, words, *rest in row.get("re", []):
        marks = rest[0] if rest else {}
        at = start + timedelta(minutes=minutes)
        replies.append(Post(row["in"], at, who, words, **marks))
    return Post(
        channel=row["in"],
        at=start,
        by=row["by"],
        text=row.get("say", ""),
        replies=tuple(replies),
        reactions=row.get("react", {}),
        edited=bool(row.get("edited")),
        deleted=bool(row.get("deleted")),
        file=row.get("file", {}),
    )


def story_mails() -> list[Mail]:
    """Return the hand-written mails, each after the one that it answers."""
    mails = []
    for thread in _stories("mail"):
        parent = ""
        for row in thread["mails"]:
            mails.append(_mail(row, thread["subject"], parent))
            parent = row["id"]
    return mails


def _mail(row: dict, subject: str, parent: str) -> Mail:
    return Mail(
        id=row["id"],
        at=at_local(row["at"]),
        sender=row["from"],
        to=tuple(listed(row["to"])),
        cc=tuple(listed(row.get("cc", []))),
        subject=f"Re: {subject}" if parent else subject,
        body=row["body"].strip(),
        parent=parent,
        kind=row.get("kind", ""),
        html=bool(row.get("html")),
        attachment=row.get("attach", ""),
        invite=row.get("invite", {}),
    )


def story_meetings(name: str) -> list[Meeting]:
    """Return the hand-written meetings of `text/meetings/{name}`."""
    return [
        Meeting(
            slug=row["slug"],
            title=row["title"],
            at=at_local(row["at"]),
            organizer=row["organizer"],
            attendees=tuple(row.get("attendees", [])),
            lines=tuple((who, words) for who, words in row["lines"]),
            overview=row.get("overview", ""),
            keywords=tuple(row.get("keywords", [])),
            actions=row.get("actions", {}),
        )
        for row in read_rows(f"meetings/{name}")
    ]
