"""The people of a mail as nodes: one per address."""

from __future__ import annotations

from connections.records import Identity, NodeDraft, clean_key
from connections.sources.mail_headers import Mailbox


def person_key(mailbox: Mailbox) -> str:
    """Return the key of an address's node: "person:ann@acme.test"."""
    return clean_key(f"person:{mailbox.address}")


def address_node(mailbox: Mailbox) -> NodeDraft:
    """Return the node of an address; its name is one only if it says more than that."""
    names = (mailbox.name,) if _is_name(mailbox) else ()
    return NodeDraft(
        key=person_key(mailbox),
        node_type="address",
        title=mailbox.label if names else mailbox.address,
        precedence=float(bool(names)),
        identity=Identity(side="mail", address=mailbox.address, names=names),
    )


def _is_name(mailbox: Mailbox) -> bool:
    return bool(mailbox.name) and "@" not in mailbox.name
