"""The walk: every address, as every person, by every method; what came of it."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from typing import Any

from asgiref.sync import async_to_sync
from django.contrib import admin
from django.db import connection, transaction

from connections.models import Audience, Role
from tests.site.access import walking
from tests.site.access.canaries import CLASSES, MARKS, Company, Person
from tests.site.access.expected import (
    ANYONE,
    BODIES,
    KEEPER,
    MEMBER,
    MODELS,
    NOBODY,
    OPERATOR,
    OTHERS,
    OWNER,
    PUBLIC,
    QUERIES,
    ROUTES,
    SIGNED_IN,
    STRUCTURE,
)
from tests.site.access.walking import (
    Address,
    addresses,
    methods_of,
    model_of,
    routes,
    verb_of,
)

WRITES = re.compile(r'\s*(?:INSERT INTO|UPDATE|DELETE FROM)\s+"?(\w+)"?', re.IGNORECASE)
# Written by whoever comes: sessions, the lock on guessing, and the audit of it.
NOISE = re.compile(
    r'"?(django_session|axes_\w+|audit|audit_details)"?\b|'
    r'UPDATE "connections_apitoken" SET "last_used_at"|'
    r'UPDATE "connections_user" SET "last_login"'
)
API = "api/v1/"
# What a database answers by that is not there.
UNREACHABLE = 502


@dataclass
class Walk:
    """What a walk over the addresses came to."""

    asked: int = 0
    refused: int = 0
    written: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


def walked(company: Company, *, only: str = "", people: tuple[str, ...] = ()) -> Walk:
    """Ask every address as every person by every method; `only` where it begins so."""
    walk = Walk()
    audiences = {
        name: Audience.objects.ids_of(person.user) if person.user else []
        for name, person in company.people.items()
    }
    assert audiences["insider"] != audiences["admin"]
    for route in routes():
        if only and not route.startswith(only):
            continue
        for person in company.people.values():
            if people and person.name not in people:
                continue
            if person.scope and not route.startswith(API):
                continue
            if any(f"admin/{app}/" in route for app in OTHERS) and person.name not in (
                "anonymous",
                "viewer",
                "operator",
            ):
                continue
            found = _for(company, person, route)
            written = _of_which_written(company, route, found)
            for address in found:
                _asked(walk, company, route, address, person, address in written)
    return walk


def _for(company: Company, person: Person, route: str) -> list[Address]:
    """Return where a person asks: for a row of each sort, an open one first. Whoever is
    stopped at the door, whatever row is named, asks once."""
    found = sorted(addresses(route), key=lambda each: _standing(company, each))
    at_the_door = person.name == "anonymous" or person.scope not in ("", "read")
    # Django's own: it leads to the page of the row, which is asked by itself.
    is_detour = bool(model_of(route)) and verb_of(route) == "open"
    if at_the_door or is_detour:
        return found[:1]
    # A page of the admin asks the same for a row of each standing; what the standings
    # do not tell apart is read over the API and the pages.
    if not model_of(route):
        return found
    is_dead = verb_of(route) in ("delete", "add") and _nobody_may(route)
    return found[:1] if is_dead else _of_each_standing(company, found)


def _standing(company: Company, address: Address) -> int:
    """Return 0 for an open row, 1 for one closed to most, 2 for another tenant's."""
    rows = set(address.rows) - {""}
    return 2 if rows - company.rows else int(bool(rows & company.closed))


def _of_which_written(
    company: Company, route: str, found: list[Address]
) -> list[Address]:
    """Return where writing is tried: at one row of each standing; where nobody may
    write, at one."""
    kept = _of_each_standing(company, found)
    return kept[:1] if _nobody_may(route) else kept


def _of_each_standing(company: Company, found: list[Address]) -> list[Address]:
    first = {_standing(company, each): each for each in reversed(found)}
    return [first[standing] for standing in sorted(first)]


def _nobody_may(route: str) -> bool:
    if label := model_of(route):
        verb = verb_of(route)
        return verb != "list" and verb not in MODELS.get(label, {})
    return ROUTES.get(route, NOBODY) == NOBODY


def _asked(
    walk: Walk,
    company: Company,
    route: str,
    address: Address,
    person: Person,
    tries_to_write: bool,
) -> None:
    rows = {row for row in address.rows if row}
    is_foreign = bool(rows - company.rows)
    if person.name == "stranger" and is_foreign:
        return
    is_closed = bool(rows & company.closed) and "private" not in _seen(person, route)
    for method, data in _requests(route, company, person):
        if method != "get" and not tries_to_write:
            continue
        may_write = (
            _may_write(route, person, data)
            and (not is_foreign or person.name == "operator")
            and not is_closed
        )
        if person.name == "stranger" and rows:
            may_write = False
        _ask(walk, route, address, person, method, data, may_write)


def _requests(
    route: str, company: Company, person: Person
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the methods to ask a route by, each with what is sent."""
    if route.startswith(API):
        body = BODIES.get(route, {})
        for method in methods_of(route):
            yield method, {} if method == "get" else body
        return
    yield "get", {}
    label, verb = model_of(route), verb_of(route)
    reads = ("history", "open", "picture")
    if any(f"admin/{app}/" in route for app in OTHERS) or (label and verb in reads):
        return
    body = BODIES.get(route, {})
    if not (label and verb == "list"):
        yield "post", {"confirmed": "yes", "post": "yes", **body}
    if label and verb == "list":
        model = next(m for m in admin.site._registry if m._meta.label_lower == label)
        wants_delete = "delete_selected" in MODELS[label]
        actions = [*(admin.site._registry[model].actions or ())]
        keys = [
            pk
            for pk in walking._ids(model._meta.label)
            if person.name != "stranger" or f"{model._meta.label}:{pk}" in company.rows
        ]
        for action in [*actions, *(["delete_selected"] if wants_delete else [])]:
            yield (
                "post",
                {
                    "action": action,
                    "_selected_action": keys,
                    "confirmed": "yes",
                    "post": "yes",
                },
            )


def _may_write(route: str, person: Person, data: dict[str, Any]) -> bool:
    """Return whether a person may write there, as the expectations have it."""
    label = model_of(route)
    if label:
        verb = str(data.get("action") or verb_of(route))
        wanted = MODELS.get(label, {}).get("change" if verb == "open" else verb, NOBODY)
        if label in ("connections.user", "connections.apitoken") and wanted == OWNER:
            return person.user is not None
        operators = ("user", "tenant", "project", "membership")
        if person.name == "operator":
            return wanted is not NOBODY and label.split(".")[1] in operators
        if label == "connections.audit":
            return True
    elif "(?P<app_label>" in route or any(f"admin/{a}/" in route for a in OTHERS):
        wanted = NOBODY
    else:
        wanted = ROUTES[route]
    scope = ""
    if isinstance(wanted, tuple):
        wanted, scope = wanted
    if person.scope and person.scope != scope:
        return False
    if isinstance(wanted, Role):
        return person.has(wanted) or (
            person.name == "stranger" and not walking.PLACE.search(route)
        )
    return {
        NOBODY: False,
        ANYONE: True,
        SIGNED_IN: person.user is not None,
        MEMBER: person.role is not None or person.name == "stranger",
        OWNER: person.name == "insider",
        KEEPER: person.name == "insider" or person.has(Role.ADMIN),
        OPERATOR: person.name == "operator",
    }[wanted]


def _ask(
    walk: Walk,
    route: str,
    address: Address,
    person: Person,
    method: str,
    data: dict[str, Any],
    may_write: bool,
) -> None:
    path = address.path
    if method in ("get", "delete"):
        path += QUERIES.get(route, "")
    answer, text, statements = _sent(person, method, path, data)
    status = answer.status_code
    walk.asked += 1
    who = f"{person.name} {method} {path} {data.get('action', '')}"
    if status >= 500 and status != UNREACHABLE:
        walk.faults.append(f"{who}: {status}")
    if status >= 400 or status in (301, 302):
        walk.refused += 1
    elif person.name == "anonymous" and route not in PUBLIC:
        walk.faults.append(f"{who}: open to anybody")
    seen = _seen(person, route)
    for kind in CLASSES:
        marks = (f"zz{kind}zz", *MARKS.get(kind, ()))
        if kind not in seen and any(mark in text for mark in marks):
            walk.faults.append(f"{who}: leaks zz{kind}zz")
    if statements:
        walk.written[person.name] += 1
        if not may_write:
            walk.faults.append(f"{who} -> {person.name} wrote: {statements[0][:90]}")


def _seen(person: Person, route: str) -> frozenset[str]:
    """Return the classes of canaries that a person may see there."""
    is_structure = route.startswith(STRUCTURE) and person.has(Role.ADMIN)
    return person.sees | {"private"} if is_structure else person.sees


def _sent(
    person: Person, method: str, path: str, data: dict[str, Any]
) -> tuple[Any, str, list[str]]:
    """Return the answer, its text without what was asked for, and what was written,
    which is taken back."""
    statements: list[str] = []

    def heard(execute: Any, sql: Any, params: Any, many: bool, context: Any) -> Any:
        text = str(sql)
        if WRITES.match(text) and not NOISE.search(text[:200]):
            statements.append(text)
        return execute(sql, params, many, context)

    cookies = {key: each.value for key, each in person.client.cookies.items()}
    block = transaction.atomic()
    # As a test case's own: within it, too, what has to be outermost may begin.
    block._from_testcase = True  # type: ignore[attr-defined]
    with block:
        with connection.execute_wrapper(heard):
            answer = _answer(person.client, method, path, data)
            text = _text(answer)
        transaction.set_rollback(True)
    person.client.cookies = SimpleCookie(cookies)
    for echoed in re.findall(r"=(zz[^&]*)", path):
        text = text.replace(echoed, "")
    return answer, text, statements


def _answer(client: Any, method: str, path: str, data: dict[str, Any]) -> Any:
    if method == "get":
        return client.get(path)
    if path.startswith(f"/{API}"):
        return client.generic(
            method.upper(),
            path,
            json.dumps(data),
            content_type="application/json",
            # Whatever it is now: who may change it is asked here.
            HTTP_IF_MATCH="*",
        )
    return client.post(path, data)


async def _streamed(answer: Any) -> bytes:
    return b"".join([part async for part in answer])


def _text(answer: Any) -> str:
    if not answer.streaming:
        body = answer.content
    else:
        body = async_to_sync(_streamed)(answer) if answer.is_async else b"".join(answer)
    return (body.decode("utf-8", "replace") + str(answer.headers)).lower()
