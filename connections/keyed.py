"""Digests that only who holds FIELD_ENCRYPTION_KEYS can compute: no database does.

Each purpose has a key of its own, derived from one of the ring.
"""

from __future__ import annotations

import hashlib
import hmac
from functools import lru_cache

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from connections.secrets import KEY_BYTES, newest_key, ring


def digest(purpose: str, said: str, key: str = "") -> str:
    """Return 64 hex digits that stand for `said`, by the newest key unless one is
    named; `KeyError` for a key that the ring does not hold."""
    derived = _derived(ring()[key or newest_key()], purpose)
    return hmac.new(derived, said.encode(), hashlib.sha256).hexdigest()


def digests(purpose: str, said: str) -> list[str]:
    """Return what stands for `said` by every key of the ring, the newest first."""
    return [digest(purpose, said, key) for key in ring()]


@lru_cache(maxsize=64)
def _derived(key: bytes, purpose: str) -> bytes:
    return HKDF(SHA256(), KEY_BYTES, salt=None, info=purpose.encode()).derive(key)
