"""SQL of erasing records: text only, one caller each."""

BATCH_OF_SOURCE = """
    SELECT r.id FROM graph_records r
     WHERE r.tenant_id = %(tenant)s AND r.project_id = %(project)s
       AND r.source_id = %(source)s
     ORDER BY r.key LIMIT %(most)s
"""
NAMES_IN_AUDIENCES = """
    SELECT DISTINCT r.audience_id FROM graph_records r WHERE r.id = ANY(%(records)s)
"""
# What the records are evidence of, and what they describe.
TOUCHED_NODES = """
    SELECT v.node_id FROM graph_evidence v
     WHERE v.tenant_id = %(tenant)s AND v.project_id = %(project)s
       AND v.record_id = ANY(%(records)s) AND v.node_id IS NOT NULL
    UNION
    SELECT n.id FROM graph_nodes n
     WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
       AND n.record_id = ANY(%(records)s)
"""
TOUCHED_EDGES = """
    SELECT DISTINCT e.id, e.source_id, e.target_id, e.position
      FROM graph_evidence v JOIN graph_edges e ON e.id = v.edge_id
     WHERE v.tenant_id = %(tenant)s AND v.project_id = %(project)s
       AND v.record_id = ANY(%(records)s)
"""
FORGET_EVIDENCE = """
    DELETE FROM graph_evidence v
     WHERE v.tenant_id = %(tenant)s AND v.project_id = %(project)s
       AND v.record_id = ANY(%(records)s)
"""
# A node of a source lives by what is said of it, one read out of texts by any proof;
# one that was merged, while something says its name of the node that was kept.
GONE_NODES = """
    SELECT n.id FROM graph_nodes n
     WHERE n.id = ANY(%(nodes)s)
       AND (n.origin = 'source' AND NOT EXISTS (
               SELECT 1 FROM graph_evidence v
                WHERE v.tenant_id = n.tenant_id AND v.project_id = n.project_id
                  AND v.node_id = n.id AND v.kind <> 'derived')
            AND NOT EXISTS (
               SELECT 1 FROM graph_merges m
                 JOIN graph_evidence v ON v.tenant_id = m.tenant_id
                  AND v.project_id = m.project_id AND v.via_target = m.key
                  AND v.via_target <> '' AND v.node_id IS NOT NULL
                WHERE m.tenant_id = n.tenant_id AND m.project_id = n.project_id
                  AND m.key = n.key AND m.undone_at IS NULL)
         OR n.origin = 'extraction' AND NOT EXISTS (
               SELECT 1 FROM graph_evidence v
                WHERE v.tenant_id = n.tenant_id AND v.project_id = n.project_id
                  AND v.node_id = n.id))
"""
# What other records say of edges at nodes that go: it waits for that end again.
UNDRAWN = """
    WITH gone_keys (key) AS (
        SELECT i.key FROM graph_identities i WHERE i.node_id = ANY(%(gone)s)
    ), said (id) AS (
        SELECT v.id FROM graph_edges e JOIN graph_evidence v ON v.edge_id = e.id
           AND v.tenant_id = e.tenant_id AND v.project_id = e.project_id
         WHERE e.tenant_id = %(tenant)s AND e.project_id = %(project)s
           AND e.source_id = ANY(%(gone)s)
        UNION
        SELECT v.id FROM graph_edges e JOIN graph_evidence v ON v.edge_id = e.id
           AND v.tenant_id = e.tenant_id AND v.project_id = e.project_id
         WHERE e.tenant_id = %(tenant)s AND e.project_id = %(project)s
           AND e.target_id = ANY(%(gone)s)
        UNION
        SELECT v.id FROM graph_evidence v
         WHERE v.tenant_id = %(tenant)s AND v.project_id = %(project)s
           AND v.edge_id IS NOT NULL AND v.via_source <> ''
           AND v.via_source IN (SELECT k.key FROM gone_keys k)
        UNION
        SELECT v.id FROM graph_evidence v
         WHERE v.tenant_id = %(tenant)s AND v.project_id = %(project)s
           AND v.edge_id IS NOT NULL AND v.via_target <> ''
           AND v.via_target IN (SELECT k.key FROM gone_keys k)
    )
    SELECT v.id, e.id, v.record_id, v.kind = 'said',
           coalesce(nullif(v.via_source, ''), s.key), e.relation,
           coalesce(nullif(v.via_target, ''), t.key),
           v.weight, v.quote, e.position::text, r.occurred_at, e.valid_from,
           coalesce(v.assertion->'otherwise', '[]'::jsonb)::text
      FROM said JOIN graph_evidence v ON v.id = said.id
      JOIN graph_edges e ON e.id = v.edge_id
      JOIN graph_nodes s ON s.id = e.source_id
      JOIN graph_nodes t ON t.id = e.target_id
      JOIN graph_records r ON r.id = v.record_id
     WHERE v.record_id <> ALL(%(records)s)
       AND r.source_id IS DISTINCT FROM %(source)s
       AND v.record_id <> ALL(%(doomed)s)
"""
WAIT_AGAIN = """
    INSERT INTO graph_pending_edges
           (tenant_id, project_id, record_id, source_key, relation, target_key, draft)
    SELECT %(tenant)s, %(project)s, d.record_id, d.source_key, d.relation,
           d.target_key, d.draft::jsonb
      FROM unnest(%(record_ids)s::bigint[], %(source_keys)s::text[],
                  %(relations)s::text[], %(target_keys)s::text[], %(drafts)s::text[])
           AS d (record_id, source_key, relation, target_key, draft)
    ON CONFLICT (tenant_id, project_id, record_id, source_key, relation, target_key)
    DO NOTHING
"""
# Edges that ended have no evidence to say whose word they were: those at a node that
# lost evidence go with it.
FORGET_ENDED_EDGES = """
    DELETE FROM graph_edges e
     WHERE e.tenant_id = %(tenant)s AND e.project_id = %(project)s
       AND e.valid_to IS NOT NULL
       AND (e.source_id = ANY(%(nodes)s) OR e.target_id = ANY(%(nodes)s))
       AND NOT EXISTS (SELECT 1 FROM graph_evidence v
                        WHERE v.tenant_id = e.tenant_id
                          AND v.project_id = e.project_id AND v.edge_id = e.id)
"""
DELETE_NODES = "DELETE FROM graph_nodes n WHERE n.id = ANY(%(nodes)s)"
DELETE_RECORDS = """
    DELETE FROM graph_records r
     WHERE r.tenant_id = %(tenant)s AND r.project_id = %(project)s
       AND r.id = ANY(%(records)s)
"""
# A node whose last description went, which something else still implies.
UNDESCRIBE = """
    UPDATE graph_nodes n
       SET title = '', content = '', context = '', tags = '{}', metadata = '{}',
           updated_at = now()
     WHERE n.id = ANY(%(nodes)s) AND n.origin = 'source'
       AND n.record_id = ANY(%(records)s)
       AND NOT EXISTS (SELECT 1 FROM graph_evidence v
                        WHERE v.tenant_id = n.tenant_id AND v.project_id = n.project_id
                          AND v.node_id = n.id AND v.kind = 'said')
"""
# A node that one record describes keeps its words itself, not beside its evidence.
LONE_ASSERTIONS = """
    UPDATE graph_evidence v SET assertion = NULL
     WHERE v.tenant_id = %(tenant)s AND v.project_id = %(project)s
       AND v.node_id = ANY(%(nodes)s) AND v.assertion IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM graph_evidence o
                        WHERE o.tenant_id = v.tenant_id AND o.project_id = v.project_id
                          AND o.node_id = v.node_id AND o.kind = 'said'
                          AND o.record_id <> v.record_id)
"""
# Where items that stay stand in their threads, channels and meetings.
PLACES_OF = """
    SELECT e.source_id, e.target_id, e.position FROM graph_edges e
     WHERE e.tenant_id = %(tenant)s AND e.project_id = %(project)s
       AND e.source_id = ANY(%(nodes)s) AND e.position IS NOT NULL
       AND e.valid_to IS NULL
"""
# What nothing supports any more: whose words it was made of cannot be said, so it goes.
FORGET_BARE_NODES = """
    DELETE FROM graph_nodes n
     WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
       AND n.origin = 'extraction' AND n.valid_to IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM graph_evidence v
                        WHERE v.tenant_id = n.tenant_id AND v.project_id = n.project_id
                          AND v.node_id = n.id)
       AND NOT EXISTS (SELECT 1 FROM graph_merges m
                        WHERE m.tenant_id = n.tenant_id AND m.project_id = n.project_id
                          AND m.key = n.key AND m.undone_at IS NULL)
"""
DETAILS_OF_REVIEW = """
    DELETE FROM audit_details d USING audit a
     WHERE a.id = d.audit_id AND a.tenant_id = %(tenant)s
       AND a.project_id = %(project)s
       AND a.target IN (SELECT 'review:' || i.id FROM graph_review_items i
                         WHERE i.tenant_id = %(tenant)s AND i.project_id = %(project)s
                           AND (i.node_id = ANY(%(nodes)s) OR i.other_id = ANY(%(nodes)s)))
"""
# What the checks found stays counted; the names that they showed of it go.
FORGET_EXAMPLES = """
    UPDATE graph_checks c
       SET findings = (SELECT jsonb_object_agg(f.name, f.found || '{"examples": []}')
                         FROM jsonb_each(c.findings) AS f (name, found))
     WHERE c.tenant_id = %(tenant)s AND c.project_id = %(project)s
       AND jsonb_path_exists(c.findings, '$.*.examples[*]')
"""
REVIEW_OF = """
    DELETE FROM graph_review_items i
     WHERE i.tenant_id = %(tenant)s AND i.project_id = %(project)s
       AND (i.node_id = ANY(%(nodes)s) OR i.other_id = ANY(%(nodes)s))
"""
# What people decided of identities that go with their nodes.
DECISIONS_OF = """
    DELETE FROM graph_identity_decisions d
     WHERE d.tenant_id = %(tenant)s AND d.project_id = %(project)s
       AND EXISTS (SELECT 1 FROM graph_identities i
                    WHERE i.tenant_id = d.tenant_id AND i.project_id = d.project_id
                      AND i.node_id = ANY(%(nodes)s)
                      AND i.key IN (d.first_key, d.second_key))
"""
TOMBSTONES_OF = """
    DELETE FROM graph_tombstones t
     WHERE t.tenant_id = %(tenant)s AND t.project_id = %(project)s
       AND t.key IN (SELECT n.key FROM graph_nodes n WHERE n.id = ANY(%(nodes)s))
"""
# What was drafted under a key that another node stands for: by whom, and as what.
DRAFTED_ELSEWHERE = """
    SELECT v.via_target, r.audience_id, n.node_type, n.language
      FROM graph_evidence v JOIN graph_nodes n ON n.id = v.node_id
      JOIN graph_records r ON r.id = v.record_id
     WHERE v.tenant_id = %(tenant)s AND v.project_id = %(project)s
       AND v.via_target = ANY(%(keys)s) AND v.via_target <> ''
       AND v.node_id IS NOT NULL AND v.kind = 'said'
     ORDER BY v.via_target, v.id
"""
# Where quotes stand in bodies that became shorter.
PLACE_AGAIN = """
    UPDATE graph_evidence v
       SET start = nullif(d.at, 0) - 1,
           "end" = nullif(d.at, 0) - 1 + length(d.said)
      FROM (SELECT v.id, p.said, strpos(r.body, p.said) AS at
              FROM graph_evidence v JOIN graph_records r ON r.id = v.record_id
              LEFT JOIN graph_nodes n ON n.id = v.node_id
             CROSS JOIN LATERAL (
                   SELECT CASE WHEN v.kind = 'said' AND v.node_id IS NOT NULL
                               THEN n.content ELSE v.quote END) AS p (said)
             WHERE v.tenant_id = %(tenant)s AND v.project_id = %(project)s
               AND v.start IS NOT NULL AND strpos(r.body, %(erased)s) > 0
               AND p.said <> '') d
     WHERE v.id = d.id AND v.start IS DISTINCT FROM nullif(d.at, 0) - 1
"""
READ_AGAIN = """
    UPDATE graph_extracted_texts x SET words = ''
      FROM graph_records r
     WHERE x.tenant_id = %(tenant)s AND x.project_id = %(project)s
       AND r.id = x.record_id AND strpos(r.body, %(erased)s) > 0
"""
# Records that a person alone wrote, and those that are only about their account.
AUTHORED = """
    SELECT r.id FROM graph_records r
     WHERE r.tenant_id = %(tenant)s AND r.project_id = %(project)s
       AND r.key = ANY(%(keys)s)
    UNION
    SELECT v.record_id FROM graph_evidence v JOIN graph_edges e ON e.id = v.edge_id
     WHERE v.tenant_id = %(tenant)s AND v.project_id = %(project)s
       AND v.via_target = ANY(%(keys)s) AND v.via_target <> '' AND v.kind = 'said'
       AND e.relation = 'sent_by'
       AND NOT EXISTS (
           SELECT 1 FROM graph_evidence o JOIN graph_edges f ON f.id = o.edge_id
            WHERE o.tenant_id = v.tenant_id AND o.project_id = v.project_id
              AND o.record_id = v.record_id AND f.relation = 'sent_by'
              AND o.kind = 'said' AND o.via_target <> ALL(%(keys)s))
     ORDER BY 1
"""
# Records that are only about their account: they go even where messages stay.
ACCOUNTS = """
    SELECT r.id FROM graph_records r
     WHERE r.tenant_id = %(tenant)s AND r.project_id = %(project)s
       AND r.key = ANY(%(keys)s)
     ORDER BY 1
"""
# The nodes of records they wrote alone, but for other people, and their own words in
# records of several.
WRITTEN_BY = """
    SELECT n.id FROM graph_nodes n
     WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
       AND n.record_id = ANY(%(records)s)
       AND n.node_type NOT IN ('account', 'address', 'domain', 'name', 'person')
    UNION
    SELECT e.source_id FROM graph_evidence v JOIN graph_edges e ON e.id = v.edge_id
     WHERE v.tenant_id = %(tenant)s AND v.project_id = %(project)s
       AND v.via_target = ANY(%(keys)s) AND v.via_target <> '' AND v.kind = 'said'
       AND e.relation = 'sent_by'
"""
MAKE_ANONYMOUS = (
    (
        "graph_records",
        """
    UPDATE graph_records r
       SET body = regexp_replace(r.body, %(pattern)s, %(erased)s, 'gi')
     WHERE r.tenant_id = %(tenant)s AND r.project_id = %(project)s
       AND r.id = ANY(%(records)s) AND r.body ~* %(pattern)s
""",
    ),
    (
        "graph_nodes",
        """
    UPDATE graph_nodes n
       SET title = regexp_replace(n.title, %(pattern)s, %(erased)s, 'gi'),
           content = regexp_replace(n.content, %(pattern)s, %(erased)s, 'gi'),
           context = regexp_replace(n.context, %(pattern)s, %(erased)s, 'gi'),
           metadata = regexp_replace(n.metadata::text, %(pattern)s, %(erased)s,
                                     'gi')::jsonb,
           tags = regexp_replace(n.tags::text, %(pattern)s, %(erased)s, 'gi')::text[],
           updated_at = now()
     WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
       AND n.id = ANY(%(nodes)s)
       AND concat_ws(' ', n.title, n.content, n.context, n.metadata::text,
                     n.tags::text) ~* %(pattern)s
""",
    ),
    (
        "graph_evidence",
        """
    UPDATE graph_evidence v
       SET quote = regexp_replace(v.quote, %(pattern)s, %(erased)s, 'gi'),
           assertion = regexp_replace(v.assertion::text, %(pattern)s, %(erased)s,
                                      'gi')::jsonb
     WHERE v.tenant_id = %(tenant)s AND v.project_id = %(project)s
       AND (v.node_id = ANY(%(nodes)s)
            OR v.record_id = ANY(%(records)s) AND v.edge_id IS NOT NULL)
       AND concat_ws(' ', v.quote, v.assertion::text) ~* %(pattern)s
""",
    ),
)
# What they said in records of several: sentences of a meeting, by their record.
SPOKEN = """
    SELECT DISTINCT v.record_id, n.id, n.content
      FROM graph_evidence v JOIN graph_edges e ON e.id = v.edge_id
      JOIN graph_nodes n ON n.id = e.source_id
     WHERE v.tenant_id = %(tenant)s AND v.project_id = %(project)s
       AND v.via_target = ANY(%(keys)s) AND v.via_target <> '' AND v.kind = 'said'
       AND e.relation = 'sent_by' AND n.content <> '' AND n.content <> %(erased)s
"""
UNSAY = """
    UPDATE graph_records r SET body = replace(r.body, %(said)s, %(erased)s)
     WHERE r.id = %(record)s
"""
UNSAY_NODE = """
    UPDATE graph_nodes n SET content = %(erased)s, updated_at = now()
     WHERE n.id = %(node)s
"""
IDENTITY_NODES = """
    SELECT i.node_id FROM graph_identities i
     WHERE i.tenant_id = %(tenant)s AND i.project_id = %(project)s
       AND i.key = ANY(%(keys)s)
    UNION
    SELECT n.id FROM graph_nodes n
     WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
       AND n.key = ANY(%(keys)s)
"""
# Only the persons that are nobody else too.
PERSONS = """
    SELECT n.id FROM graph_nodes n
     WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
       AND n.key = ANY(%(persons)s) AND n.origin = 'identity'
"""
FORGET_KEYS = (
    (
        "graph_pending_edges",
        """
    DELETE FROM graph_pending_edges p
     WHERE p.tenant_id = %(tenant)s AND p.project_id = %(project)s
       AND (p.source_key = ANY(%(keys)s) OR p.target_key = ANY(%(keys)s))
""",
    ),
    (
        "graph_identity_decisions",
        """
    DELETE FROM graph_identity_decisions d
     WHERE d.tenant_id = %(tenant)s AND d.project_id = %(project)s
       AND (d.first_key = ANY(%(keys)s) OR d.second_key = ANY(%(keys)s))
""",
    ),
    (
        "graph_tombstones",
        """
    DELETE FROM graph_tombstones t
     WHERE t.tenant_id = %(tenant)s AND t.project_id = %(project)s
       AND t.key = ANY(%(keys)s)
""",
    ),
    (
        "audience_members",
        """
    DELETE FROM audience_members m USING audiences a
     WHERE a.id = m.audience_id AND a.tenant_id = %(tenant)s
       AND a.project_id = %(project)s
       AND lower(m.member) = ANY(%(members)s)
""",
    ),
)
# Audit: the text goes, the row and its hash stay, and with them the chain.
DETAILS_NAMING_GOING = """
    WITH named (key) AS MATERIALIZED (
        SELECT n.key FROM graph_nodes n WHERE n.id = ANY(%(gone)s)
        UNION
        SELECT r.key FROM graph_records r WHERE r.id = ANY(%(records)s)
    )
    DELETE FROM audit_details d USING audit a
     WHERE a.id = d.audit_id AND a.tenant_id = %(tenant)s
       AND a.project_id = %(project)s
       AND EXISTS (SELECT 1 FROM jsonb_path_query(d.detail, 'strict $.**') AS v (value)
                     JOIN named k ON k.key = v.value #>> '{}'
                    WHERE jsonb_typeof(v.value) = 'string')
"""
DETAILS_OF_TARGETS = """
    DELETE FROM audit_details d USING audit a
     WHERE a.id = d.audit_id AND a.tenant_id = %(tenant)s
       AND a.project_id = %(project)s AND a.target = ANY(%(targets)s)
"""
DETAILS_MATCHING = """
    DELETE FROM audit_details d USING audit a
     WHERE a.id = d.audit_id AND a.tenant_id = %(tenant)s
       AND a.project_id = %(project)s AND d.detail::text ~* %(pattern)s
"""
