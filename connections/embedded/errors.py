"""What the embedded servers raise."""

from __future__ import annotations


class EmbeddedError(RuntimeError):
    """An embedded server or its files cannot be used; the text says what to do."""
