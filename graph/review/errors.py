"""What keeps a person from deciding: each says what to do instead."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from connections.refusals import Refused

if TYPE_CHECKING:
    from graph.review.confirming import Consequences


class ReviewError(Refused):
    """Something that was asked of the review cannot be done."""

    code = "review_refused"


class NotDecidable(ReviewError):
    """The decision does not fit the item, or lacks something."""

    code = "not_decidable"


class NoSuchItem(ReviewError):
    """There is nothing of that kind that the person may see."""

    code = "not_found"
    status_code = 404


class Collision(ReviewError):
    """Somebody else is at it, or was faster; `by` and `until` say who and how long."""

    code = "collision"
    status_code = 409

    def __init__(
        self, message: str, *, by: str = "", until: datetime | None = None
    ) -> None:
        super().__init__(message)
        self.by, self.until = by, until


class Unconfirmed(ReviewError):
    """Nothing was pruned: its consequences, as they are now, were not confirmed."""

    code = "unconfirmed"
    status_code = 409

    def __init__(self, message: str, consequences: Consequences) -> None:
        super().__init__(message)
        self.consequences = consequences
