"""Errors that a caller can put right."""

from __future__ import annotations

from typing import ClassVar


class Refused(Exception):
    """Something that was asked cannot be done; the message says what to do instead."""

    code: ClassVar[str] = "refused"
    status_code: ClassVar[int] = 400
