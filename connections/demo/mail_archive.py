"""The mails as an mbox: what the shared address records@ received a copy of."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable
from datetime import datetime, timedelta
from email.generator import BytesGenerator
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import default
from email.utils import format_datetime, parseaddr
from html import escape
from pathlib import Path

from icalendar import Calendar, Event, vCalAddress, vText

from connections.demo.company import MOVED, TEXT, Company, at_local
from connections.demo.items import Mail
from connections.demo.office import docx_bytes

ARCHIVE = "records@tarnwick.example"


class Addresses:
    """Turns handles and customers' names into names and addresses of their day."""

    def __init__(self, company: Company) -> None:
        self._company = company

    def of(self, who: str, at: datetime) -> tuple[str, str]:
        """Return (name, address) of a handle, a customer or "Name <address>"."""
        if person := self._company.people.get(who):
            return person.name_at(at), person.email_at(at)
        if customer := self._company.customers.get(who):
            return customer.contact_name, customer.email
        if who == "all":
            return "Everyone", "all@tarnwick.example"
        name, address = parseaddr(who)
        if not address.endswith((".example", ".test")):
            raise ValueError(f"The mail text names {who!r}: nobody of that name.")
        return name, address

    def header(self, who: Iterable[str], at: datetime) -> tuple[Address, ...]:
        """Return an address header's value."""
        found = dict.fromkeys(self.of(one, at) for one in who)
        return tuple(Address(name, addr_spec=address) for name, address in found)

    def signature(self, who: str, at: datetime) -> str:
        """Return what stands below a mail of `who`, "" for strangers."""
        if person := self._company.people.get(who):
            moved = at.date() >= MOVED
            place = "The Ropeworks, 3 Hawser Lane" if moved else "14 Dock Road"
            name = person.name_at(at)
            return f"-- \n{name}\n{person.title}\nTarnwick, {place}, Galway"
        if customer := self._company.customers.get(who):
            return f"-- \n{customer.contact_name}\n{customer.name}, {customer.town}"
        return ""


def write_mbox(path: Path, company: Company, mails: Iterable[Mail]) -> None:
    """Write `mails` in the order of their time; parents are quoted in their replies."""
    by_id = {mail.id: mail for mail in mails}
    archive = _Archive(Addresses(company), by_id)
    out = io.BytesIO()
    for mail in sorted(by_id.values(), key=lambda m: (m.at, m.id)):
        message = archive.message(mail)
        _, address = archive.addresses.of(mail.sender, mail.at)
        out.write(f"From {address} {mail.at.ctime()}\n".encode())
        BytesGenerator(out, mangle_from_=True, policy=default).flatten(message)
        out.write(b"\n")
    path.write_bytes(out.getvalue())


class _Archive:
    def __init__(self, addresses: Addresses, by_id: dict[str, Mail]) -> None:
        self.addresses = addresses
        self._by_id = by_id

    def message_id(self, mail: Mail) -> str:
        _, address = self.addresses.of(mail.sender, mail.at)
        return f"<{mail.id}@mail.{address.partition('@')[2]}>"

    def message(self, mail: Mail) -> EmailMessage:
        message = EmailMessage(policy=default)
        message["From"] = self.addresses.header([mail.sender], mail.at)
        message["To"] = self.addresses.header(mail.to, mail.at)
        if mail.cc:
            message["Cc"] = self.addresses.header(mail.cc, mail.at)
        message["Subject"] = mail.subject
        message["Date"] = format_datetime(mail.at)
        message["Message-ID"] = self.message_id(mail)
        message["Delivered-To"] = ARCHIVE
        self._references(message, mail)
        _marks(message, mail)
        self._body(message, mail)
        for number, part in enumerate(p for p in message.walk() if p.is_multipart()):
            part.set_boundary(f"=_{_digest(mail.id)}_{number}")
        return message

    def _references(self, message: EmailMessage, mail: Mail) -> None:
        chain: list[str] = []
        parent = mail.parent
        while parent:
            chain.insert(0, self.message_id(self._by_id[parent]))
            parent = self._by_id[parent].parent
        if chain:
            message["In-Reply-To"] = chain[-1]
            message["References"] = " ".join(chain)

    def _body(self, message: EmailMessage, mail: Mail) -> None:
        signature = self.addresses.signature(mail.sender, mail.at)
        quoted = self._quote(mail)
        text = "\n\n".join(part for part in (mail.body, signature, quoted) if part)
        if mail.kind == "newsletter":
            message.set_content(_newsletter(mail), subtype="html")
            return
        message.set_content(text + "\n")
        if mail.html:
            message.add_alternative(_html(mail.body, signature, quoted), subtype="html")
        if mail.invite:
            self._invite(message, mail)
        if mail.attachment:
            _attach(message, mail.attachment)

    def _quote(self, mail: Mail) -> str:
        parent = self._by_id.get(mail.parent)
        if parent is None or int(_digest(mail.id), 16) % 10 < 3:
            return ""
        name, address = self.addresses.of(parent.sender, parent.at)
        day = f"{parent.at:%a}, {parent.at.day} {parent.at:%b %Y} at {parent.at:%H:%M}"
        lines = "\n".join(f"> {line}".rstrip() for line in parent.body.splitlines())
        return f"On {day}, {name} <{address}> wrote:\n\n{lines}"

    def _invite(self, message: EmailMessage, mail: Mail) -> None:
        facts = mail.invite
        start = at_local(str(facts["start"]))
        event = Event()
        event.add("uid", f"{facts['uid']}@tarnwick.example")
        event.add("dtstamp", mail.at)
        event.add("dtstart", start)
        event.add("dtend", start + timedelta(minutes=int(str(facts["minutes"]))))
        event.add("summary", facts["title"])
        event.add("location", vText(str(facts["place"])))
        event.add("description", mail.body)
        event.add("sequence", 0)
        event.add("organizer", self._calendar_address(mail.sender, mail.at))
        for guest in mail.to:
            event.add("attendee", self._calendar_address(guest, mail.at))
        calendar = Calendar()
        calendar.add("prodid", "-//Tarnwick//Calendar//EN")
        calendar.add("version", "2.0")
        calendar.add("method", "REQUEST")
        calendar.add_component(event)
        text = calendar.to_ical().decode().replace("\r\n", "\n")
        message.add_alternative(text, subtype="calendar", params={"method": "REQUEST"})

    def _calendar_address(self, who: str, at: datetime) -> vCalAddress:
        name, address = self.addresses.of(who, at)
        value = vCalAddress(f"mailto:{address}")
        value.params["CN"] = vText(name)
        value.params["PARTSTAT"] = vText("NEEDS-ACTION")
        return value


def _marks(message: EmailMessage, mail: Mail) -> None:
    if mail.kind == "newsletter":
        message["List-Id"] = "Cold Chain Monthly <monthly.coldchainmonthly.example>"
        message["List-Unsubscribe"] = "<https://coldchainmonthly.example/unsubscribe>"
        message["Precedence"] = "bulk"
    if mail.kind == "autoreply":
        message["Auto-Submitted"] = "auto-replied"
        message["X-Auto-Response-Suppress"] = "All"


def _newsletter(mail: Mail) -> str:
    paragraphs = "".join(f"<p>{escape(p)}</p>\n" for p in mail.body.split("\n\n"))
    return (
        "<html><head><style>p{margin:1em}</style></head><body>\n"
        f'<div style="display:none">{escape(mail.subject)}</div>\n'
        f"<h1>Cold Chain Monthly</h1>\n{paragraphs}"
        '<p><a href="https://coldchainmonthly.example/unsubscribe">Unsubscribe</a></p>\n'
        "</body></html>\n"
    )


def _html(body: str, signature: str, quoted: str) -> str:
    def paragraphs(text: str) -> str:
        return "".join(
            f"<p>{escape(p).replace(chr(10), '<br>')}</p>\n" for p in text.split("\n\n")
        )

    head, _, lines = quoted.partition("\n\n")
    said = lines.replace("\n> ", "\n").replace("\n>", "\n").removeprefix("> ")
    quote = (
        f'<div class="gmail_quote"><div>{escape(head)}</div>\n'
        f'<blockquote type="cite">{paragraphs(said)}</blockquote></div>\n'
        if quoted
        else ""
    )
    below = paragraphs(signature) + quote
    return f"<html><body>\n{paragraphs(body)}{below}</body></html>\n"


def _attach(message: EmailMessage, name: str) -> None:
    folder = TEXT / "mail/attachments"
    if name.endswith(".docx"):
        source = (folder / name).with_suffix(".md")
        message.add_attachment(
            docx_bytes(source.read_text(encoding="utf-8")),
            maintype="application",
            subtype="vnd.openxmlformats-officedocument.wordprocessingml.document",
            filename=name,
        )
        return
    text = (folder / name).read_text(encoding="utf-8")
    message.add_attachment(text, subtype="csv", filename=name)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
