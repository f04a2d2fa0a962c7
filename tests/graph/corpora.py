"""A small company's mail and chat as drafts, with every way for order to matter."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from connections.records import (
    PUBLIC,
    Alias,
    AudienceDraft,
    EdgeDraft,
    Identity,
    NodeDraft,
    Record,
)
from tests.factories import draft_account, draft_channel, draft_message

PRIVATE = AudienceDraft("members", "slack:P1", None)
LISTED = AudienceDraft("members", "slack:P1", ("ann@acme.test",), "#P1")
BOX = AudienceDraft("private", "box:bob", ("bob@acme.test",))
START = datetime(2026, 3, 1, tzinfo=UTC)


def draft_mail(
    name: str,
    minute: int,
    sender: str,
    to: tuple[str, ...] = (),
    references: tuple[str, ...] = (),
    *,
    audience: AudienceDraft = PUBLIC,
    names: tuple[tuple[str, str], ...] = (),
) -> Record:
    """Draft a mail as its connector does: its thread is the oldest mail it knows of."""
    known_as = dict(names)
    at = START + timedelta(minutes=minute)
    key = f"email:{name}"
    thread = f"email-thread:{references[0] if references else name}"
    aliases = [
        Alias(key=f"email-thread:{r}", target=thread, own=False) for r in references[1:]
    ]
    if references:
        aliases.insert(0, Alias(key=f"email-thread:{name}", target=thread))

    def edge(source: str, relation: str, target: str, **fields: object) -> EdgeDraft:
        return EdgeDraft(
            source=source, relation=relation, target=target, occurred_at=at, **fields
        )

    people = tuple(
        NodeDraft(
            key=f"person:{a}",
            node_type="address",
            title=a,
            identity=Identity("mail", a, (known_as[a],) if a in known_as else ()),
        )
        for a in dict.fromkeys((sender, *to))
    )
    edges = [
        edge(key, "sent_by", f"person:{sender}"),
        edge(key, "in_thread", thread, position=Decimal(int(at.timestamp()))),
        *(
            edge(thread, "participant", f"person:{a}")
            for a in dict.fromkeys((sender, *to))
        ),
    ]
    if references:
        earlier = tuple(f"email:{r}" for r in reversed(references[:-1]))
        parent = f"email:{references[-1]}"
        edges.append(edge(key, "replied_to", parent, otherwise=earlier))
    return Record(
        key=key,
        kind="email",
        body=f"Words of {name}.",
        occurred_at=at,
        nodes=(
            NodeDraft(
                key=key,
                node_type="email",
                title=f"Re: {name}",
                content=f"Words of {name}.",
                context=sender,
                occurred_at=at,
            ),
            NodeDraft(
                key=thread,
                node_type="thread",
                title=f"Subject of {name}",
                occurred_at=at,
                precedence=-float(minute),
            ),
            *people,
        ),
        edges=tuple(edges),
        aliases=tuple(aliases),
        audience=audience,
    )


ANN, BOB, EVE = "ann@acme.test", "bob@acme.test", "eve@acme.test"

# (source, record): two accounts of one full name, an account whose address writes mail,
# a channel that is closed, replies whose parents come late or never, a mail in two
# mailboxes, threads known by chains of references, and a cycle of them.
CORPUS: list[tuple[str, Record]] = [
    ("chat", draft_account("U1", "Ann Lee", ANN)),
    ("chat", draft_account("U2", "Bob Ray")),
    ("chat", draft_account("U3", "Bob Ray")),
    ("chat", draft_channel("C1")),
    ("chat", draft_channel("P1", LISTED)),
    ("chat", draft_message("10.000001", "Shall we?", thread_ts="10.000001")),
    ("chat", draft_message("11.000001", "Yes.", user="U2", thread_ts="10.000001")),
    ("chat", draft_message("12.000001", "Then go.", thread_ts="10.000001")),
    ("chat", draft_message("13.000001", "Lunch?", user="U3")),
    ("chat", draft_message("14.000001", "Secret", channel="P1", audience=PRIVATE)),
    ("chat", draft_message("15.000001", "Ours", channel="P1", audience=PRIVATE)),
    (
        "chat",
        draft_message("16.000001", "Lost parent", user="U9", thread_ts="9.000001"),
    ),
    ("chat", draft_message("13.000001", "Lunch at one?", user="U3", version=2)),
    (
        "mail",
        draft_mail("a", 0, ANN, (BOB,), names=((ANN, "Ann Lee"), (BOB, "Bob Ray"))),
    ),
    ("mail", draft_mail("b", 1, BOB, (ANN,), ("a",), names=((ANN, "A. Lee"),))),
    ("mail", draft_mail("c", 2, EVE, (ANN, BOB), ("b",))),
    (
        "mail",
        draft_mail("d", 2, ANN, (EVE,), ("a", "b", "c"), names=((EVE, "Eve Day"),)),
    ),
    ("mail", draft_mail("f", 3, BOB, (), ("a", "c", "lost"))),
    ("box", draft_mail("f", 3, BOB, (), ("a", "c", "lost"), audience=BOX)),
    ("mail", draft_mail("x", 5, EVE, (), ("y",))),
    ("mail", draft_mail("y", 6, EVE, (), ("x",))),
    ("box", draft_mail("b", 1, BOB, (ANN,), ("a",), audience=BOX)),
    (
        "box",
        draft_mail(
            "e", 7, BOB, (EVE,), ("a", "d"), audience=BOX, names=((BOB, "Robert Ray"),)
        ),
    ),
]


def with_audience(record: Record, audience: AudienceDraft) -> Record:
    return replace(record, audience=audience)
