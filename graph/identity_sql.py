"""SQL of persons and aliases: text only, one caller each."""

NAMES_OF_STALE_IDENTITIES = """
    SELECT i.node_id, name.said, count(*)
      FROM graph_identities i
      LEFT JOIN graph_evidence v ON v.tenant_id = i.tenant_id
       AND v.project_id = i.project_id AND v.node_id = i.node_id
       AND v.kind = 'said' AND v.quote <> ''
      LEFT JOIN LATERAL regexp_split_to_table(v.quote, E'\n') AS name (said) ON true
     WHERE i.tenant_id = %s AND i.project_id = %s AND i.names_stale
     GROUP BY i.node_id, name.said
"""
IDENTITIES = """
    SELECT i.node_id, i.key, i.side, i.address, i.names, i.person_id, i.reasons::text,
           n.audience_id, p.key, p.title, p.context, p.audience_id
      FROM graph_identities i JOIN graph_nodes n ON n.id = i.node_id
      JOIN graph_nodes p ON p.id = i.person_id
     WHERE i.tenant_id = %s AND i.project_id = %s
     ORDER BY i.key COLLATE "C"
"""
FORGET_IDENTITIES = """
    DELETE FROM graph_nodes n USING graph_identities i
     WHERE i.tenant_id = %s AND i.project_id = %s AND n.id = i.node_id
       AND NOT EXISTS (SELECT 1 FROM graph_evidence v
                        WHERE v.tenant_id = i.tenant_id AND v.project_id = i.project_id
                          AND v.node_id = i.node_id AND v.kind = 'said')
"""
FORGET_PERSONS = """
    DELETE FROM graph_nodes n
     WHERE n.tenant_id = %s AND n.project_id = %s AND n.node_type = 'person'
       AND n.origin = 'identity'
       AND NOT EXISTS (SELECT 1 FROM graph_identities i
                        WHERE i.tenant_id = n.tenant_id
                          AND i.project_id = n.project_id AND i.person_id = n.id)
"""
PERSONS_OF_NOBODY = """
    SELECT n.key FROM graph_nodes n
     WHERE n.tenant_id = %s AND n.project_id = %s AND n.node_type = 'person'
       AND n.origin = 'identity'
       AND NOT EXISTS (SELECT 1 FROM graph_identities i
                        WHERE i.tenant_id = n.tenant_id
                          AND i.project_id = n.project_id AND i.person_id = n.id)
     ORDER BY n.key COLLATE "C"
"""
FORGET_DOMAINS = """
    DELETE FROM graph_nodes n
     WHERE n.tenant_id = %s AND n.project_id = %s AND n.node_type = 'domain'
       AND n.origin = 'identity'
       AND NOT EXISTS (SELECT 1 FROM graph_edges e
                        WHERE e.tenant_id = n.tenant_id
                          AND e.project_id = n.project_id AND e.target_id = n.id)
"""
DOMAINS = """
    SELECT n.key, n.id, n.audience_id,
           EXISTS (SELECT 1 FROM graph_evidence v
                    WHERE v.tenant_id = n.tenant_id AND v.project_id = n.project_id
                      AND v.node_id = n.id)
      FROM graph_nodes n
     WHERE n.tenant_id = %s AND n.project_id = %s AND n.key = ANY(%s)
"""
FIRST_RECORDS = """
    SELECT v.node_id, min(v.record_id) FROM graph_evidence v
     WHERE v.tenant_id = %s AND v.project_id = %s AND v.node_id = ANY(%s)
       AND v.kind = 'said'
     GROUP BY v.node_id
"""
PERSON_EVIDENCE = """
    SELECT v.id, v.node_id, v.via_target FROM graph_evidence v
     WHERE v.tenant_id = %s AND v.project_id = %s AND v.kind = 'derived'
       AND v.part = 'identity' AND v.node_id IS NOT NULL
"""
DERIVED_EDGES = """
    SELECT e.id, e.source_id, e.relation, e.target_id, e.audience_id
      FROM graph_edges e
     WHERE e.tenant_id = %s AND e.project_id = %s
       AND e.relation IN ('has_email', 'from_domain') AND e.valid_to IS NULL
       AND EXISTS (SELECT 1 FROM graph_evidence v
                    WHERE v.tenant_id = e.tenant_id AND v.project_id = e.project_id
                      AND v.edge_id = e.id AND v.kind = 'derived')
"""
DELETE_UNPROVEN_DERIVED_EDGES = """
    DELETE FROM graph_edges e
     WHERE e.tenant_id = %s AND e.project_id = %s
       AND e.relation IN ('has_email', 'from_domain')
       AND NOT EXISTS (SELECT 1 FROM graph_evidence v
                        WHERE v.tenant_id = e.tenant_id
                          AND v.project_id = e.project_id AND v.edge_id = e.id)
"""
# What people or equal names merged comes before what records say stands for another.
_BEST = """
            SELECT named.key, named.target FROM (
                SELECT m.key, m.target, 0 AS rank FROM graph_merges m
                 WHERE m.tenant_id = %(tenant)s AND m.project_id = %(project)s
                   AND m.key = {key} AND m.undone_at IS NULL
                UNION ALL
                SELECT a.key, a.target, CASE WHEN a.own THEN 1 ELSE 2 END
                  FROM graph_aliases a
                 WHERE a.tenant_id = %(tenant)s AND a.project_id = %(project)s
                   AND a.key = {key}) named
             ORDER BY named.rank, named.target COLLATE "C" LIMIT 1
"""
BEST_ALIASES = f"""
    WITH RECURSIVE reach (key, target) AS (
        SELECT best.key, best.target
          FROM unnest(%(keys)s::text[]) AS wanted (key)
          CROSS JOIN LATERAL ({_BEST.format(key="wanted.key")}) best
        UNION
        SELECT best.key, best.target
          FROM reach CROSS JOIN LATERAL ({_BEST.format(key="reach.target")}) best
    ) SELECT reach.key, reach.target FROM reach
"""  # noqa: S608
ALIASED_TO = """
    WITH RECURSIVE below (key) AS (
        SELECT wanted.key FROM unnest(%(keys)s::text[]) AS wanted (key)
        UNION
        SELECT a.key FROM below JOIN graph_aliases a ON a.target = below.key
         WHERE a.tenant_id = %(tenant)s AND a.project_id = %(project)s
    ) SELECT below.key FROM below
"""
NODE_EVIDENCE_DRAFTED_AS = """
    WITH named (id, key) AS MATERIALIZED (
        SELECT n.id, n.key FROM graph_nodes n
         WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
           AND n.key = ANY(%(keys)s)
    )
    SELECT own.id, named.id, named.key
      FROM named CROSS JOIN LATERAL (
           SELECT v.id FROM graph_evidence v
            WHERE v.tenant_id = %(tenant)s AND v.project_id = %(project)s
              AND v.node_id = named.id AND v.via_target = '' AND v.kind = 'said'
           OFFSET 0) own
    UNION ALL
    SELECT v.id, v.node_id, v.via_target FROM graph_evidence v
     WHERE v.tenant_id = %(tenant)s AND v.project_id = %(project)s
       AND v.via_target = ANY(%(keys)s) AND v.via_target <> '' AND v.node_id IS NOT NULL
"""
MOVE_NODE_EVIDENCE = """
    UPDATE graph_evidence v SET node_id = d.node_id, via_target = d.via
      FROM unnest(%s::bigint[], %s::bigint[], %s::text[]) AS d (id, node_id, via)
     WHERE v.id = d.id
"""
EDGE_EVIDENCE_DRAFTED_AS = """
    WITH drafted (id) AS (
        SELECT v.id FROM graph_evidence v
         WHERE v.tenant_id = %(tenant)s AND v.project_id = %(project)s
           AND v.via_source = ANY(%(keys)s) AND v.via_source <> ''
        UNION
        SELECT v.id FROM graph_evidence v
         WHERE v.tenant_id = %(tenant)s AND v.project_id = %(project)s
           AND v.via_target = ANY(%(keys)s) AND v.via_target <> ''
        UNION
        SELECT v.id FROM graph_edges e
          JOIN graph_evidence v ON v.edge_id = e.id AND v.tenant_id = %(tenant)s
           AND v.project_id = %(project)s AND v.via_source = ''
         WHERE e.tenant_id = %(tenant)s AND e.project_id = %(project)s
           AND e.source_id = ANY(%(nodes)s)
        UNION
        SELECT v.id FROM graph_edges e
          JOIN graph_evidence v ON v.edge_id = e.id AND v.tenant_id = %(tenant)s
           AND v.project_id = %(project)s AND v.via_target = ''
         WHERE e.tenant_id = %(tenant)s AND e.project_id = %(project)s
           AND e.target_id = ANY(%(nodes)s)
    )
    SELECT v.id, v.record_id, e.id, e.source_id, e.relation, e.target_id, e.scope_id,
           v.weight, e.occurred_at, e.position, e.valid_from, r.audience_id,
           coalesce(nullif(v.via_source, ''), s.key),
           coalesce(nullif(v.via_target, ''), t.key),
           v.via_source, v.via_target
      FROM drafted JOIN graph_evidence v ON v.id = drafted.id
      JOIN graph_edges e ON e.id = v.edge_id
      JOIN graph_nodes s ON s.id = e.source_id
      JOIN graph_nodes t ON t.id = e.target_id
      JOIN graph_records r ON r.id = v.record_id
     WHERE v.kind = 'said'
"""
