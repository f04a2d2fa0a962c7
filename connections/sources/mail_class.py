"""What a mail's headers say about its kind: automatic, bulk, of a discussion list."""

from __future__ import annotations

import re

from connections.sources.mail_headers import Mailbox, header_text, mailboxes
from connections.sources.mail_parse import ParsedMail

_MASS = ("bulk", "junk")
_NO_REPLY = re.compile(
    r"(?:do[._-]?)?(?:not?)[._-]?reply\b|mailer-daemon@|postmaster@|bounces?[@+-]", re.I
)
# Who hands on the mails of a list, as Mailman, majordomo and LISTSERV name it.
_LIST_SENDER = re.compile(
    r"^owner-|-(?:owner|bounces?|admin|request|errors)(?:[+@]|$)", re.IGNORECASE
)
_MAILTO = re.compile(r"mailto:([^>?\s]+)", re.IGNORECASE)


def list_addresses(mail: ParsedMail) -> frozenset[str]:
    """Return the addresses to post to the mail's list: places, not people."""
    posts = " ".join(mail.all_raw("list-post"))
    found = {address.lower() for address in _MAILTO.findall(header_text(posts))}
    found |= {who.address for who in mail.people("x-beenthere")}
    return frozenset(found)


def list_id(mail: ParsedMail) -> str:
    """Return the mail's List-Id without its description, "" where it is of no list."""
    said = mail.text("list-id")
    inner = re.search(r"<([^<>]*)>", said)
    return (inner[1] if inner else said).strip()


def is_discussion(mail: ParsedMail) -> bool:
    """Return whether the mail came over a list that its readers may write to.

    Such a list says how to post to it (List-Post, RFC 2369), or names itself as
    Mailman, ezmlm or majordomo do; lists send with "Precedence: bulk" too.
    """
    if list_addresses(mail) or mail.raw("mailing-list") or mail.raw("x-mailing-list"):
        return True
    senders = (*mailboxes(mail.raw("sender")), *mailboxes(mail.raw("x-sender")))
    return any(_LIST_SENDER.search(who.address) for who in senders)


def is_automatic(mail: ParsedMail, authors: tuple[Mailbox, ...]) -> bool:
    """Return whether a machine wrote the mail."""
    submitted = mail.text("auto-submitted").lower()
    precedence = _precedence(mail)
    return bool(
        (submitted and not submitted.startswith("no"))
        or precedence == "auto_reply"
        or (precedence in _MASS and not is_discussion(mail))
        or mail.raw("x-auto-response-suppress")
        or mail.raw("x-autoreply")
        or mail.raw("x-autorespond")
        or any(_NO_REPLY.match(who.address) for who in authors)
    )


def is_bulk(mail: ParsedMail) -> bool:
    """Return whether the mail went to many who can only unsubscribe from it."""
    if is_discussion(mail):
        return False
    return bool(mail.raw("list-unsubscribe")) or _precedence(mail) in _MASS


def _precedence(mail: ParsedMail) -> str:
    return mail.text("precedence").lower()
