"""SQL of what finders look for: text only, one caller each.

Every search goes through a project's nodes by id, a page a statement.
"""

from __future__ import annotations

from graph.models.node import CLAIMS
from graph.staleness_sql import AGE_DAYS, IS_STALE, LATEST, THRESHOLD

# As the index has it: the planner has to see the names.
_CLAIMS = ", ".join(f"'{name}'" for name in CLAIMS)
NAME = "left(coalesce(nullif(n.title, ''), nullif(n.content, ''), n.key), 200)"
_CURRENT = """n.trashed_at IS NULL
       AND (n.valid_to IS NULL OR n.valid_to > %(now)s)"""
_PAGE = "ORDER BY n.id LIMIT %(most)s"

STALE_CLAIMS = f"""
    SELECT n.id, n.key, n.node_type, {NAME}, n.audience_id, {LATEST},
           {AGE_DAYS}, {THRESHOLD}, md5(n.title || chr(1) || n.content)
      FROM graph_nodes n
     WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
       AND n.id > %(after)s AND n.node_type IN ({_CLAIMS})
       AND {_CURRENT} AND {IS_STALE}
     {_PAGE}
"""  # noqa: S608
# What a node rests on, in one number that no order changes.
EVIDENCE = """
    SELECT v.node_id, count(*),
           bit_xor(hashtextextended(
               concat_ws(chr(1), v.record_id, v.kind, v.part, v.quote), 0))
      FROM graph_evidence v
     WHERE v.tenant_id = %s AND v.project_id = %s AND v.node_id = ANY(%s)
     GROUP BY v.node_id
"""
# At most so many of a hub in each direction: more would not change what comes first.
LIVE_EDGES = """
    SELECT w.id, count(e.id)
      FROM unnest(%(nodes)s::bigint[]) AS w (id)
     CROSS JOIN LATERAL (
           (SELECT o.id FROM graph_edges o
             WHERE o.tenant_id = %(tenant)s AND o.project_id = %(project)s
               AND o.source_id = w.id AND (o.valid_to IS NULL OR o.valid_to > now())
             LIMIT %(most)s)
           UNION ALL
           (SELECT i.id FROM graph_edges i
             WHERE i.tenant_id = %(tenant)s AND i.project_id = %(project)s
               AND i.target_id = w.id AND i.source_id <> w.id
               AND (i.valid_to IS NULL OR i.valid_to > now())
             LIMIT %(most)s)) AS e
     GROUP BY w.id
"""
VANISHED = f"""
    SELECT n.id, n.key, n.node_type, {NAME}, n.audience_id, n.gone_at
      FROM graph_nodes n
     WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
       AND n.id > %(after)s AND n.gone_at IS NOT NULL AND {_CURRENT}
     {_PAGE}
"""  # noqa: S608
# Live edges that something else than its own record, and still there, says of a node.
SAID_BY_OTHERS = """
    SELECT w.id, count(*)
      FROM unnest(%(nodes)s::bigint[]) AS w (id)
      JOIN graph_nodes n ON n.id = w.id
       AND n.tenant_id = %(tenant)s AND n.project_id = %(project)s
     CROSS JOIN LATERAL (
           SELECT e.id FROM graph_edges e
            WHERE e.tenant_id = n.tenant_id AND e.project_id = n.project_id
              AND (e.source_id = n.id OR e.target_id = n.id)
              AND (e.valid_to IS NULL OR e.valid_to > now())
              AND EXISTS (
                    SELECT 1 FROM graph_evidence v
                      JOIN graph_records r ON r.id = v.record_id
                     WHERE v.tenant_id = e.tenant_id AND v.project_id = e.project_id
                       AND v.edge_id = e.id AND r.gone_at IS NULL
                       AND NOT EXISTS (
                             SELECT 1 FROM graph_evidence own
                              WHERE own.tenant_id = n.tenant_id
                                AND own.project_id = n.project_id
                                AND own.node_id = n.id AND own.kind = 'said'
                                AND own.record_id = r.id))
            LIMIT %(most)s) AS e
     GROUP BY w.id
"""
# Claims read out of texts that rest on few pieces of evidence.
EXTRACTED = f"""
    SELECT n.id, n.key, n.node_type, {NAME}, n.audience_id
      FROM graph_nodes n
     WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
       AND n.id > %(after)s AND n.node_type IN ({_CLAIMS})
       AND n.origin = 'extraction' AND {_CURRENT}
       AND (SELECT count(*) FROM (
             SELECT 1 FROM graph_evidence v
              WHERE v.tenant_id = n.tenant_id AND v.project_id = n.project_id
                AND v.node_id = n.id LIMIT %(enough)s) AS few) < %(enough)s
     {_PAGE}
"""  # noqa: S608
# What each rests on, and whether a model read its text besides the rules.
PIECES = """
    SELECT v.node_id, v.record_id, r.audience_id, v.kind, v.quote,
           EXISTS (SELECT 1 FROM graph_extracted_texts x
                    WHERE x.tenant_id = v.tenant_id AND x.project_id = v.project_id
                      AND x.record_id = v.record_id
                      AND position('+' IN x.extractor) > 0)
      FROM graph_evidence v JOIN graph_records r ON r.id = v.record_id
     WHERE v.tenant_id = %s AND v.project_id = %s AND v.node_id = ANY(%s)
     ORDER BY v.node_id, v.record_id, v.part, v.id
"""
IDENTITIES = """
    SELECT i.key, i.side, i.address, i.names, i.person_id, n.audience_id,
           p.key, p.title, p.audience_id
      FROM graph_identities i
      JOIN graph_nodes n ON n.id = i.node_id
      JOIN graph_nodes p ON p.id = i.person_id
     WHERE i.tenant_id = %(tenant)s AND i.project_id = %(project)s
       AND n.trashed_at IS NULL AND p.trashed_at IS NULL
       AND (p.valid_to IS NULL OR p.valid_to > %(now)s)
     ORDER BY i.key COLLATE "C"
"""
