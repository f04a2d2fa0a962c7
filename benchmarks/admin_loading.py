"""A graph of any size for the admin's lists, made by the database itself.

Lists read titles, keys, types and dates, so that there are no vectors and short texts.
Two projects, one of chat and under its ids a small one of mail, whose types, relations
and kinds no newer row has: a list that walks back from the newest would walk far. One
node in twenty belongs to a channel that its reader is not in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from psycopg import Connection
from psycopg.sql import SQL, Identifier

from benchmarks.database import server
from benchmarks.load import bare
from benchmarks.report import progress
from connections.management.base import create_project
from connections.models import Audience, Project, Role, Source, User

SMALL_SHARE, CLOSED_EACH, GONE_EACH, PERSON_EACH = 0.1, 20, 500, 200
CHAT = {"type": "message", "kind": "slack", "relation": "follows"}
MAIL = {"type": "email", "kind": "mail", "relation": "replied_to"}
TABLES = ("graph_nodes", "graph_edges", "graph_records", "graph_evidence")

WORDS = """
    CREATE TEMP TABLE words ON COMMIT PRESERVE ROWS AS
    SELECT n, substr(translate(md5(n::text), '0123456789', 'aeiouaeiou'), 1, 4 + n % 7)
              AS word
      FROM generate_series(0, 19999) n
"""
RECORDS = """
    INSERT INTO graph_records (
        tenant_id, project_id, audience_id, source_id, key, kind, body, content_hash,
        raw_sha256, permalink, occurred_at, version, counted, moved_to,
        first_fetched_at, gone_at)
    SELECT %(tenant)s, %(project)s,
           CASE WHEN n %% %(closed)s = 0 THEN %(hidden)s ELSE %(open)s END,
           %(source)s, 'slack:C' || n %% 40 || ':' || n, 'message', '', '', '', '',
           now() - n * interval '31 seconds', 0, true, '',
           now() - n * interval '9 seconds',
           CASE WHEN n %% %(gone)s = 0 THEN now() END
      FROM generate_series(1, %(size)s) n
"""
NODES = """
    INSERT INTO graph_nodes (
        tenant_id, project_id, audience_id, record_id, key, node_type, title, content,
        context, language, tags, metadata, source_kind, origin, precedence,
        occurred_at, gone_at, created_at, updated_at)
    SELECT r.tenant_id, r.project_id, r.audience_id, r.id, r.key,
           CASE WHEN r.id %% %(persons)s = 0 THEN 'person'
                WHEN r.id %% 97 = 0 THEN 'decision'
                WHEN r.id %% 5 = 0 THEN 'section' ELSE %(type)s END,
           one.word || ' ' || two.word || ' ' || three.word, '', '', 'simple', '{}',
           '{}', %(kind)s, 'source', 0,
           r.occurred_at, r.gone_at, r.first_fetched_at, r.first_fetched_at
      FROM graph_records r
      JOIN words one ON one.n = (r.id * 7919) %% 20000
      JOIN words two ON two.n = (r.id * r.id) %% 499
      JOIN words three ON three.n = (r.id / 13) %% 20000
     WHERE r.tenant_id = %(tenant)s AND r.project_id = %(project)s
"""
EDGES = """
    INSERT INTO graph_edges (
        tenant_id, project_id, audience_id, source_id, relation, target_id, weight,
        origin, occurred_at, created_at)
    SELECT n.tenant_id, n.project_id, n.audience_id, n.id,
           CASE WHEN step.far = 1 THEN %(relation)s ELSE 'mentions' END,
           %(first)s + (n.id * step.far * 31 + 1) %% %(size)s, 1, 'source',
           n.occurred_at, n.created_at
      FROM graph_nodes n CROSS JOIN (VALUES (1), (1009)) step (far)
     WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
"""
EVIDENCE = """
    INSERT INTO graph_evidence (
        tenant_id, project_id, record_id, node_id, kind, part, quote, weight,
        via_source, via_target)
    SELECT n.tenant_id, n.project_id, n.record_id, n.id, 'said', '', '', 1, '', ''
      FROM graph_nodes n
     WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
"""
STALE = """
    INSERT INTO graph_review_items (
        tenant_id, project_id, audience_id, kind, subject, node_id, fingerprint, why,
        detail, uses, priority, state, version, flagged_at, changed_at)
    SELECT n.tenant_id, n.project_id, n.audience_id, 'stale', 'node:' || n.key, n.id,
           '', 'It is old.', '{}', 0, 1, 'open', 0, now(), now()
      FROM graph_nodes n
     WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
       AND n.node_type = 'decision'
"""
FIRST = "SELECT min(n.id) FROM graph_nodes n WHERE n.project_id = %(project)s"


@dataclass(frozen=True, slots=True)
class Lists:
    """Whose lists are read: a superuser of both projects, in no closed channel."""

    user: User
    big: Project
    small: Project


def load_lists(size: int) -> Lists:
    """Fill two projects with `size` nodes in all, and return who reads them."""
    small = max(1, int(size * SMALL_SHARE))
    with server() as owner:
        owner.execute(WORDS)
        owner.execute("SET synchronous_commit = off")
        with bare(owner):
            # The small one lies under the other's ids, where no list begins.
            _fill(owner, create_project("lists/small"), small, MAIL)
            _fill(owner, create_project("lists/big"), size - small, CHAT)
        for table in TABLES:
            owner.execute(SQL("VACUUM (ANALYZE) {}").format(Identifier(table)))
    return found_lists()


def found_lists() -> Lists:
    """Return what `load_lists` made, now or in an earlier run."""
    user, _ = User.objects.get_or_create(
        email="desk@acme.test",
        defaults={"is_staff": True, "is_superuser": True, "name": "Desk"},
    )
    big, small = (Project.objects.named(f"lists/{name}") for name in ("big", "small"))
    for project in (big, small):
        project.memberships.get_or_create(user=user, defaults={"role": Role.ADMIN})
    return Lists(user, big, small)


def _fill(
    owner: Connection, project: Project, size: int, what: Mapping[str, str]
) -> None:
    scope = {"tenant": project.tenant, "project": project}
    audiences = [
        Audience.objects.create(**scope, kind=kind, key=key)
        for kind, key in (("public", ""), ("members", "channel:closed"))
    ]
    source = Source.objects.create(**scope, kind="slack", name="lists", location="/")
    bound = {
        "tenant": project.tenant_id,
        "project": project.pk,
        "open": audiences[0].pk,
        "hidden": audiences[1].pk,
        "source": source.pk,
        "size": size,
        **what,
        "closed": CLOSED_EACH,
        "gone": GONE_EACH,
        "persons": PERSON_EACH,
    }
    for statement in (RECORDS, NODES):
        progress(f"{project.path}: {statement.split('(', maxsplit=1)[0].strip()}")
        owner.execute(statement, bound)
    bound["first"] = (owner.execute(FIRST, bound).fetchone() or (1,))[0]
    for statement in (EDGES, EVIDENCE, STALE):
        progress(f"{project.path}: {statement.split('(', maxsplit=1)[0].strip()}")
        owner.execute(statement, bound)
