"""SQL of merging nodes and of taking that back: text only, one caller each."""

# What a key stands for by people's word or by its name, through several merges.
RESOLVED = """
    WITH RECURSIVE reach (key, target) AS (
        SELECT m.key, m.target FROM graph_merges m
         WHERE m.tenant_id = %(tenant)s AND m.project_id = %(project)s
           AND m.key = ANY(%(keys)s) AND m.undone_at IS NULL
        UNION
        SELECT reach.key, m.target
          FROM reach JOIN graph_merges m ON m.tenant_id = %(tenant)s
           AND m.project_id = %(project)s AND m.key = reach.target
           AND m.undone_at IS NULL
    )
    SELECT reach.key, reach.target FROM reach
     WHERE NOT EXISTS (SELECT 1 FROM graph_merges m
                        WHERE m.tenant_id = %(tenant)s
                          AND m.project_id = %(project)s AND m.key = reach.target
                          AND m.undone_at IS NULL)
"""
EDGES_TOUCHING = """
    SELECT e.id, e.source_id, e.relation, e.target_id, e.scope_id, e.valid_from,
           e.valid_to, e.origin
      FROM graph_edges e
     WHERE e.tenant_id = %(tenant)s AND e.project_id = %(project)s
       AND (e.source_id = ANY(%(nodes)s) OR e.target_id = ANY(%(nodes)s))
     ORDER BY e.id
"""
EDGES_BETWEEN = """
    SELECT e.id, e.source_id, e.relation, e.target_id, e.scope_id, e.valid_from,
           e.valid_to, e.origin
      FROM unnest(%s::bigint[], %s::text[], %s::bigint[])
           AS wanted (source_id, relation, target_id)
      JOIN graph_edges e ON e.source_id = wanted.source_id
       AND e.relation = wanted.relation AND e.target_id = wanted.target_id
     WHERE e.tenant_id = %s AND e.project_id = %s
"""
# The record named the node that goes: its evidence keeps that name, so that what it
# says is found again, and goes back where the merge is taken back.
KEEP_NAMES_OF_ENDS = """
    UPDATE graph_evidence v
       SET via_source = CASE WHEN v.via_source = '' AND s.id = ANY(%(nodes)s)
                             THEN s.key ELSE v.via_source END,
           via_target = CASE WHEN v.via_target = '' AND t.id = ANY(%(nodes)s)
                             THEN t.key ELSE v.via_target END
      FROM graph_edges e
      JOIN graph_nodes s ON s.id = e.source_id
      JOIN graph_nodes t ON t.id = e.target_id
     WHERE v.tenant_id = %(tenant)s AND v.project_id = %(project)s
       AND v.edge_id = e.id AND v.kind = 'said' AND e.id = ANY(%(edges)s)
"""
FORGET_NAMES_OF_ENDS = """
    UPDATE graph_evidence v
       SET via_source = CASE WHEN v.via_source = s.key THEN '' ELSE v.via_source END,
           via_target = CASE WHEN v.via_target = t.key THEN '' ELSE v.via_target END
      FROM graph_edges e
      JOIN graph_nodes s ON s.id = e.source_id
      JOIN graph_nodes t ON t.id = e.target_id
     WHERE v.tenant_id = %(tenant)s AND v.project_id = %(project)s
       AND v.edge_id = e.id AND v.kind = 'said' AND e.id = ANY(%(edges)s)
"""
_DROPPED = """
    RETURNING v.id, v.record_id, v.node_id, v.edge_id, v.kind, v.part, v.start,
              v."end", v.quote, v.weight, v.via_source, v.via_target,
              v.assertion::text
"""
# One record says one thing once, also where it named it by two names.
DROP_DOUBLE_EDGE_EVIDENCE = f"""
    WITH moving (edge_id, into_id) AS (
        SELECT d.edge_id, d.into_id
          FROM unnest(%(edges)s::bigint[], %(into)s::bigint[])
               AS d (edge_id, into_id)
    ), said (id, place) AS (
        SELECT o.id, row_number() OVER (
                   PARTITION BY coalesce(moving.into_id, o.edge_id), o.record_id,
                                o.part, o.via_source, o.via_target
                   ORDER BY moving.into_id IS NOT NULL, o.id)
          FROM graph_evidence o LEFT JOIN moving ON moving.edge_id = o.edge_id
         WHERE o.tenant_id = %(tenant)s AND o.project_id = %(project)s
           AND (o.edge_id = ANY(%(edges)s) OR o.edge_id = ANY(%(into)s))
    )
    DELETE FROM graph_evidence v USING said WHERE v.id = said.id AND said.place > 1
    {_DROPPED}
"""  # noqa: S608
MOVE_EDGE_EVIDENCE = """
    UPDATE graph_evidence v SET edge_id = d.into_id
      FROM (SELECT o.id, o.edge_id AS was, m.into_id
              FROM unnest(%(edges)s::bigint[], %(into)s::bigint[])
                   AS m (edge_id, into_id)
              JOIN graph_evidence o ON o.tenant_id = %(tenant)s
               AND o.project_id = %(project)s AND o.edge_id = m.edge_id) d
     WHERE v.id = d.id
    RETURNING v.id, d.was
"""
# An edge from a node to itself says nothing; what a record said waits, as for an end
# that has not arrived, until the two are apart again.
LET_LOOPS_WAIT = """
    INSERT INTO graph_pending_edges (tenant_id, project_id, record_id, source_key,
           relation, target_key, draft)
    SELECT v.tenant_id, v.project_id, v.record_id,
           coalesce(nullif(v.via_source, ''), s.key), e.relation,
           coalesce(nullif(v.via_target, ''), t.key),
           jsonb_build_object('weight', v.weight, 'quote', v.quote,
               'otherwise', '[]'::jsonb, 'position', e.position::text,
               'occurred_at', e.occurred_at, 'valid_from', e.valid_from)
      FROM graph_evidence v JOIN graph_edges e ON e.id = v.edge_id
      JOIN graph_nodes s ON s.id = e.source_id
      JOIN graph_nodes t ON t.id = e.target_id
     WHERE v.tenant_id = %(tenant)s AND v.project_id = %(project)s
       AND v.edge_id = ANY(%(edges)s) AND v.kind = 'said'
    ON CONFLICT DO NOTHING
"""
DROP_LOOP_EVIDENCE = f"""
    DELETE FROM graph_evidence v
     WHERE v.tenant_id = %(tenant)s AND v.project_id = %(project)s
       AND v.edge_id = ANY(%(edges)s)
    {_DROPPED}
"""  # noqa: S608
END_EDGES = """
    UPDATE graph_edges e SET valid_to = %s WHERE e.id = ANY(%s) AND e.valid_to IS NULL
"""
MOVE_EDGES = """
    UPDATE graph_edges e SET source_id = d.source_id, target_id = d.target_id
      FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[])
           AS d (id, source_id, target_id)
     WHERE e.id = d.id
"""
SET_EDGE_ENDS_OF_TIME = """
    UPDATE graph_edges e SET valid_to = d.valid_to
      FROM unnest(%s::bigint[], %s::timestamptz[]) AS d (id, valid_to)
     WHERE e.id = d.id AND e.valid_to IS DISTINCT FROM d.valid_to
"""
DROP_DOUBLE_NODE_EVIDENCE = f"""
    WITH said (id, place) AS (
        SELECT o.id, row_number() OVER (
                   PARTITION BY o.record_id, o.part, o.via_source,
                       CASE WHEN o.kind = 'said' AND o.via_target = ''
                             AND o.node_id <> %(keep)s THEN n.key ELSE o.via_target END
                   ORDER BY o.node_id <> %(keep)s, o.id)
          FROM graph_evidence o JOIN graph_nodes n ON n.id = o.node_id
         WHERE o.tenant_id = %(tenant)s AND o.project_id = %(project)s
           AND (o.node_id = ANY(%(nodes)s) OR o.node_id = %(keep)s)
    )
    DELETE FROM graph_evidence v USING said WHERE v.id = said.id AND said.place > 1
    {_DROPPED}
"""  # noqa: S608
MOVE_NODE_EVIDENCE = """
    UPDATE graph_evidence v
       SET node_id = %(keep)s,
           via_target = CASE WHEN v.kind = 'said' AND v.via_target = ''
                             THEN d.key ELSE v.via_target END
      FROM (SELECT o.id, o.node_id AS was, n.key
              FROM graph_evidence o JOIN graph_nodes n ON n.id = o.node_id
             WHERE o.tenant_id = %(tenant)s AND o.project_id = %(project)s
               AND o.node_id = ANY(%(nodes)s)) d
     WHERE v.id = d.id
    RETURNING v.id, d.was
"""
# Tags and metadata of all that describe one thing under names that were merged; where
# two differ, what describes it first wins.
UNITE = """
    WITH said (node_id, tags, metadata, place) AS (
        SELECT n.id, v.assertion->'tags', v.assertion->'metadata',
               row_number() OVER (
                   PARTITION BY n.id
                   ORDER BY v.record_id IS DISTINCT FROM n.record_id,
                            v.via_target <> '',
                            (v.assertion->>'precedence')::float8 DESC,
                            r.key COLLATE "C")
          FROM graph_nodes n
          JOIN graph_evidence v ON v.tenant_id = n.tenant_id
           AND v.project_id = n.project_id AND v.node_id = n.id
           AND v.assertion IS NOT NULL
          JOIN graph_records r ON r.id = v.record_id
         WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
           AND n.id = ANY(%(nodes)s)
           AND EXISTS (SELECT 1 FROM graph_merges m
                        WHERE m.tenant_id = n.tenant_id
                          AND m.project_id = n.project_id AND m.target = n.key
                          AND m.undone_at IS NULL)
    ), united (node_id, tags, metadata) AS (
        SELECT s.node_id,
               ARRAY(SELECT DISTINCT t.tag FROM said o
                       CROSS JOIN LATERAL jsonb_array_elements_text(o.tags) AS t (tag)
                      WHERE o.node_id = s.node_id ORDER BY t.tag),
               (SELECT coalesce(jsonb_object_agg(p.key, p.value ORDER BY o.place DESC),
                                '{}'::jsonb)
                  FROM said o CROSS JOIN LATERAL jsonb_each(o.metadata) AS p (key, value)
                 WHERE o.node_id = s.node_id)
          FROM said s WHERE s.place = 1
    )
    UPDATE graph_nodes n SET tags = u.tags, metadata = u.metadata
      FROM united u
     WHERE n.id = u.node_id
       AND (n.tags, n.metadata) IS DISTINCT FROM (u.tags, u.metadata)
"""
KEEP_NODE = """
    UPDATE graph_nodes n
       SET tags = %(tags)s, metadata = %(metadata)s, audience_id = %(audience)s,
           last_evidence_at = %(last_evidence_at)s, confirmed_at = %(confirmed_at)s,
           occurred_at = %(occurred_at)s, updated_at = now()
     WHERE n.id = %(id)s
"""
END_NODES = """
    UPDATE graph_nodes n SET valid_to = %s, updated_at = now()
     WHERE n.id = ANY(%s) AND n.valid_to IS NULL
"""
REVIVE_NODES = """
    UPDATE graph_nodes n SET valid_to = d.valid_to, updated_at = now()
      FROM unnest(%s::bigint[], %s::timestamptz[]) AS d (id, valid_to)
     WHERE n.id = d.id
"""
NAMES_ON = """
    SELECT DISTINCT v.via_target FROM graph_evidence v
     WHERE v.tenant_id = %(tenant)s AND v.project_id = %(project)s
       AND v.node_id = %(keep)s AND v.kind = 'said' AND v.via_target <> ''
    UNION
    SELECT end_.named
      FROM graph_edges e
      JOIN graph_evidence v ON v.tenant_id = e.tenant_id
       AND v.project_id = e.project_id AND v.edge_id = e.id AND v.kind = 'said'
     CROSS JOIN LATERAL (VALUES (v.via_source), (v.via_target)) AS end_ (named)
     WHERE e.tenant_id = %(tenant)s AND e.project_id = %(project)s
       AND (e.source_id = %(keep)s OR e.target_id = %(keep)s) AND end_.named <> ''
"""
GIVE_BACK_SAID = """
    UPDATE graph_evidence v
       SET node_id = d.node_id,
           via_target = CASE WHEN d.is_own THEN '' ELSE v.via_target END
      FROM unnest(%(names)s::text[], %(owners)s::bigint[], %(own)s::boolean[])
           AS d (name, node_id, is_own)
     WHERE v.tenant_id = %(tenant)s AND v.project_id = %(project)s
       AND v.node_id = %(keep)s AND v.kind = 'said' AND v.via_target = d.name
"""
GIVE_BACK_DERIVED = """
    UPDATE graph_evidence v SET node_id = d.node_id
      FROM unnest(%s::bigint[], %s::bigint[]) AS d (id, node_id)
     WHERE v.id = d.id AND v.kind <> 'said' AND v.node_id = %s
"""
GIVE_BACK_EDGE_EVIDENCE = """
    UPDATE graph_evidence v SET edge_id = d.edge_id
      FROM unnest(%s::bigint[], %s::bigint[]) AS d (id, edge_id)
      JOIN graph_edges e ON e.id = d.edge_id
     WHERE v.id = d.id AND v.edge_id IS NOT NULL
"""
PUT_BACK_EVIDENCE = """
    INSERT INTO graph_evidence (tenant_id, project_id, record_id, node_id, edge_id,
           kind, part, start, "end", quote, weight, via_source, via_target, assertion)
    SELECT %(tenant)s, %(project)s, d.record_id, d.node_id, d.edge_id, d.kind, d.part,
           d.start, d."end", d.quote, d.weight, d.via_source, d.via_target,
           d.assertion::jsonb
      FROM jsonb_to_recordset(%(rows)s::jsonb) AS d (record_id bigint,
           node_id bigint, edge_id bigint, kind text, part text, start int, "end" int,
           quote text, weight float8, via_source text, via_target text, assertion text)
     WHERE (d.record_id IS NULL
            OR EXISTS (SELECT 1 FROM graph_records r WHERE r.id = d.record_id))
       AND (d.edge_id IS NULL
            OR EXISTS (SELECT 1 FROM graph_edges e WHERE e.id = d.edge_id))
    ON CONFLICT DO NOTHING
"""
# Edges that nobody else spoke of since: they go back as they were.
UNTOUCHED_SINCE = """
    SELECT e.id FROM graph_edges e
     WHERE e.id = ANY(%(edges)s)
       AND NOT EXISTS (
           SELECT 1 FROM graph_evidence v
            WHERE v.tenant_id = %(tenant)s AND v.project_id = %(project)s
              AND v.edge_id = e.id AND v.id > %(last)s
              AND (v.kind <> 'said'
                   OR NOT (v.via_source = ANY(%(names)s)
                           OR v.via_target = ANY(%(names)s))))
"""
READ_AGAIN = """
    UPDATE graph_extracted_texts x SET words = ''
      FROM graph_evidence v
      JOIN graph_nodes n ON n.tenant_id = v.tenant_id AND n.project_id = v.project_id
       AND n.key = substr(v.part, 6)
     WHERE v.tenant_id = %(tenant)s AND v.project_id = %(project)s
       AND v.kind = 'derived' AND starts_with(v.part, 'text:')
       AND v.node_id = %(keep)s AND v.id > %(last)s
       AND x.tenant_id = v.tenant_id AND x.project_id = v.project_id
       AND x.node_id = n.id
"""
LAST_EVIDENCE = "SELECT coalesce(max(v.id), 0) FROM graph_evidence v"
AUDIENCES_OF_EVIDENCE = """
    SELECT v.node_id, array_agg(DISTINCT r.audience_id)
      FROM graph_evidence v JOIN graph_records r ON r.id = v.record_id
     WHERE v.tenant_id = %s AND v.project_id = %s AND v.node_id = ANY(%s)
     GROUP BY v.node_id
"""
# Names of one type that say the same; what was taken apart stays apart.
SAME_NAMES = """
    SELECT n.id, n.key, n.node_type, graph_same_name(left(n.title, 200)), n.origin
      FROM graph_nodes n
      JOIN (SELECT o.node_type, graph_same_name(left(o.title, 200)) AS name
              FROM graph_nodes o
             WHERE o.tenant_id = %(tenant)s AND o.project_id = %(project)s
               AND o.node_type = ANY(%(types)s) AND o.node_type <> ALL(%(unmerged)s)
               AND o.title <> '' AND o.valid_to IS NULL AND o.trashed_at IS NULL
               AND o.origin <> 'memory'
             GROUP BY o.node_type, graph_same_name(left(o.title, 200))
            HAVING count(*) > 1) same
        ON same.node_type = n.node_type
       AND same.name = graph_same_name(left(n.title, 200))
     WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
       AND n.node_type = ANY(%(types)s) AND n.node_type <> ALL(%(unmerged)s)
       AND n.title <> '' AND n.valid_to IS NULL AND n.trashed_at IS NULL
       AND n.origin <> 'memory' AND same.name <> ''
     ORDER BY n.node_type, same.name, n.key COLLATE "C"
"""
TAKEN_APART = """
    SELECT m.key, m.target FROM graph_merges m
     WHERE m.tenant_id = %s AND m.project_id = %s AND m.undone_at IS NOT NULL
       AND m.key = ANY(%s)
"""
NAMED_SAME = """
    SELECT n.id FROM graph_nodes n
     WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
       AND n.node_type = %(type)s AND n.title <> ''
       AND n.node_type <> ALL(%(unmerged)s)
       AND graph_same_name(left(n.title, 200)) = graph_same_name(left(%(name)s, 200))
       AND graph_same_name(left(%(name)s, 200)) <> ''
       AND n.origin <> 'memory' AND n.valid_to IS NULL AND n.trashed_at IS NULL
     ORDER BY n.origin = 'extraction', n.key COLLATE "C" LIMIT 1
"""
