"""The audit: rows sealed and verified a second, and the admin's pages over them.

The baseline reads the same rows through the ORM, one by one, each with its detail.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable

from django.contrib import admin
from django.http import HttpRequest
from django.test import RequestFactory

from benchmarks.report import Table, progress, ratio, size
from connections.audit import GENESIS, seal_all, seal_of
from connections.audit_checking import verify
from connections.management.base import create_project
from connections.models import Audit, AuditDetail, Project, Role, User, record_audit
from connections.models.audit import hash_of
from connections.records import JSON

CHUNK = 5000
TARGET = 10_000


def run() -> list[Table]:
    project, count = create_project("bench/audit"), size()
    _fill(project, count)
    return [_chain(project, count), _pages(project, count)]


def _fill(project: Project, count: int) -> None:
    for start in range(0, count, CHUNK):
        progress(f"audit: {start:,} of {count:,}")
        numbers = range(start, min(start + CHUNK, count))
        said: list[dict[str, JSON]] = [
            {"question": f"What of order {n}?", "seen": [f"slack:C1:{n}.0"]}
            for n in numbers
        ]
        rows = Audit.objects.bulk_create(
            Audit(
                tenant_id=project.tenant_id,
                project=project,
                verb=f"bench.{n % 20}",
                target=f"node:{n}",
                detail_sha256=hash_of("salt", detail),
            )
            for n, detail in zip(numbers, said, strict=True)
        )
        AuditDetail.objects.bulk_create(
            AuditDetail(audit=row, salt="salt", detail=detail)
            for row, detail in zip(rows, said, strict=True)
        )


def _chain(project: Project, count: int) -> Table:
    table = Table(
        "what",
        "rows a second",
        f"target {TARGET:,}",
        "against row by row",
        caption=f"A chain of {count:,} rows with their details.",
    )
    sealing = _seconds(seal_all)
    verifying = _seconds(lambda: _must_be_whole(project))
    plain = _seconds(lambda: _row_by_row(project))
    single = _seconds(lambda: [record_audit("bench.act", n=n) for n in range(1000)])
    for name, seconds, other in (
        ("`verify_audit`", verifying, ratio(plain, verifying)),
        ("row by row through the ORM", plain, "1.00x"),
        ("sealing", sealing, ""),
    ):
        rate = count / seconds
        table.add(name, f"{rate:,.0f}", "met" if rate >= TARGET else "missed", other)
    table.add("`record_audit`, one transaction each", f"{1000 / single:,.0f}", "", "")
    return table


def _must_be_whole(project: Project) -> None:
    if not verify(project.tenant).is_whole:
        raise RuntimeError("The chain of the benchmark is not whole.")


def _row_by_row(project: Project) -> None:
    previous = GENESIS
    rows = Audit.objects.filter(tenant=project.tenant, position__isnull=False)
    for row in rows.order_by("position").iterator():
        previous = seal_of(previous, row)
        detail = row.detail
        text = detail.salt + json.dumps(detail.detail, sort_keys=True)
        if previous != row.seal or (
            hashlib.sha256(text.encode()).hexdigest() != row.detail_sha256
        ):
            raise RuntimeError("The chain of the benchmark is not whole.")


def _pages(project: Project, count: int) -> Table:
    user = User.objects.create_user("auditor@benchmark.test", is_staff=True)
    project.memberships.create(user=user, role=Role.ADMIN)
    table = Table(
        "list of the admin",
        "ms",
        caption=f"The admin's page of the audit over {count:,} rows, whole response.",
    )
    for name, asked in (
        ("newest", {}),
        ("one verb", {"verb": "bench.3"}),
        ("a target", {"q": "node:77"}),
        ("words of a detail", {"q": f"order {count // 2}"}),
        ("a word of every detail", {"q": "order"}),
    ):
        table.add(name, f"{1000 * _seconds(_page(user, asked)):,.0f}")
    return table


def _page(user: User, asked: dict[str, str]) -> Callable[[], object]:
    desk = admin.site._registry[Audit]

    def render() -> object:
        request: HttpRequest = RequestFactory().get("/admin/connections/audit/", asked)
        request.user = user
        return desk.changelist_view(request).render()  # type: ignore[attr-defined]

    return render


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
