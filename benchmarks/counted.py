"""What an archive holds, counted with the standard library alone."""

from __future__ import annotations

import json
import mailbox
import re
import zipfile
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

Counted: TypeAlias = dict[str, object]

_ID = re.compile(r"<[^<>]+>")
_DAY = re.compile(r"\d{4}-\d\d-\d\d\.json")


def count_files(path: Path) -> Counted:
    return {"items": f"{sum(p.is_file() for p in path.rglob('*'))} files on the disk"}


def count_mbox(path: Path) -> Counted:
    """Count mails, and as threads what In-Reply-To and References join.

    A mail has its parent there where any id in these headers is one in the archive:
    the nearest of them.
    """
    mails = list(mailbox.mbox(path, create=False))
    own = ["".join(str(mail["Message-ID"]).split()) for mail in mails]
    named = [
        ["".join(found.split()) for found in _ID.findall(_answers(mail))]
        for mail in mails
    ]
    present = set(own)
    parents = sum(
        any(each in present and each != mine for each in others)
        for mine, others in zip(own, named, strict=True)
    )
    return {
        "items": f"{len(mails)} mails",
        "In-Reply-To present": sum("In-Reply-To" in mail for mail in mails),
        "replies whose parent is there": parents,
        "threads of two or more": _threads(own, named),
    }


def _answers(mail: mailbox.mboxMessage) -> str:
    return f"{mail['In-Reply-To'] or ''} {mail['References'] or ''}"


def _threads(own: Iterable[str], named: Iterable[Iterable[str]]) -> int:
    """Return how many components of two or more mails the ids make."""
    above: dict[str, str] = {}

    def root(key: str) -> str:
        while (up := above.setdefault(key, key)) != key:
            key = up
        return key

    mails = list(own)
    for mine, others in zip(mails, named, strict=True):
        for other in others:
            above[root(mine)] = root(other)
    sizes: dict[str, int] = defaultdict(int)
    for mine in mails:
        sizes[root(mine)] += 1
    return sum(size > 1 for size in sizes.values())


def count_slack(path: Path) -> Counted:
    """Count the messages of an export's day files, replies and threads by thread_ts."""
    folders: dict[str, set[str]] = defaultdict(set)
    replies: list[tuple[str, str]] = []
    messages = 0
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            folder, _, file = name.rpartition("/")
            if not folder or not _DAY.fullmatch(file):
                continue
            for message in json.loads(archive.read(name)):
                messages += 1
                ts, thread = message.get("ts"), message.get("thread_ts")
                folders[folder].add(ts)
                if thread and thread != ts:
                    replies.append((folder, thread))
    present = sum(thread in folders[folder] for folder, thread in replies)
    return {
        "items": f"{messages} messages in {len(folders)} folders",
        "replies": len(replies),
        "replies whose parent is there": present,
        "threads with replies": len(set(replies)),
    }
