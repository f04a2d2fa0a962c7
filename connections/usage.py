"""What a project's models cost a day: counted by request, bounded by its budget."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection
from django.utils import timezone

from connections import usage_sql
from connections.models import Project
from connections.providers.base import ProviderError
from connections.providers.chat import (
    BadAnswer,
    ChatModel,
    Delta,
    Finished,
    Message,
    ModelUnavailable,
    Structured,
    Tool,
    Usage,
)
from connections.providers.streamed import tokens_of

logger = logging.getLogger(__name__)
NOTHING = Usage(0, 0)


class BudgetSpent(ModelUnavailable):
    """The project has used its tokens of today; from `opens_at` on it has new ones."""

    def __init__(self, budget: int, opens_at: datetime) -> None:
        super().__init__(
            f"This project has used its {budget:,} tokens of today. New ones come on "
            f"{opens_at:%Y-%m-%d at %H:%M %Z}; staff can raise the budget in the admin."
        )
        self.budget, self.opens_at = budget, opens_at


def budget_of(project: Project) -> int:
    """Return the tokens that `project` may use in a day; 0 means without a bound."""
    own = project.tokens_a_day
    return int(settings.FABRIC["TOKENS_A_DAY"]) if own is None else own


def spent(project: Project, day: date) -> int:
    """Return the tokens that `project` used on `day`."""
    with connection.cursor() as cursor:
        cursor.execute(usage_sql.SPENT, {"project": project.pk, "day": day})
        return int(cursor.fetchone()[0])


def check_budget(project: Project) -> None:
    """Raise `BudgetSpent` where nothing is left of today.

    Requests under way are not counted yet: so many may end above the budget.
    """
    budget = budget_of(project)
    today = timezone.localdate()
    if budget and spent(project, today) >= budget:
        midnight = datetime.combine(today + timedelta(days=1), time())
        raise BudgetSpent(budget, timezone.make_aware(midnight))


@dataclass(frozen=True, slots=True)
class Metered:
    """A chat model whose requests are counted for a project, and end with its budget."""

    of: ChatModel
    project: Project
    purpose: str

    @property
    def name(self) -> str:
        return self.of.name

    @property
    def model(self) -> str:
        return self.of.model

    def structured(
        self, system: str, user: str, schema: Mapping[str, Any], *, max_tokens: int
    ) -> Structured:
        """Return as the model does; raises `BudgetSpent` before it is asked."""
        check_budget(self.project)
        try:
            answer = self.of.structured(system, user, schema, max_tokens=max_tokens)
        except BadAnswer as error:
            asked = tokens_of(len(system) + len(user))
            self.count(error.usage or Usage(asked, 0, estimated=True), failed=True)
            raise
        except ProviderError:
            self.count(NOTHING, failed=True)
            raise
        self.count(answer.usage)
        return answer

    def stream(
        self,
        system: str,
        messages: Sequence[Message],
        tools: Sequence[Tool] = (),
        *,
        max_tokens: int,
    ) -> _MeteredStream:
        """Yield as the model does; raises `BudgetSpent` before it is asked."""
        check_budget(self.project)
        pieces = self.of.stream(system, messages, tools, max_tokens=max_tokens)
        asked = len(json.dumps([system, [m.text for m in messages]]))
        return _MeteredStream(self, pieces, asked)

    def count(self, usage: Usage, *, failed: bool = False) -> None:
        """Add a request to the day; a database that is away does not cost the answer."""
        total = usage.read + usage.written
        row: dict[str, int | str | date] = {
            "tenant": self.project.tenant_id,
            "project": self.project.pk,
            "day": timezone.localdate(),
            "provider": self.name,
            "model": self.model[:200],
            "purpose": self.purpose,
            "failed": int(failed),
            "read": usage.read,
            "written": usage.written,
            "estimated": total if usage.estimated else 0,
        }
        try:
            with connection.cursor() as cursor:
                cursor.execute(usage_sql.ADD, row)
        except DatabaseError:
            logger.exception("The cost of a request was not kept: %s", row)


class _MeteredStream(Iterator[Delta | Finished]):
    """A stream that is counted once, however it ends, by who reads it if anyone does."""

    def __init__(
        self, metered: Metered, pieces: Iterator[Delta | Finished], asked: int
    ) -> None:
        self._metered, self._pieces, self._asked = metered, pieces, asked
        self._said = 0
        self._is_begun = self._is_counted = False
        self._reading = threading.Lock()

    def __next__(self) -> Delta | Finished:
        with self._reading:
            self._is_begun = True
            try:
                piece = next(self._pieces)
            except StopIteration:
                # Closed, perhaps by another thread.
                self._count_broken(failed=False)
                raise
            except ProviderError:
                self._count_broken(failed=True)
                raise
            if isinstance(piece, Finished):
                self._count(piece.usage, failed=False)
            else:
                self._said += len(piece.text)
            return piece

    def _count_broken(self, *, failed: bool) -> None:
        """Count what is known of a stream without its end, else an estimate."""
        meter = getattr(self._pieces, "meter", None)
        if meter is not None:
            usage = meter.usage(is_whole=False) if meter.is_begun else NOTHING
        elif self._said:
            usage = Usage(tokens_of(self._asked), tokens_of(self._said), estimated=True)
        else:
            usage = NOTHING
        self._count(usage, failed=failed)

    def _count(self, usage: Usage, *, failed: bool) -> None:
        if not self._is_counted:
            self._is_counted = True
            self._metered.count(usage, failed=failed)

    def close(self) -> None:
        """End the request at once; what it cost until now is counted."""
        close = getattr(self._pieces, "close", None)
        if close is not None:
            close()
        # Whoever reads meanwhile is told of the end, and counts.
        if self._is_begun and self._reading.acquire(blocking=False):
            try:
                self._count_broken(failed=False)
            finally:
                self._reading.release()

    def __del__(self) -> None:
        with suppress(Exception):
            self.close()
