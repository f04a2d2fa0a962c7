"""The admin's lists beside Django's own: each filter, search, page, and the dashboard."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.contrib.messages.storage.fallback import FallbackStorage
from django.core.paginator import Paginator
from django.db import OperationalError, connection
from django.http import HttpRequest
from django.test import Client, RequestFactory
from django.urls import get_resolver
from django.utils import timezone

from benchmarks.admin_loading import Lists, found_lists, load_lists
from benchmarks.database import kept_database, migrations_version
from benchmarks.report import Table, ratio, size
from benchmarks.timing import Timing, timed
from connections.admin_scope import staff
from graph.admin.identity import Person
from graph.figures.keeping import count_figures
from graph.models import Edge, Node, Record

VERSION, ROUNDS, TARGET = 3, 10, 300
# Milliseconds after which Django's own page is not waited for.
GIVEN_UP = 3_000


@dataclass(frozen=True, slots=True)
class Case:
    """One address of a list, and what it is called in the table."""

    name: str
    model: type[Any]
    query: str = ""


def run() -> Sequence[Table]:
    """Fill a graph, or take the kept one, and open each list as its pages are opened."""
    count = size()
    version = f"{VERSION} {migrations_version()}"
    with kept_database(f"lists_{count}", version, lambda: load_lists(count)):
        get_resolver().url_patterns  # noqa: B018 - registers what the pages name
        lists = found_lists()
        table = Table(
            "page", "p50", "p95", "Django's default", "ours / default",
            f"under {TARGET} ms",
            caption=f"{count:,} nodes, a tenth of them in a second project; each page "
            "rendered whole, templates too, also Django's default: the same page with "
            "count(*) and OFFSET, its own search (icontains), opened once "
            f"and given up after {GIVEN_UP // 1000} s.",
        )  # fmt: skip
        for case in cases(lists):
            _compare(table, case, lists)
        _add_pages(table, lists)
        return [table]


def cases(lists: Lists) -> list[Case]:
    """Return the lists: common, rare, long ago, nothing at all."""
    day = (timezone.now() - timedelta(days=170)).date()
    month = (timezone.now() - timedelta(days=30)).date()
    small, big = lists.small.pk, lists.big.pk
    return [
        Case("nodes", Node),
        Case("nodes of the big project", Node, f"project={big}"),
        Case("nodes of the small project", Node, f"project={small}"),
        Case("nodes by a common type", Node, "node_type=message"),
        Case("nodes by a type only old ones have", Node, "node_type=email"),
        Case("nodes by a type none has", Node, "node_type=topic"),
        Case("nodes by an old source kind", Node, "source_kind=mail"),
        Case("nodes gone at the source", Node, "gone=yes"),
        Case("nodes waiting for review: stale", Node, "flagged=stale"),
        Case("nodes said on one day", Node, _range("occurred_at", day, day)),
        Case("nodes said since a month", Node, _range("occurred_at", month)),
        Case("nodes, search: a common word", Node, "q=aaa"),
        Case("nodes, search: a rare word", Node, "q=eoiuaa"),
        Case("nodes, search: no such word", Node, "q=zzzzqq"),
        Case("nodes, search: how a key begins", Node, "q=slack:C7:9"),
        Case("nodes, the last page", Node, "p=100"),
        Case("edges", Edge),
        Case("edges of the small project", Edge, f"project={small}"),
        Case("edges by an old relation", Edge, "relation=replied_to"),
        Case("edges said on one day", Edge, _range("occurred_at", day, day)),
        Case("edges, search: a common word", Edge, "q=aaa"),
        Case("edges, search: no such word", Edge, "q=zzzzqq"),
        Case("records", Record),
        Case("records gone at the source", Record, "gone=yes"),
        Case(
            "records fetched on one day",
            Record,
            _range("first_fetched_at", month, month),
        ),
        Case("records, search: how a key begins", Record, "q=slack:C7:9"),
        Case("persons", Person),
        Case("persons, search", Person, "q=aeo"),
    ]


def _range(name: str, first: object, last: object = None) -> str:
    since = f"{name}_from_0={first}&{name}_from_1=00:00"
    return f"{since}&{name}_to_0={last}&{name}_to_1=23:59:59" if last else since


def _compare(table: Table, case: Case, lists: Lists) -> None:
    ours = timed([case.query] * ROUNDS, _opening(case, lists))
    _add(table, case.name, ours, _default(case, lists))


def _default(case: Case, lists: Lists) -> float:
    """Return the milliseconds of Django's own page, `GIVEN_UP` where it took longer."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT set_config('statement_timeout', %s, false)", [str(GIVEN_UP)]
        )
        try:
            ask = _plainly(case, lists)
            return min(timed([case.query], ask, warm=False).p50, GIVEN_UP)
        except OperationalError:
            return GIVEN_UP
        finally:
            cursor.execute("RESET statement_timeout")


def _add(table: Table, name: str, ours: Timing, theirs: float = 0) -> None:
    over = "over " if theirs >= GIVEN_UP else ""
    table.add(
        name,
        f"{ours.p50:.0f} ms",
        f"{ours.p95:.0f} ms",
        f"{over}{theirs:,.0f} ms" if theirs else "",
        ratio(ours.p50, theirs) if theirs else "",
        "yes" if ours.p50 < TARGET else "no",
    )


def _opening(case: Case, lists: Lists) -> Callable[[str], object]:
    """Return what opens the list as its page does, template and all."""
    model_admin = admin.site._registry[case.model]

    def ask(query: str) -> object:
        answer = model_admin.changelist_view(_request(query, lists))
        return answer.render() if hasattr(answer, "render") else answer

    return ask


def _plainly(case: Case, lists: Lists) -> Callable[[str], object]:
    """Return what reads the same list as Django's own admin would, rendered too."""
    registered = admin.site._registry[case.model]

    class Plain(type(registered)):  # type: ignore[misc] # a class made at run time
        paginator = Paginator
        show_full_result_count = True

        def get_queryset(self, request: HttpRequest) -> Any:
            rows = case.model.objects.visible_to(staff(request))
            person = case.model is Person
            return rows.filter(node_type="person") if person else rows

        def get_paginator(self, request: HttpRequest, *args: Any, **more: Any) -> Any:
            return Paginator(*args, **more)

        def get_search_results(
            self, request: HttpRequest, rows: Any, words: str
        ) -> tuple[Any, bool]:
            return admin.ModelAdmin.get_search_results(self, request, rows, words)

        def get_ordering(self, request: HttpRequest) -> Any:
            return self.ordering

        def get_changelist(self, request: HttpRequest, **more: Any) -> Any:
            return ChangeList

    plain = Plain(case.model, admin.site)

    def ask(query: str) -> object:
        answer = plain.changelist_view(_request(query, lists))
        return answer.render() if hasattr(answer, "render") else answer

    return ask


def _request(query: str, lists: Lists) -> HttpRequest:
    request = RequestFactory().get(f"/admin/?{query}")
    request.user, request.session = lists.user, {}  # type: ignore[assignment]
    request._messages = FallbackStorage(request)  # type: ignore[attr-defined]
    return request


def _add_pages(table: Table, lists: Lists) -> None:
    """Add pages as a browser asks for them, through all that stands before them."""
    for project in (lists.big, lists.small):
        count_figures(project)
    settings.ALLOWED_HOSTS = ["testserver"]
    settings.SECURE_SSL_REDIRECT = False
    client = Client()
    client.force_login(lists.user)
    complete = (
        "/admin/autocomplete/?app_label=graph&model_name=record&field_name=source"
    )
    for name, address in (
        ("the dashboard", f"/admin/?project={lists.big.path}"),
        ("Ctrl-K: a common word", "/admin/search/?extended=1&s=aaa"),
        ("Ctrl-K: no such word", "/admin/search/?extended=1&s=zzzzqq"),
        ("autocomplete of sources", f"{complete}&term=l"),
    ):

        def ask(wanted: str) -> None:
            answer = client.get(wanted)
            if answer.status_code != 200:
                raise RuntimeError(f"{wanted} answered {answer.status_code}.")

        _add(table, name, timed([address] * ROUNDS, ask))
