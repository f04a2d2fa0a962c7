"""Persons in the database, as `graph.persons` says they are, after every run."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone
from psycopg.types.json import Jsonb

from connections.models import Project
from connections.records import clean_key
from graph import identity_sql
from graph.aliases import repoint
from graph.audiences import Audiences
from graph.copying import copy_rows, execute, fetch, new_ids
from graph.edges import EdgeClaim, GraphScope, Places, refresh_follows, write_edges
from graph.locks import lock_project
from graph.models import IdentityDecision
from graph.persons import Decision, Named, Person, persons

PERSON_COLUMNS = (
    "id", "tenant_id", "project_id", "audience_id", "key", "node_type", "title",
    "content", "context", "language", "tags", "metadata", "source_kind", "origin",
    "precedence", "created_at", "updated_at",
)
EVIDENCE_COLUMNS = (
    "id", "tenant_id", "project_id", "record_id", "node_id", "kind", "part", "quote",
    "weight", "via_source", "via_target",
)


@dataclass(frozen=True, slots=True)
class Held:
    """An identity as the database has it, and the person it is held to be."""

    node_id: int
    key: str
    side: str
    address: str
    names: tuple[str, ...]
    person_id: int
    reasons: list[dict[str, str]]
    audience_id: int
    person_key: str
    person_title: str
    person_context: str
    person_audience: int


@dataclass(frozen=True, slots=True)
class Wanted:
    """A person as it should be: its node's fields, and its identities."""

    key: str
    title: str
    context: str
    audience_id: int
    members: tuple[Held, ...]
    person: Person


def refresh_persons(project: Project) -> None:
    """Make the persons of `project` those that its identities add up to.

    Edges and evidence move with the identities, in one transaction; where nothing
    changed, nothing is written.
    """
    scope = GraphScope(project, Audiences(project), timezone.now())
    with transaction.atomic():
        lock_project(project)
        execute(identity_sql.FORGET_IDENTITIES, scope.key)
        _refresh_names(scope)
        held = _held(scope)
        wanted = _wanted(scope, held)
        ids = _person_ids(scope, wanted, held)
        _move(scope, wanted, ids)
        _describe(scope, wanted, ids)
        _prove(scope, held, {m.key: ids[w.key] for w in wanted for m in w.members})
        _draw_derived(scope, wanted, ids)
        execute(identity_sql.FORGET_PERSONS, scope.key)
        execute(identity_sql.FORGET_DOMAINS, scope.key)


def _refresh_names(scope: GraphScope) -> None:
    counted: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for node, name, count in fetch(identity_sql.NAMES_OF_STALE_IDENTITIES, scope.key):
        if name and name.strip():
            counted[node].append((-count, name.strip()))
        else:
            counted[node]  # known by no name any more
    with_names = [
        (node, [name for _, name in sorted(names)][:20])
        for node, names in counted.items()
    ]
    for node, names in with_names:
        execute(
            "UPDATE graph_identities SET names = %s WHERE node_id = %s", [names, node]
        )
    execute(
        "UPDATE graph_identities SET names_stale = false"
        " WHERE tenant_id = %s AND project_id = %s AND names_stale",
        scope.key,
    )


def _held(scope: GraphScope) -> list[Held]:
    return [
        Held(node, key, side, address, tuple(names), person, json.loads(why), *rest)
        for node, key, side, address, names, person, why, *rest in fetch(identity_sql.IDENTITIES, scope.key)
    ]


def _wanted(scope: GraphScope, held: Sequence[Held]) -> list[Wanted]:
    by_key = {identity.key: identity for identity in held}
    decisions = [
        Decision(d.verb, d.first_key, d.second_key)
        for d in IdentityDecision.objects.filter(project=scope.project)
    ]
    found = persons(
        [Named(h.key, h.side, h.address, h.names) for h in held], decisions
    )
    wanted = []
    for person in found:
        members = tuple(by_key[key] for key in person.identities)
        title = _title(members)
        wanted.append(
            Wanted(
                key=clean_key(person.key),
                title=title,
                context=_context(members, title),
                audience_id=scope.audiences.any_of({m.audience_id for m in members}),
                members=members,
                person=person,
            )
        )
    return wanted


def _title(members: Sequence[Held]) -> str:
    """Return the name people use most: of an account first, then of mail."""
    for side in ("chat", "mail", "name"):
        for member in members:
            if member.side == side and member.names:
                return member.names[0]
    address = next((m.address for m in members if m.address), "")
    return address or members[0].key.partition(":")[2]


def _context(members: Sequence[Held], title: str) -> str:
    names = {name for member in members for name in member.names} - {title}
    addresses = {member.address for member in members if member.address}
    return " · ".join([*sorted(names), *sorted(addresses)])[:6000]


def _person_ids(
    scope: GraphScope, wanted: Sequence[Wanted], held: Sequence[Held]
) -> dict[str, int]:
    ids = {h.person_key: h.person_id for h in held}
    missing = [w for w in wanted if w.key not in ids]
    found = fetch(
        "SELECT n.key, n.id FROM graph_nodes n"
        " WHERE n.tenant_id = %s AND n.project_id = %s AND n.key = ANY(%s)",
        [*scope.key, [w.key for w in missing]],
    )
    ids.update(found)
    missing = [w for w in missing if w.key not in ids]
    made = new_ids("graph_nodes", len(missing))
    copy_rows(
        "graph_nodes",
        PERSON_COLUMNS,
        (_node_row(scope, i, w.key, "person", w) for i, w in zip(made, missing, strict=True)),
    )
    return ids | {w.key: i for w, i in zip(missing, made, strict=True)}


def _node_row(
    scope: GraphScope, node: int, key: str, node_type: str, wanted: Wanted
) -> tuple[Any, ...]:
    return (
        node, *scope.key, wanted.audience_id, key, node_type, wanted.title, "",
        wanted.context, scope.project.language, [], Jsonb({}), "", "identity", 0.0,
        scope.now, scope.now,
    )


def _move(
    scope: GraphScope, wanted: Sequence[Wanted], ids: Mapping[str, int]
) -> None:
    moved = {
        member.key: ids[w.key]
        for w in wanted
        for member in w.members
        if member.person_id != ids[w.key]
    }
    reasons = {
        member.key: (member, _reasons(w.person, member.key))
        for w in wanted
        for member in w.members
    }
    for key, (member, why) in reasons.items():
        if key in moved or member.reasons != why:
            execute(
                "UPDATE graph_identities SET person_id = %s, reasons = %s"
                " WHERE node_id = %s",
                [moved.get(key, member.person_id), Jsonb(why), member.node_id],
            )
    if moved:
        places = Places()
        repoint(
            scope, moved, moved.__getitem__, lambda key: "", places, move_nodes=False
        )
        refresh_follows(scope, places)


def _reasons(person: Person, key: str) -> list[dict[str, str]]:
    return [
        {"with": link.second if link.first == key else link.first, "because": link.because}
        for link in person.links
        if key in (link.first, link.second)
    ]


def _describe(
    scope: GraphScope, wanted: Sequence[Wanted], ids: Mapping[str, int]
) -> None:
    for w in wanted:
        first = w.members[0]
        is_same = (first.person_id, first.person_title, first.person_context,
                   first.person_audience) == (ids[w.key], w.title, w.context, w.audience_id)
        if not is_same:
            execute(
                "UPDATE graph_nodes SET title = %(title)s, context = %(context)s,"
                " audience_id = %(audience)s, updated_at = now() WHERE id = %(id)s"
                " AND (title, context, audience_id)"
                "     IS DISTINCT FROM (%(title)s, %(context)s, %(audience)s)",
                {
                    "title": w.title, "context": w.context,
                    "audience": w.audience_id, "id": ids[w.key],
                },
            )


def _prove(scope: GraphScope, held: Sequence[Held], person_of: Mapping[str, int]) -> None:
    """Give each person one piece of evidence for each identity, and no other."""
    proven, wrong = set(), []
    for evidence, node, via in fetch(identity_sql.PERSON_EVIDENCE, scope.key):
        if person_of.get(via) == node:
            proven.add(via)
        else:
            wrong.append(evidence)
    execute("DELETE FROM graph_evidence WHERE id = ANY(%s)", [wrong])
    missing = [h for h in held if h.key not in proven]
    first = dict(fetch(identity_sql.FIRST_RECORDS, [*scope.key, [h.node_id for h in missing]]))
    rows = [(h, first[h.node_id]) for h in missing if h.node_id in first]
    _write_proof(
        scope,
        [(record, person_of[h.key], "identity", h.key) for h, record in rows],
    )


def _write_proof(
    scope: GraphScope, rows: Sequence[tuple[int, int, str, str]]
) -> None:
    ids = new_ids("graph_evidence", len(rows))
    copy_rows(
        "graph_evidence",
        EVIDENCE_COLUMNS,
        (
            (i, *scope.key, record, node, "derived", part, "", 1.0, "", via)
            for i, (record, node, part, via) in zip(ids, rows, strict=True)
        ),
    )


def _draw_derived(
    scope: GraphScope, wanted: Sequence[Wanted], ids: Mapping[str, int]
) -> None:
    """Draw has_email and from_domain from each person to their addresses' nodes."""
    execute(identity_sql.DELETE_UNPROVEN_DERIVED_EDGES, scope.key)
    mail = [(ids[w.key], m) for w in wanted for m in w.members if m.side == "mail"]
    domains = _domains(scope, [m for _, m in mail])
    aims: dict[tuple[int, str, int], list[Held]] = defaultdict(list)
    for person, member in mail:
        aims[person, "has_email", member.node_id].append(member)
        if domain := domains.get(_domain(member.address)):
            aims[person, "from_domain", domain].append(member)
    audience = {
        aim: scope.audiences.any_of({m.audience_id for m in members})
        for aim, members in aims.items()
    }
    existing = {row[1:4]: row for row in fetch(identity_sql.DERIVED_EDGES, scope.key)}
    wrong = [row[0] for identity, row in existing.items() if identity not in aims]
    execute("DELETE FROM graph_edges WHERE id = ANY(%s)", [wrong])
    for aim, row in existing.items():
        if aim in aims and row[4] != audience[aim]:
            execute(
                "UPDATE graph_edges SET audience_id = %s WHERE id = %s",
                [audience[aim], row[0]],
            )
    new = {aim: members[0] for aim, members in aims.items() if aim not in existing}
    first = dict(
        fetch(identity_sql.FIRST_RECORDS, [*scope.key, [m.node_id for m in new.values()]])
    )
    claims = [
        EdgeClaim(
            record_id=first[member.node_id], source_id=person, relation=relation,
            target_id=target, audience_id=audience[person, relation, target],
            kind="derived",
        )
        for (person, relation, target), member in new.items()
        if member.node_id in first
    ]
    write_edges(scope, claims, Places())


def _domain(address: str) -> str:
    return address.rpartition("@")[2].lower() if "@" in address else ""


def _domains(scope: GraphScope, members: Sequence[Held]) -> dict[str, int]:
    """Return the nodes of the members' domains, made where missing."""
    audiences: dict[str, set[int]] = defaultdict(set)
    sample: dict[str, Held] = {}
    for member in members:
        if name := _domain(member.address):
            audiences[name].add(member.audience_id)
            sample.setdefault(name, member)
    keys = {clean_key(f"domain:{name}"): name for name in audiences}
    found = fetch(
        "SELECT n.key, n.id, n.audience_id FROM graph_nodes n"
        " WHERE n.tenant_id = %s AND n.project_id = %s AND n.key = ANY(%s)",
        [*scope.key, list(keys)],
    )
    ids = {keys[key]: node for key, node, _ in found}
    for key, node, audience in found:
        shared = scope.audiences.any_of(audiences[keys[key]])
        if shared != audience:
            execute(
                "UPDATE graph_nodes SET audience_id = %s WHERE id = %s", [shared, node]
            )
    missing = sorted(set(audiences) - set(ids))
    made = dict(zip(missing, new_ids("graph_nodes", len(missing)), strict=True))
    copy_rows(
        "graph_nodes",
        PERSON_COLUMNS,
        (
            (
                node, *scope.key, scope.audiences.any_of(audiences[name]),
                clean_key(f"domain:{name}"), "domain", name, "", "",
                scope.project.language, [], Jsonb({}), "", "identity", 0.0,
                scope.now, scope.now,
            )
            for name, node in made.items()
        ),
    )
    first = dict(
        fetch(identity_sql.FIRST_RECORDS, [*scope.key, [sample[n].node_id for n in missing]])
    )
    _write_proof(
        scope,
        [(first[sample[n].node_id], made[n], "domain", "") for n in missing],
    )
    return ids | made
