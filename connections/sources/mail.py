"""The mail connector: one record a mail, its thread, people, attachments, invites."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from typing import ClassVar

from connections.records import (
    JSON,
    PUBLIC,
    AudienceDraft,
    EdgeDraft,
    Failure,
    NodeDraft,
    Record,
)
from connections.sources.base import Pull, connectors
from connections.sources.documents import (
    Unreadable,
    language_name,
    read_document,
    readable,
)
from connections.sources.mail_calendar import read_invites
from connections.sources.mail_class import (
    is_automatic,
    is_bulk,
    list_addresses,
    list_id,
)
from connections.sources.mail_files import RawMail, read_mails
from connections.sources.mail_headers import Mailbox
from connections.sources.mail_parse import (
    Attachment,
    NotMail,
    ParsedMail,
    parse_mail,
)
from connections.sources.mail_people import address_node, person_key
from connections.sources.mail_reply import Words, new_words
from connections.sources.mail_threads import (
    Placement,
    is_answer,
    mail_key,
    place,
    thread_title,
)
from connections.sources.text import day_in_words, find_tags, storable

MAX_PARTICIPANTS = 200
MAX_SHOWN_RECIPIENTS = 3
MAX_ATTACHMENTS_READ = 50
MAX_ATTACHMENT_BYTES = 25 * 1024 * 1024
MAX_ATTACHMENT_TEXT = 2_000_000
NO_SUBJECT = "(no subject)"

# Behind every mail of known date, for a thread takes its name from its earliest.
_DATE_UNKNOWN = -1e12


@connectors.register("mail")
class MailConnector:
    """Reads mbox files, Maildirs, single mails and folders of any of these."""

    kind: ClassVar[str] = "mail"
    label: ClassVar[str] = "Mail"
    source_kind: ClassVar[str] = "mail"
    complete: ClassVar[bool] = False
    personal: ClassVar[bool] = True

    def pull(self, request: Pull) -> Iterator[Record | Failure]:
        """Yield a record for each mail and each invitation in it, in the files' order.

        An unreadable mail is yielded as a `Failure`; raises `SourceError` where there
        is nothing to read.
        """
        audience = request.audience_or(PUBLIC)
        for found in read_mails(request.location):
            if isinstance(found, Failure):
                yield found
            else:
                yield from read_mail(found, audience)


def read_mail(raw: RawMail, audience: AudienceDraft) -> Iterator[Record | Failure]:
    """Yield the record of one mail, then those of its invitations."""
    try:
        mail = parse_mail(raw.data)
    except NotMail as error:
        yield Failure(raw.item, str(error))
        return
    invites: list[Record] = []
    warnings: list[str] = []
    for data in mail.calendars:
        for found in read_invites(data, raw.item, audience):
            if isinstance(found, Failure):
                warnings.append(found.error)
            else:
                invites.append(found)
    yield _Draft(mail, raw).record(audience, warnings)
    yield from invites


@dataclass(frozen=True)
class _Draft:
    """One mail on its way to being a record."""

    mail: ParsedMail
    raw: RawMail

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256(self.raw.data).hexdigest()

    @cached_property
    def id(self) -> str:
        return self.mail.message_id or f"sha256-{self.digest[:32]}"

    @cached_property
    def key(self) -> str:
        return mail_key(self.id)

    @cached_property
    def sent_at(self) -> datetime | None:
        return self.mail.sent_at(self.raw.envelope)

    @cached_property
    def authors(self) -> tuple[Mailbox, ...]:
        """Who wrote it; a list that puts its own address there names them elsewhere."""
        written = self.mail.people("from", masked=True)
        lists = list_addresses(self.mail)
        if written and all(who.address in lists for who in written):
            answer = (
                *self.mail.people("x-original-from"),
                *self.mail.people("reply-to"),
            )
            written = tuple(w for w in answer if w.address not in lists) or written
        return _each_once(written or self.mail.people("sender"))

    @cached_property
    def recipients(self) -> tuple[Mailbox, ...]:
        return _each_once((*self.mail.people("to"), *self.mail.people("cc")))

    @cached_property
    def placement(self) -> Placement:
        return place(self.id, self.mail.references, self.mail.in_reply_to)

    @cached_property
    def words(self) -> Words:
        mail = self.mail
        answers = bool(mail.references or mail.in_reply_to or mail.raw("thread-index"))
        return new_words(
            mail.body,
            answers=answers or is_answer(mail.subject),
            forwards=mail.forwards,
        )

    @cached_property
    def participants(self) -> tuple[Mailbox, ...]:
        """Authors and recipients, each address once, without the lists written to."""
        lists = list_addresses(self.mail)
        everyone = _each_once((*self.authors, *self.recipients))
        return tuple(who for who in everyone if who.address not in lists)

    def record(self, audience: AudienceDraft, warnings: list[str]) -> Record:
        attached, edges, unread = _read_attachments(self)
        shown = self.participants[:MAX_PARTICIPANTS]
        people = {
            who.address: who for who in (*shown, *self.authors[:MAX_PARTICIPANTS])
        }
        return Record(
            key=self.key,
            kind="mail",
            body=self.mail.body,
            nodes=(
                self.mail_node(),
                self.thread_node(),
                *map(address_node, people.values()),
                *attached,
            ),
            edges=(*self.mail_edges(), *self.thread_edges(shown), *edges),
            aliases=self.placement.aliases,
            raw_sha256=self.digest,
            occurred_at=self.sent_at,
            audience=audience,
            # Of different mails with one Message-ID the same is kept in any order.
            version=int(self.digest[:14], 16),
            warnings=(*self.mail.warnings, *warnings, *unread),
        )

    def mail_node(self) -> NodeDraft:
        language = self.mail.text("content-language").partition(",")[0]
        return NodeDraft(
            key=self.key,
            node_type="email",
            title=self.mail.subject or NO_SUBJECT,
            content=self.words.text,
            context=self.context(),
            language=language_name(language),
            tags=find_tags(self.words.text),
            metadata=self.metadata(),
            occurred_at=self.sent_at,
        )

    def thread_node(self) -> NodeDraft:
        first = -self.sent_at.timestamp() if self.sent_at else _DATE_UNKNOWN
        return NodeDraft(
            key=self.placement.thread_key,
            node_type="thread",
            title=thread_title(self.mail.subject) or NO_SUBJECT,
            occurred_at=self.sent_at,
            precedence=first,
        )

    def context(self) -> str:
        to = ", ".join(who.label for who in self.recipients[:MAX_SHOWN_RECIPIENTS])
        more = len(self.recipients) - MAX_SHOWN_RECIPIENTS
        if more > 0:
            to += f" and {more} more"
        return " · ".join(filter(None, (self.byline(), f"to {to}" if to else "")))

    def byline(self) -> str:
        author = self.authors[0].shown if self.authors else ""
        day = day_in_words(self.sent_at) if self.sent_at else ""
        return " · ".join(filter(None, (author, day)))

    def metadata(self) -> Mapping[str, JSON]:
        mail = self.mail
        found: dict[str, JSON] = {
            "from": [who.shown for who in self.authors[:MAX_PARTICIPANTS]],
            "to": [who.shown for who in mail.people("to")[:MAX_PARTICIPANTS]],
            "cc": [who.shown for who in mail.people("cc")[:MAX_PARTICIPANTS]],
            "message_id": mail.message_id,
            "list_id": list_id(mail),
            "has_quoted": self.words.quoted,
            "signature": self.words.signed,
            "automatic": is_automatic(mail, self.authors),
            "bulk": is_bulk(mail),
            "labels": _labels(mail),
            "attachments": [
                {"name": each.name, "size": len(each.data), "type": each.media_type}
                for each in mail.attachments
            ],
        }
        left_out = {
            "participants_omitted": len(self.participants) - MAX_PARTICIPANTS,
            "references_omitted": self.placement.omitted,
        }
        return found | {name: count for name, count in left_out.items() if count > 0}

    def mail_edges(self) -> Iterator[EdgeDraft]:
        for who in self.authors[:MAX_PARTICIPANTS]:
            yield self.edge(self.key, "sent_by", person_key(who))
        if self.placement.parent_key:
            answered = self.edge(self.key, "replied_to", self.placement.parent_key)
            yield replace(answered, otherwise=self.placement.earlier_keys)

    def thread_edges(self, participants: Iterable[Mailbox]) -> Iterator[EdgeDraft]:
        thread = self.placement.thread_key
        seconds = int(self.sent_at.timestamp()) if self.sent_at else 0
        yield self.edge(self.key, "in_thread", thread, Decimal(seconds))
        for who in participants:
            yield self.edge(thread, "participant", person_key(who))

    def edge(
        self, source: str, relation: str, target: str, position: Decimal | None = None
    ) -> EdgeDraft:
        return EdgeDraft(
            source=source,
            relation=relation,
            target=target,
            occurred_at=self.sent_at,
            position=position,
        )


def _each_once(people: Iterable[Mailbox]) -> tuple[Mailbox, ...]:
    """Return each address once, under the first name it is given."""
    by_address: dict[str, Mailbox] = {}
    for who in people:
        known = by_address.get(who.address)
        if known is None or (who.name and not known.name):
            by_address[who.address] = who
    return tuple(by_address.values())


def _labels(mail: ParsedMail) -> tuple[str, ...]:
    said = mail.text("x-gmail-labels").split(",")
    return tuple(sorted({label.strip(' "') for label in said} - {""}))


def _read_attachments(
    draft: _Draft,
) -> tuple[list[NodeDraft], list[EdgeDraft], list[str]]:
    """Return nodes and edges of the attachments with text, and what was not read."""
    nodes: list[NodeDraft] = []
    edges: list[EdgeDraft] = []
    unread: list[str] = []
    for number, attachment in enumerate(draft.mail.attachments):
        if len(nodes) == MAX_ATTACHMENTS_READ:
            unread.append(f"only {MAX_ATTACHMENTS_READ} attachments were read")
            break
        try:
            text = _attachment_text(attachment)
        except Unreadable as reason:
            if readable(attachment.name):
                unread.append(f"attachment {attachment.name!r}: {reason}")
            continue
        if not text:
            continue
        if len(text) > MAX_ATTACHMENT_TEXT:
            unread.append(f"attachment {attachment.name!r}: its end was left out")
        key = mail_key(draft.id, f"#attachment-{number}")
        subject = draft.mail.subject or NO_SUBJECT
        nodes.append(
            NodeDraft(
                key=key,
                node_type="email",
                title=attachment.name,
                content=text[:MAX_ATTACHMENT_TEXT],
                context=" · ".join(
                    filter(None, (f"attachment of {subject}", draft.byline()))
                ),
                metadata={"type": attachment.media_type, "size": len(attachment.data)},
                occurred_at=draft.sent_at,
            )
        )
        edges.append(draft.edge(key, "part_of", draft.key))
    return nodes, edges, unread


def _attachment_text(attachment: Attachment) -> str:
    """Return the words of an attachment; raise `Unreadable` where there are none."""
    if attachment.text:
        return attachment.text
    if len(attachment.data) > MAX_ATTACHMENT_BYTES:
        raise Unreadable(f"it has more than {MAX_ATTACHMENT_BYTES} bytes")
    if not attachment.data or not readable(attachment.name):
        return ""
    return storable(read_document(attachment.name, attachment.data).text).strip()
