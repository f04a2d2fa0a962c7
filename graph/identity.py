"""Persons in the database, as `graph.persons` says they are, after every run."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence

from django.db import transaction
from django.utils import timezone
from psycopg.types.json import Jsonb

from connections.models import Project
from connections.records import clean_key
from graph import identity_sql
from graph.addresses import draw_addresses
from graph.aliases import repoint
from graph.audiences import Audiences
from graph.copying import execute, fetch, new_ids
from graph.edges import GraphScope, Places, refresh_follows
from graph.locks import lock_project
from graph.models import IdentityDecision
from graph.person_rows import Held, Wanted, write_nodes, write_proof
from graph.persons import Decision, Named, Person, persons


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
        draw_addresses(scope, wanted, ids)
        execute(identity_sql.FORGET_PERSONS, scope.key)
        execute(identity_sql.FORGET_DOMAINS, scope.key)


def misplaced(project: Project) -> list[str]:
    """Return the identities that are with another person than they add up to, and the
    persons that have none."""
    scope = GraphScope(project, Audiences(project), timezone.now())
    wrong = [
        f"{member.key} is {member.person_key}, not {wanted.key}"
        for wanted in _wanted(scope, _held(scope))
        for member in wanted.members
        if member.person_key != wanted.key
    ]
    empty = fetch(identity_sql.PERSONS_OF_NOBODY, scope.key)
    return [*wrong, *(f"{key} has no identity" for (key,) in empty)]


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
        for node, key, side, address, names, person, why, *rest in fetch(
            identity_sql.IDENTITIES, scope.key
        )
    ]


def _wanted(scope: GraphScope, held: Sequence[Held]) -> list[Wanted]:
    by_key = {identity.key: identity for identity in held}
    decisions = [
        Decision(d.verb, d.first_key, d.second_key)
        for d in IdentityDecision.objects.filter(project=scope.project)
    ]
    found = persons([Named(h.key, h.side, h.address, h.names) for h in held], decisions)
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
    write_nodes(
        scope,
        "person",
        [
            (i, w.audience_id, w.key, w.title, w.context)
            for i, w in zip(made, missing, strict=True)
        ],
    )
    return ids | {w.key: i for w, i in zip(missing, made, strict=True)}


def _move(scope: GraphScope, wanted: Sequence[Wanted], ids: Mapping[str, int]) -> None:
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
        {
            "with": link.second if link.first == key else link.first,
            "because": link.because,
        }
        for link in person.links
        if key in (link.first, link.second)
    ]


def _describe(
    scope: GraphScope, wanted: Sequence[Wanted], ids: Mapping[str, int]
) -> None:
    for w in wanted:
        first = w.members[0]
        is_same = (
            first.person_id,
            first.person_title,
            first.person_context,
            first.person_audience,
        ) == (ids[w.key], w.title, w.context, w.audience_id)
        if not is_same:
            execute(
                "UPDATE graph_nodes SET title = %(title)s, context = %(context)s,"
                " audience_id = %(audience)s, updated_at = now() WHERE id = %(id)s"
                " AND (title, context, audience_id)"
                "     IS DISTINCT FROM (%(title)s, %(context)s, %(audience)s)",
                {
                    "title": w.title,
                    "context": w.context,
                    "audience": w.audience_id,
                    "id": ids[w.key],
                },
            )


def _prove(
    scope: GraphScope, held: Sequence[Held], person_of: Mapping[str, int]
) -> None:
    """Give each person one piece of evidence for each identity, and no other."""
    proven, wrong = set(), []
    for evidence, node, via in fetch(identity_sql.PERSON_EVIDENCE, scope.key):
        if person_of.get(via) == node:
            proven.add(via)
        else:
            wrong.append(evidence)
    execute("DELETE FROM graph_evidence WHERE id = ANY(%s)", [wrong])
    missing = [h for h in held if h.key not in proven]
    first = dict(
        fetch(identity_sql.FIRST_RECORDS, [*scope.key, [h.node_id for h in missing]])
    )
    rows = [(h, first[h.node_id]) for h in missing if h.node_id in first]
    write_proof(
        scope,
        [(record, person_of[h.key], "identity", h.key) for h, record in rows],
    )
