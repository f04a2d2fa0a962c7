"""Addresses and domains of persons: the edges that follow from their identities."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from connections.records import clean_key
from graph import identity_sql
from graph.copying import execute, fetch, new_ids
from graph.edges import EdgeClaim, GraphScope, Places, write_edges
from graph.person_rows import Held, Wanted, write_nodes, write_proof


def draw_addresses(
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
        fetch(
            identity_sql.FIRST_RECORDS, [*scope.key, [m.node_id for m in new.values()]]
        )
    )
    claims = [
        EdgeClaim(
            record_id=first[member.node_id],
            source_id=person,
            relation=relation,
            target_id=target,
            audience_id=audience[person, relation, target],
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
    found = fetch(identity_sql.DOMAINS, [*scope.key, list(keys)])
    ids = {keys[key]: node for key, node, _, _ in found}
    for key, node, audience, _ in found:
        shared = scope.audiences.any_of(audiences[keys[key]])
        if shared != audience:
            execute(
                "UPDATE graph_nodes SET audience_id = %s WHERE id = %s", [shared, node]
            )
    missing = sorted(set(audiences) - set(ids))
    made = dict(zip(missing, new_ids("graph_nodes", len(missing)), strict=True))
    write_nodes(
        scope,
        "domain",
        [
            (
                node,
                scope.audiences.any_of(audiences[name]),
                clean_key(f"domain:{name}"),
                name,
                "",
            )
            for name, node in made.items()
        ],
    )
    ids |= made
    # Erasing the record it was proven by leaves a domain to its other addresses.
    bare = [keys[key] for key, _, _, is_proven in found if not is_proven] + missing
    first = dict(
        fetch(
            identity_sql.FIRST_RECORDS,
            [*scope.key, [sample[n].node_id for n in bare]],
        )
    )
    write_proof(
        scope,
        [(first[sample[n].node_id], ids[n], "domain", "") for n in bare],
    )
    return ids
