"""Verifying the audit: every chain is computed anew, and what does not fit is named."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from connections import audit_sql
from connections.audit_heads import wrong_with
from connections.audit_rows import FIELDS, GENESIS, Sealable, seal_of, sealable
from connections.models import AuditCheck, AuditHead, Tenant
from connections.models.audit import hash_of

BATCH = 5000
TOLD_MOST = 100


@dataclass(frozen=True, slots=True)
class Fault:
    """What does not fit in a chain, and where; `row` is None where there is none."""

    chain: str
    kind: str
    position: int | None
    row: int | None
    said: str

    def __str__(self) -> str:
        where = "" if self.position is None else f" at position {self.position}"
        row = "" if self.row is None else f" (row {self.row})"
        return f"{self.chain}: {self.kind}{where}{row}: {self.said}"


@dataclass(frozen=True, slots=True)
class Verified:
    """What was found of one chain, or of all: rows sealed and waiting, details erased,
    how many faults, and the first of those."""

    sealed: int = 0
    waiting: int = 0
    erased: int = 0
    fault_count: int = 0
    faults: tuple[Fault, ...] = ()
    # Where each chain ends: "POSITION:SEAL", to be kept elsewhere.
    ends: dict[str, str] = field(default_factory=dict)

    @property
    def is_whole(self) -> bool:
        return self.fault_count == 0

    def __add__(self, other: Verified) -> Verified:
        return Verified(
            self.sealed + other.sealed,
            self.waiting + other.waiting,
            self.erased + other.erased,
            self.fault_count + other.fault_count,
            (self.faults + other.faults)[:TOLD_MOST],
            {**self.ends, **other.ends},
        )


def verify(tenant: Tenant | None = None, *, end: str = "") -> Verified:
    """Return what is found of a tenant's chain, of all chains without one.

    `end` is an end that was noted before, "POSITION:SEAL": the chain must lead through
    it. Reads in batches; what is sealed meanwhile is left to the next time.
    """
    if tenant is not None:
        return _checked(tenant.pk, end)
    with connection.cursor() as cursor:
        cursor.execute(audit_sql.CHAINS)
        chains = [row[0] for row in cursor.fetchall()]
    return sum((_checked(chain, "") for chain in chains), Verified())


def _checked(chain: int, end: str) -> Verified:
    found = _Chain(chain, end).verify()
    AuditCheck.objects.update_or_create(
        chain=chain,
        defaults={
            "checked_at": timezone.now(),
            "sealed": found.sealed,
            "waiting": found.waiting,
            "erased": found.erased,
            "faults": found.fault_count,
            "first_fault": str(found.faults[0]) if found.faults else "",
        },
    )
    return found


def name_of(chain: int) -> str:
    """Return what a chain is called: its tenant's slug, as far as there is one."""
    if not chain:
        return "the installation"
    slug = Tenant.objects.filter(pk=chain).values_list("slug", flat=True).first()
    return slug or f"tenant {chain}"


class _Chain:
    """A chain while it is followed from its beginning."""

    def __init__(self, chain: int, end: str) -> None:
        self.chain, self.name = chain, name_of(chain)
        place, _, self.noted_seal = end.partition(":")
        self.noted = int(place) if place else None
        self.position, self.seal, self.row = 0, GENESIS, 0
        self.sealed = self.erased = self.fault_count = 0
        self.is_noted_seen = not end
        # The seal before the next row is not known: the row that had it is missing.
        self.is_torn = False
        self.faults: list[Fault] = []

    def verify(self) -> Verified:
        head = AuditHead.objects.filter(chain=self.chain).first()
        if head is not None:
            for values in self._rows(head.position):
                self._follow(values)
            self._end(head)
        if not self.is_noted_seen:
            self._fault("removed", self.noted, "the end that was noted is not in it")
        waiting = self._beyond(has_head=head is not None)
        return Verified(
            self.sealed,
            waiting,
            self.erased,
            self.fault_count,
            tuple(self.faults),
            {self.name: f"{head.position}:{head.seal}"} if head else {},
        )

    def _rows(self, last: int) -> Iterator[tuple[Any, ...]]:
        query = audit_sql.SEALED if self.chain else audit_sql.SEALED_OF_NOBODY
        at = {"position": 0, "id": 0}
        while True:
            given = {**at, "tenant": self.chain, "last": last, "limit": BATCH}
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(query, given)
                rows = cursor.fetchall()
            yield from rows
            if len(rows) < BATCH:
                return
            at = {"position": rows[-1][FIELDS], "id": rows[-1][0]}

    def _follow(self, values: tuple[Any, ...]) -> None:
        row = sealable(values)
        position, seal, salt, detail = values[FIELDS:]
        self.sealed += 1
        if position <= self.position:
            self._fault("inserted", position, "its position is taken already", row.id)
            return
        if position > self.position + 1:
            self._missing(self.position + 1, position - 1)
            self.is_torn = True
        if not self.is_torn and seal_of(self.seal, row) != seal:
            self._fault(
                "changed", position, "it is not what was sealed, or its seal is", row.id
            )
        self.is_torn = False
        self.position, self.seal = position, seal
        if self.noted == position:
            self.is_noted_seen = seal == self.noted_seal
        self._detail(row, position, salt, detail)

    def _detail(
        self, row: Sealable, position: int, salt: str | None, detail: str | None
    ) -> None:
        if not salt or detail is None:
            self.erased += 1
            if detail not in (None, "{}"):
                self._fault("changed", position, "its detail has no salt", row.id)
        elif hash_of(salt, json.loads(detail)) != row.detail_sha256:
            self._fault("changed", position, "its detail is another one", row.id)

    def _end(self, head: AuditHead) -> None:
        """Compare where the rows end with what was signed."""
        if wrong := wrong_with(head):
            self._fault("changed", head.position, wrong)
        if self.position < head.position:
            self._missing(self.position + 1, head.position)
        elif self.seal != head.seal:
            said = (
                "the last seal is not the one that was signed: the chain was rewritten"
            )
            self._fault("changed", head.position, said)

    def _beyond(self, *, has_head: bool) -> int:
        """Return how many rows wait; none may be sealed behind the signed end."""
        given = {"tenant": self.chain or None, "chain": self.chain}
        with connection.cursor() as cursor:
            cursor.execute(audit_sql.BEYOND, given)
            waiting, beyond, first = cursor.fetchone()
        if beyond and has_head:
            said = f"{beyond} sealed rows stand behind the end that was signed"
            self._fault("inserted", first, said)
        elif beyond:
            self._fault(
                "removed", first, "rows are sealed, and their signed end is gone"
            )
        return int(waiting)

    def _missing(self, first: int, last: int) -> None:
        number = last - first + 1
        rows = "the row is" if number == 1 else f"{number} rows, to {last}, are"
        self._fault("removed", first, f"{rows} missing")

    def _fault(
        self, kind: str, position: int | None, said: str, row: int | None = None
    ) -> None:
        self.fault_count += 1
        if len(self.faults) < TOLD_MOST:
            self.faults.append(Fault(self.name, kind, position, row, said))
