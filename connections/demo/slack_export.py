"""The chat as a workspace export: root files, and a folder of days a conversation."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path

from connections.demo.company import (
    TEAM_ID,
    Channel,
    Company,
    Person,
    at_local,
    short_hash,
)
from connections.demo.items import Post
from connections.demo.slack_markup import render

Json = dict[str, object]
BOT_ID = "B08TWPAGER"
BOT_USER = "U08TWPAGER"
STARTED = 1_577_869_200


def write_slack(folder: Path, company: Company, posts: Iterable[Post]) -> None:
    """Write the export of `posts` into `folder`."""
    export = _Export(company)
    for post in sorted(posts, key=lambda p: (p.at, p.channel, p.by, p.text)):
        export.add(post)
    for name, value in _root_files(company).items():
        _dump(folder / name, value)
    for (place, day), rows in export.days().items():
        _dump(folder / place / f"{day}.json", rows)


def _dump(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(value, ensure_ascii=False, indent=1) + "\n"
    path.write_text(text, encoding="utf-8", newline="\n")


class _Export:
    def __init__(self, company: Company) -> None:
        self._company = company
        self._taken: set[tuple[str, str]] = set()
        self._rows: dict[tuple[str, str], list[Json]] = defaultdict(list)

    def days(self) -> dict[tuple[str, str], list[Json]]:
        """Return the messages by folder and day, in the order of their time."""
        return {
            key: sorted(rows, key=lambda row: str(row["ts"]))
            for key, rows in sorted(self._rows.items())
        }

    def add(self, post: Post) -> None:
        """Put a thread into the day files of its messages."""
        channel = self._company.channels[post.channel]
        root = self._message(channel, post)
        if post.replies:
            answers = [self._message(channel, reply) for reply in post.replies]
            _tie(root, answers)
            for reply, answer in zip(post.replies, answers, strict=True):
                if reply.broadcast:
                    answer |= {"subtype": "thread_broadcast", "root": dict(root)}
                self._put(channel, reply.at, answer)
        self._put(channel, post.at, root)

    def _put(self, channel: Channel, at: datetime, row: Json) -> None:
        place = channel.id if channel.kind == "dm" else channel.name
        self._rows[place, f"{at:%Y-%m-%d}"].append(row)

    def _ts(self, channel: Channel, post: Post) -> str:
        seed = f"{channel.id}|{post.at}|{post.by}"
        digest = int(hashlib.sha256(seed.encode()).hexdigest()[:12], 16)
        second = int(post.at.timestamp()) + digest % 53
        ts = f"{second}.{digest // 53 % 1_000_000:06d}"
        while (channel.id, ts) in self._taken:
            second, ts = second + 1, f"{second + 1}.{ts[-6:]}"
        self._taken.add((channel.id, ts))
        return ts

    def _message(self, channel: Channel, post: Post) -> Json:
        ts = self._ts(channel, post)
        if post.by not in self._company.people:
            return _alert(ts, post)
        if post.deleted:
            return {
                "type": "message", "subtype": "tombstone", "user": "USLACKBOT",
                "text": "This message was deleted.", "hidden": True, "ts": ts,
            }  # fmt: skip
        row = self._plain(channel, post, ts)
        if post.reactions:
            row["reactions"] = [
                self._reaction(name, people) for name, people in post.reactions.items()
            ]
        if post.edited:
            later = f"{int(ts[:10]) + 95}.000000"
            row["edited"] = {"user": row["user"], "ts": later}
        if post.file:
            row |= {
                "files": [_file(post, ts)],
                "upload": False,
                "display_as_bot": False,
            }
        return row

    def _plain(self, channel: Channel, post: Post, ts: str) -> Json:
        person = self._company.people[post.by]
        text, blocks = render(self._company, post.text, short_hash(f"{ts}/block", 5))
        row: Json = {
            "user": person.slack_id,
            "type": "message",
            "ts": ts,
            "client_msg_id": _uuid(f"{channel.id}/{ts}"),
            "text": text,
            "team": TEAM_ID,
            "user_team": TEAM_ID,
            "source_team": TEAM_ID,
            "user_profile": _short_profile(person, post.at),
        }
        if int(ts[-2:]) % 7:
            row["blocks"] = blocks
        return row

    def _reaction(self, name: str, handles: Sequence[str]) -> Json:
        users = [self._company.people[handle].slack_id for handle in handles]
        return {"name": name, "users": users, "count": len(users)}


def _tie(root: Json, answers: Sequence[Json]) -> None:
    """Make `answers` replies of `root`."""
    users = list(dict.fromkeys(answer["user"] for answer in answers))
    root |= {
        "thread_ts": root["ts"],
        "reply_count": len(answers),
        "reply_users_count": len(users),
        "latest_reply": answers[-1]["ts"],
        "reply_users": users,
        "replies": [{"user": a["user"], "ts": a["ts"]} for a in answers],
        "is_locked": False,
        "subscribed": False,
    }
    for answer in answers:
        answer |= {"thread_ts": root["ts"], "parent_user_id": root["user"]}


def _alert(ts: str, post: Post) -> Json:
    card = {
        "color": "d04437", "title": "Check failed", "text": post.text,
        "fallback": f"Check failed: {post.text}", "id": 1,
    }  # fmt: skip
    return {
        "type": "message", "subtype": "bot_message", "ts": ts, "text": post.text,
        "username": "pagerwren", "bot_id": BOT_ID, "user": BOT_USER,
        "attachments": [card],
    }  # fmt: skip


def _file(post: Post, ts: str) -> Json:
    number = "F0" + short_hash(ts, 9)
    link = f"https://files.tarnwick.example/{TEAM_ID}-{number}/{post.file['name']}"
    return {
        "id": number, "created": int(ts[:10]), "timestamp": int(ts[:10]),
        "name": post.file["name"], "title": post.file["title"],
        "mimetype": post.file["mimetype"], "filetype": "png", "size": 48_213,
        "mode": "hosted", "is_external": False, "url_private": link,
        "url_private_download": link + "?download=1", "permalink": link,
    }  # fmt: skip


def _uuid(seed: str) -> str:
    digits = hashlib.sha256(seed.encode()).hexdigest()
    return "-".join(
        (digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:32])
    )


def _short_profile(person: Person, at: datetime) -> Json:
    name = person.name_at(at)
    return {
        "real_name": name, "first_name": name.split()[0], "name": person.handle,
        "display_name": person.handle, "team": TEAM_ID,
        "is_restricted": False, "is_ultra_restricted": False,
    }  # fmt: skip


def _root_files(company: Company) -> dict[str, list[Json]]:
    kinds: dict[str, list[Channel]] = defaultdict(list)
    for channel in company.channels.values():
        kinds[channel.kind].append(channel)
    return {
        "users.json": [_user(p) for p in company.people.values() if p.in_slack]
        + [_bot()],
        "channels.json": [_channel(company, c) for c in kinds["public"]],
        "groups.json": [_channel(company, c) for c in kinds["private"]],
        "dms.json": [_direct(company, c) for c in kinds["dm"]],
        "mpims.json": [],
        "integration_logs.json": [],
    }


def _user(person: Person) -> Json:
    names = {
        "real_name": person.name, "real_name_normalized": person.name,
        "display_name": person.handle, "display_name_normalized": person.handle,
    }  # fmt: skip
    return {
        "id": person.slack_id, "team_id": TEAM_ID, "name": person.handle,
        "deleted": False, "color": "4bbe2e", "real_name": person.name,
        "tz": "Europe/Dublin", "tz_label": "Greenwich Mean Time", "tz_offset": 0,
        "profile": {"title": person.title, "phone": "", "email": person.email,
                    "team": TEAM_ID, **names},
        "is_admin": person.handle == "jonas", "is_bot": False,
        "is_restricted": False, "is_ultra_restricted": False, "updated": STARTED,
    }  # fmt: skip


def _bot() -> Json:
    return {
        "id": BOT_USER, "team_id": TEAM_ID, "name": "pagerwren", "deleted": False,
        "real_name": "pagerwren", "is_bot": True, "updated": STARTED,
        "profile": {"real_name": "pagerwren", "display_name": "pagerwren",
                    "bot_id": BOT_ID, "api_app_id": "A08TWPAGER", "team": TEAM_ID},
    }  # fmt: skip


def _members(company: Company, channel: Channel) -> list[str]:
    return [company.people[handle].slack_id for handle in channel.members]


def _channel(company: Company, channel: Channel) -> Json:
    creator = company.people["rosalind"].slack_id
    said = {"creator": creator, "last_set": STARTED}
    return {
        "id": channel.id, "name": channel.name, "created": STARTED,
        "creator": creator, "is_archived": False,
        "is_general": channel.name == "general",
        "members": _members(company, channel),
        "topic": {"value": channel.topic, **said},
        "purpose": {"value": channel.topic, **said},
    }  # fmt: skip


def _direct(company: Company, channel: Channel) -> Json:
    created = int(at_local("2025-11-20 09:00").timestamp())
    members = _members(company, channel)
    return {"id": channel.id, "created": created, "members": members}
