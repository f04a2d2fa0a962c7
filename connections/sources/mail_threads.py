"""Which thread a mail belongs to, as far as the mail itself can tell."""

from __future__ import annotations

import re
from dataclasses import dataclass

from connections.records import Alias, clean_key

MAX_REFERENCES = 1_000
MAX_EARLIER = 50

_REPLY_PREFIX = re.compile(
    r"^\s*(?:re|aw|sv|vs|ref|rif|antw|odp|ynt|回复|答复|fwd?|wg|tr|rv|enc|doorst)"
    r"(?:\[\d{1,3}\]|\(\d{1,3}\)|\*\d{1,3})?\s*[:\uff1a]\s*",
    re.IGNORECASE,
)
_LIST_PREFIX = re.compile(r"^\s*\[[^\[\]]{1,60}\]\s*(?=\S)")
_ANSWER_PREFIX = re.compile(
    r"\s*(?:\[[^\[\]]{1,60}\]\s*)?(?:re|aw|sv|vs|antw|odp|ynt|回复|答复)"
    r"(?:\[\d{1,3}\])?\s*[:\uff1a]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a mail says it belongs: its thread, its parent, and what it heard of both.

    The thread's key is that of the oldest mail it knows of; `earlier_keys` are the
    other mails it names, nearest first, for where its parent is missing; `aliases`
    say which other threads are the same, so that the graph finds one root whatever
    mails are missing.
    """

    thread_key: str
    parent_key: str = ""
    earlier_keys: tuple[str, ...] = ()
    aliases: tuple[Alias, ...] = ()
    omitted: int = 0


def place(
    own: str, references: tuple[str, ...], in_reply_to: tuple[str, ...]
) -> Placement:
    """Return the placement of the mail with the id `own`; it is never its own parent.

    Of very many references the oldest and the newest are kept.
    """
    before = tuple(each for each in references if each != own)
    answered = tuple(each for each in in_reply_to if each != own)
    kept = before
    if len(before) > MAX_REFERENCES:
        kept = (before[0], *before[1 - MAX_REFERENCES :])
    known = dict.fromkeys((*kept, *answered[:MAX_REFERENCES]))
    thread = thread_key(next(iter(known), own))
    heard = {key: False for key in map(thread_key, known) if key != thread}
    own_key = thread_key(own)
    if own_key != thread:
        heard = {own_key: True} | heard
    parent = _parent(before, answered)
    return Placement(
        thread_key=thread,
        parent_key=mail_key(parent) if parent else "",
        earlier_keys=_earlier(parent, before, answered),
        aliases=tuple(
            Alias(key=key, target=thread, own=own) for key, own in heard.items()
        ),
        omitted=len(before) - len(kept),
    )


def _parent(references: tuple[str, ...], answered: tuple[str, ...]) -> str:
    """Return the id of the mail it answers: where it names two, the nearer."""
    if references and (not answered or references[-1] in answered):
        return references[-1]
    return answered[0] if answered else ""


def _earlier(
    parent: str, references: tuple[str, ...], answered: tuple[str, ...]
) -> tuple[str, ...]:
    named = dict.fromkeys((*reversed(references), *answered))
    return tuple(mail_key(each) for each in named if each != parent)[:MAX_EARLIER]


def thread_key(message_id: str) -> str:
    """Return the key of the thread that begins with that mail."""
    return clean_key(f"email-thread:{message_id}")


def mail_key(message_id: str, suffix: str = "") -> str:
    """Return the key of a mail, or of a part of it ("#attachment-0")."""
    return clean_key(f"email:{message_id}{suffix}")


def thread_title(subject: str) -> str:
    """Return a subject without its "Re:", "Fwd:" and "[list]"."""
    previous = ""
    while subject != previous:
        previous = subject
        subject = _LIST_PREFIX.sub("", _REPLY_PREFIX.sub("", subject, 1), 1)
    return subject.strip()


def is_answer(subject: str) -> bool:
    """Return whether a subject says that the mail answers another."""
    return bool(_ANSWER_PREFIX.match(subject))
