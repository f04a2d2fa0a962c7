"""A Slack export as it lies on disk: its lists, its conversations, its day files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from connections.records import JSON, Failure
from connections.sources.archive import (
    Archive,
    Entry,
    Limits,
    UnreadableEntry,
    open_archive,
)
from connections.sources.base import SourceError
from connections.sources.json_input import (
    BadJSON,
    Fields,
    canonical,
    fields,
    iter_array,
    objects,
    text,
)

USER_LISTS = ("users.json", "org_users.json")
# From open to closed: where two lists name one conversation, the later decides.
CHANNEL_LISTS = ("channels.json", "groups.json", "mpims.json", "dms.json")
_LISTS = frozenset((*USER_LISTS, *CHANNEL_LISTS, "canvases.json"))
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\.json")
# Lists beside the day files that hold no messages.
_COMPANIONS = {"canvas_in_the_conversation.json", "canvases.json", "lists.json"}
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_TS = re.compile(r"[0-9]{1,10}(\.[0-9]{1,6})?")
_MENTION = re.compile(r"<@([UW][A-Z0-9]+)(?:\|([^<>]*))?>")
_FACTS = {"channel_topic": "topic", "channel_purpose": "purpose"}
SLACKBOT = "USLACKBOT"


def is_id(value: str) -> bool:
    """Say whether `value` can be an id of Slack's: it goes into keys as it is."""
    return bool(_ID.fullmatch(value))


def is_ts(value: JSON) -> bool:
    """Say whether `value` is a time as Slack writes it: digits, a dot, six digits."""
    return isinstance(value, str) and bool(_TS.fullmatch(value)) and _in_range(value)


def _in_range(ts: str) -> bool:
    return int(ts.partition(".")[0]) < 1 << 32


def author_of(message: Fields) -> str:
    """Return the id of who wrote a message, a bot's where no user did, else ""."""
    comment = fields(message.get("comment"))
    found = (message.get("user"), comment.get("user"), message.get("bot_id"))
    return next((key for value in found if is_id(key := text(value))), "")


@dataclass(slots=True)
class Stranger:
    """What messages tell of an author whom the user list does not know."""

    profile: Fields = field(default_factory=dict)
    bot: bool = False
    _rank: tuple[int, float, bytes] = (0, 0.0, b"")

    @property
    def known_at(self) -> float:
        """Return when the profile was seen, in seconds; 0 without one."""
        return self._rank[1] if self.profile else 0.0

    def learn(self, profile: Fields, ts: str, *, hearsay: bool = False) -> None:
        """Keep the newest profile; what a mention calls somebody is second best."""
        profile = {key: value for key, value in profile.items() if value}
        level = 0 if not profile else 1 if hearsay else 2
        rank = (level, float(ts), canonical(profile))
        if rank > self._rank:
            self.profile, self._rank = profile, rank


@dataclass(slots=True)
class Survey:
    """What is only known once all messages have been seen; it grows with people."""

    strangers: dict[str, Stranger] = field(default_factory=dict)
    writers: dict[str, set[str]] = field(default_factory=dict)
    facts: dict[str, dict[str, tuple[str, str]]] = field(default_factory=dict)
    hosts: Counter[str] = field(default_factory=Counter)

    @property
    def host(self) -> str:
        """Return the workspace's host, as most links to its own files have it."""
        best = sorted(self.hosts.items(), key=lambda item: (-item[1], item[0]))
        return best[0][0] if best else ""


class Export:
    """An open export. Reading it again reads the files again: nothing is kept."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self.root = _root(archive)
        self._lists: dict[str, list[Entry]] = {}
        self._days: dict[str, list[Entry]] = {}
        self.odd: list[Failure] = []
        for entry in archive.entries:
            self._place(entry)
        if not self._lists and not self._days:
            raise _no_export(archive)

    @property
    def folders(self) -> list[str]:
        return sorted(self._days)

    def _place(self, entry: Entry) -> None:
        if not entry.name.startswith(self.root):
            return
        parts = entry.name[len(self.root) :].split("/")
        if len(parts) == 1 and parts[0] in _LISTS:
            self._lists.setdefault(parts[0], []).append(entry)
        elif len(parts) == 2 and _DAY.fullmatch(parts[1]):
            self._days.setdefault(parts[0], []).append(entry)
        elif len(parts) == 2 and _is_strange(parts[1]):
            self.odd.append(Failure(entry.name, "Not a day file (DATE.json)."))

    def items(self, name: str) -> Iterator[Fields | Failure]:
        """Yield the objects of a list at the root; none where there is no list."""
        for entry in self._lists.get(name, ()):
            for _, item in self._objects(entry):
                yield item

    def has_items(self, name: str) -> bool:
        return any(isinstance(item, dict) for item in self.items(name))

    def messages(self, folder: str) -> Iterator[tuple[str, Fields | Failure]]:
        """Yield where each item of a conversation lies, and the item, by day."""
        for entry in self._days[folder]:
            yield from self._objects(entry)

    def _objects(self, entry: Entry) -> Iterator[tuple[str, Fields | Failure]]:
        place = -1
        try:
            with self.archive.open(entry) as stream:
                for place, item in enumerate(iter_array(stream)):
                    where = f"{entry.name}[{place}]"
                    if isinstance(item, dict):
                        yield where, item
                    elif item != "":  # Slack writes [""] for an empty list.
                        said = f"Not an object but {type(item).__name__}."
                        yield where, Failure(where, said)
        except (UnreadableEntry, BadJSON) as error:
            rest = f"{entry.name}[{place + 1}:]" if place >= 0 else entry.name
            yield rest, Failure(rest, f"Not read: {error}")

    def survey(self, known: set[str], unlisted: set[str]) -> Survey:
        """Read all messages once for what they say about people and places."""
        found = Survey()
        for canvas in self.items("canvases.json"):
            if isinstance(canvas, dict):
                _count_host(canvas, found, 1000)
        for folder in self.folders:
            for _, item in self.messages(folder):
                if isinstance(item, dict) and is_ts(item.get("ts")):
                    _look(item, found, known)
                    if folder in unlisted:
                        _look_at_unlisted(item, folder, found)
        return found


def _is_strange(name: str) -> bool:
    return name.endswith(".json") and name not in _COMPANIONS


@contextmanager
def open_export(location: Path, limits: Limits | None = None) -> Iterator[Export]:
    """Open an export zip or folder; raises `SourceError` where there is none."""
    with open_archive(location, limits) as archive:
        yield Export(archive)


def _root(archive: Archive) -> str:
    """Return "" or "FOLDER/": where the lists lie, else where the day files do."""
    wanted = {*USER_LISTS, *CHANNEL_LISTS}
    for lists in (True, False):
        roots = set()
        for entry in archive.entries:
            parts = entry.parts
            named = parts[-1] in wanted if lists else bool(_DAY.fullmatch(parts[-1]))
            above = parts[:-1] if lists else parts[:-2]
            if named and len(above) <= 1 and len(parts) > (0 if lists else 1):
                roots.add("".join(f"{part}/" for part in above))
        if "" in roots or len(roots) == 1:
            return "" if "" in roots else roots.pop()
        if roots:
            listed = ", ".join(sorted(roots))
            raise SourceError(
                f"{archive.label} holds {len(roots)} exports ({listed}); import them "
                "one by one."
            )
    raise _no_export(archive)


def _no_export(archive: Archive) -> SourceError:
    said = f" ({archive.refused[0].error})" if archive.refused else ""
    return SourceError(
        f"{archive.label} is no Slack export{said}: there are no channels.json or "
        "users.json and no folders with DATE.json files in it. Give the zip as Slack "
        "made it, or the folder it was unpacked to."
    )


def _look(message: Fields, found: Survey, known: set[str]) -> None:
    ts, author = text(message.get("ts")), author_of(message)
    if author and author not in known:
        bot = not text(message.get("user")) and author == text(message.get("bot_id"))
        stranger = found.strangers.setdefault(author, Stranger())
        stranger.learn(_profile(message, bot=bot), ts)
        stranger.bot = stranger.bot or bot or author == SLACKBOT
    for mentioned, label in _MENTION.findall(text(message.get("text"))):
        if mentioned not in known:
            stranger = found.strangers.setdefault(mentioned, Stranger())
            stranger.learn({"name": label}, ts, hearsay=True)
    attached = [*objects(message.get("files")), fields(message.get("file"))]
    for shared in attached:
        if not shared.get("is_external"):
            _count_host(shared, found, 1)


def _profile(message: Fields, *, bot: bool) -> Fields:
    if not bot:
        return fields(message.get("user_profile"))
    named = fields(message.get("bot_profile")).get("name")
    return {"real_name": text(message.get("username")) or text(named)}


def _look_at_unlisted(message: Fields, folder: str, found: Survey) -> None:
    author = author_of(message)
    if author and author != SLACKBOT and text(message.get("user")):
        found.writers.setdefault(folder, set()).add(author)
    fact = _FACTS.get(text(message.get("subtype")), "")
    if fact:
        said = (text(message.get("ts")), text(message.get(fact)))
        facts = found.facts.setdefault(folder, {})
        facts[fact] = max(facts.get(fact, said), said)


def _count_host(shared: Fields, found: Survey, weight: int) -> None:
    try:
        parts = urlsplit(text(shared.get("permalink")))
    except ValueError:
        return
    host = (parts.netloc or "").lower()
    if parts.scheme == "https" and re.fullmatch(r"[a-z0-9.-]+\.slack\.com", host):
        found.hosts[host] += weight
