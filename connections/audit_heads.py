"""The signed ends of the audit's chains.

The key is derived from FIELD_ENCRYPTION_KEYS, which no database holds: whoever can write
to the database can write rows, and recompute seals, but not sign where a chain ends.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterator

from connections import keyed
from connections.models import AuditHead
from connections.secrets import newest_key, ring

PURPOSE = "fabric audit head"


def sign(chain: int, position: int, seal: str, key: str = "") -> str:
    """Return the signature of a chain's end, by the newest key unless one is named."""
    name = key or newest_key()
    return f"{name}:{keyed.digest(PURPOSE, f'{chain}|{position}|{seal}', name)}"


def wrong_with(head: AuditHead) -> str:
    """Return what speaks against a head; nothing where its signature is ours."""
    name, _, _ = head.signature.partition(":")
    if name not in ring():
        return (
            f"its end was signed with the key {name}, which FIELD_ENCRYPTION_KEYS no "
            "longer holds: put the key back and run rotate_keys"
        )
    expected = sign(head.chain, head.position, head.seal, name)
    if not hmac.compare_digest(expected.encode(), head.signature.encode()):
        return "its end carries a signature that is not ours: it was written by others"
    return ""


def sign_anew() -> Iterator[tuple[str, str]]:
    """Sign heads with the newest key; yield each, with why one stays as it is."""
    stale = AuditHead.objects.exclude(signature__startswith=f"{newest_key()}:")
    for head in stale.order_by("chain"):
        wrong = wrong_with(head)
        if not wrong:
            # Only the same end: the chain may have gone on meanwhile, signed anew.
            AuditHead.objects.filter(
                chain=head.chain, position=head.position, seal=head.seal
            ).update(signature=sign(head.chain, head.position, head.seal))
        yield f"the audit's chain {head.chain}", wrong
