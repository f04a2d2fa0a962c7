"""SQL of writing a batch and ending a run: text only, one caller each."""

STORED_RECORDS = """
    SELECT r.key, r.id, r.content_hash, r.version, r.gone_at IS NOT NULL, r.run_id
      FROM graph_records r
     WHERE r.tenant_id = %s AND r.project_id = %s AND r.source_id = %s
       AND r.key = ANY(%s)
"""
TOMBSTONES = """
    SELECT t.key, t.content_hash FROM graph_tombstones t
     WHERE t.tenant_id = %s AND t.project_id = %s AND t.key = ANY(%s)
"""
UPDATE_RECORD = """
    UPDATE graph_records SET kind = %s, body = %s, content_hash = %s, raw_sha256 = %s,
           permalink = %s, occurred_at = %s, version = %s, counted = %s,
           audience_id = %s, run_id = %s, gone_at = NULL, moved_to = ''
     WHERE id = %s
"""
NODES_BY_KEY = """
    SELECT n.key, n.id, n.record_id, n.audience_id, i.person_id, n.origin = 'implied'
      FROM graph_nodes n LEFT JOIN graph_identities i ON i.node_id = n.id
     WHERE n.tenant_id = %s AND n.project_id = %s AND n.key = ANY(%s)
"""
UPDATE_NODE = """
    UPDATE graph_nodes n
       SET node_type = %(node_type)s, title = %(title)s, content = %(content)s,
           context = %(context)s, language = %(language)s, tags = %(tags)s,
           metadata = %(metadata)s, occurred_at = %(occurred_at)s,
           precedence = %(precedence)s, audience_id = %(audience)s,
           gone_at = NULL, valid_to = NULL, updated_at = now(),
           last_evidence_at = greatest(n.last_evidence_at, %(occurred_at)s)
     WHERE n.id = %(id)s
"""
# What was made for an edge that somebody wrote, once its own record comes.
MEET_IMPLIED = """
    WITH met (id, tenant_id, project_id) AS (
        UPDATE graph_nodes n SET origin = 'source', audience_id = %s, updated_at = now()
         WHERE n.id = %s AND n.origin = 'implied'
        RETURNING n.id, n.tenant_id, n.project_id
    )
    DELETE FROM graph_evidence v USING met
     WHERE v.tenant_id = met.tenant_id AND v.project_id = met.project_id
       AND v.node_id = met.id AND v.kind = 'implied'
"""
# A node that a second record describes too: both descriptions are kept as evidence,
# and the one of the greatest precedence (then the first record key) shows.
KEEP_ASSERTIONS = """
    UPDATE graph_evidence v
       SET assertion = jsonb_build_object(
           'node_type', n.node_type, 'title', n.title, 'content', n.content,
           'context', n.context, 'language', n.language, 'tags', to_jsonb(n.tags),
           'metadata', n.metadata, 'occurred_at', n.occurred_at,
           'precedence', n.precedence)
      FROM graph_nodes n
     WHERE n.id = ANY(%s) AND v.tenant_id = n.tenant_id
       AND v.project_id = n.project_id AND v.node_id = n.id
       AND v.record_id = n.record_id AND v.assertion IS NULL AND v.kind = 'said'
"""
DESCRIBE = """
    UPDATE graph_nodes n
       SET node_type = a.node_type, title = a.title, content = a.content,
           context = a.context, language = a.language, tags = a.tags,
           metadata = a.metadata, occurred_at = a.occurred_at,
           precedence = a.precedence, record_id = best.record_id,
           source_kind = best.source_kind, last_evidence_at = best.latest,
           updated_at = now()
      FROM (SELECT DISTINCT ON (v.node_id) v.node_id, v.record_id, v.assertion,
                   s.kind AS source_kind,
                   max(coalesce((v.assertion->>'occurred_at')::timestamptz,
                                r.occurred_at)) OVER (PARTITION BY v.node_id) AS latest
              FROM graph_evidence v
              JOIN graph_records r ON r.id = v.record_id
              JOIN connections_source s ON s.id = r.source_id
             WHERE v.tenant_id = %s AND v.project_id = %s AND v.node_id = ANY(%s)
               AND v.assertion IS NOT NULL
             -- What was merged into it describes it last.
             ORDER BY v.node_id, v.via_target <> '' AND EXISTS (
                          SELECT 1 FROM graph_merges m
                           WHERE m.tenant_id = v.tenant_id
                             AND m.project_id = v.project_id AND m.key = v.via_target
                             AND m.undone_at IS NULL),
                      (v.assertion->>'precedence')::float8 DESC,
                      r.key COLLATE "C", s.name COLLATE "C") best
     CROSS JOIN LATERAL jsonb_to_record(best.assertion) AS a (
           node_type text, title text, content text, context text, language text,
           tags text[], metadata jsonb, occurred_at timestamptz, precedence float8)
     WHERE n.id = best.node_id
       AND (n.node_type, n.title, n.content, n.context, n.language, n.tags, n.metadata,
            n.occurred_at, n.precedence, n.record_id, n.source_kind,
            n.last_evidence_at)
           IS DISTINCT FROM
           (a.node_type, a.title, a.content, a.context, a.language, a.tags, a.metadata,
            a.occurred_at, a.precedence, best.record_id, best.source_kind,
            best.latest)
"""
NODES_WITHOUT_EVIDENCE = """
    SELECT x.id FROM unnest(%s::bigint[]) AS x (id)
     WHERE NOT EXISTS (SELECT 1 FROM graph_evidence v
                        WHERE v.tenant_id = %s AND v.project_id = %s
                          AND v.node_id = x.id AND v.kind <> 'derived')
"""
RENAME_IDENTITIES = """
    UPDATE graph_identities i SET names_stale = true
     WHERE i.node_id = ANY(%s) AND NOT i.names_stale
"""
REVIVE_NODES = """
    UPDATE graph_nodes n SET valid_to = NULL, gone_at = NULL, updated_at = now()
     WHERE n.id = ANY(%s) AND n.origin = 'source'
       AND (n.valid_to IS NOT NULL OR n.gone_at IS NOT NULL)
    RETURNING n.id
"""
END_NODES = """
    UPDATE graph_nodes n SET valid_to = now(), updated_at = now()
     WHERE n.id = ANY(%s) AND n.valid_to IS NULL
"""
AUDIENCES_OF_NODES = """
    SELECT n.id, n.audience_id, array_agg(DISTINCT r.audience_id)
      FROM graph_nodes n
      JOIN graph_evidence v ON v.tenant_id = n.tenant_id
       AND v.project_id = n.project_id AND v.node_id = n.id AND v.kind = 'said'
      JOIN graph_records r ON r.id = v.record_id
     WHERE n.id = ANY(%s)
     GROUP BY n.id
"""
AUDIENCES_OF_EDGES = """
    SELECT e.id, e.audience_id, array_agg(DISTINCT r.audience_id)
      FROM graph_edges e
      JOIN graph_evidence v ON v.tenant_id = e.tenant_id
       AND v.project_id = e.project_id AND v.edge_id = e.id
      JOIN graph_records r ON r.id = v.record_id
     WHERE e.relation <> 'follows' AND e.id IN (SELECT o.edge_id FROM graph_evidence o
                     WHERE o.tenant_id = %s AND o.project_id = %s
                       AND o.record_id = ANY(%s))
     GROUP BY e.id
"""
SAID_BY_RECORDS = """
    SELECT v.id, v.record_id, v.node_id, v.edge_id, v.via_source, v.via_target,
           v.quote, v.weight, v.assertion IS NOT NULL, v.start, v."end",
           e.source_id, e.relation, e.target_id, e.position, e.valid_from
      FROM graph_evidence v LEFT JOIN graph_edges e ON e.id = v.edge_id
     WHERE v.tenant_id = %s AND v.project_id = %s AND v.record_id = ANY(%s)
       AND v.kind = 'said'
"""
EDGES_OF = """
    SELECT e.id, e.source_id, e.relation, e.target_id, e.scope_id, e.valid_from,
           CASE WHEN e.valid_to IS NULL THEN e.audience_id END
      FROM unnest(%s::bigint[], %s::text[], %s::bigint[])
           AS wanted (source_id, relation, target_id)
      JOIN graph_edges e ON e.source_id = wanted.source_id
       AND e.relation = wanted.relation AND e.target_id = wanted.target_id
     WHERE e.tenant_id = %s AND e.project_id = %s
"""
STRENGTHEN_EDGES = """
    UPDATE graph_edges e
       SET weight = CASE WHEN e.valid_to IS NULL THEN e.weight + d.weight
                         ELSE d.weight END,
           occurred_at = CASE WHEN e.valid_to IS NULL
                              THEN greatest(e.occurred_at, d.occurred_at)
                              ELSE d.occurred_at END,
           position = CASE WHEN e.valid_to IS NULL THEN coalesce(d.position, e.position)
                           ELSE d.position END,
           audience_id = d.audience_id, valid_to = NULL
      FROM unnest(%s::bigint[], %s::float8[], %s::timestamptz[], %s::numeric[],
                  %s::bigint[])
           AS d (id, weight, occurred_at, position, audience_id)
     WHERE e.id = d.id
"""
MOVE_EVIDENCE = """
    UPDATE graph_evidence v
       SET edge_id = d.edge_id, via_source = d.via_source, via_target = d.via_target
      FROM unnest(%s::bigint[], %s::bigint[], %s::text[], %s::text[])
           AS d (id, edge_id, via_source, via_target)
     WHERE v.id = d.id
"""
SETTLE_EDGES = """
    WITH said (id, pieces, weight, occurred_at, audiences) AS (
        SELECT x.id, count(v.id), sum(v.weight), max(r.occurred_at),
               array_agg(DISTINCT r.audience_id) FILTER (WHERE r.id IS NOT NULL)
          FROM unnest(%s::bigint[]) AS x (id)
          LEFT JOIN graph_evidence v ON v.edge_id = x.id
                AND v.tenant_id = %s AND v.project_id = %s
          LEFT JOIN graph_records r ON r.id = v.record_id
         GROUP BY x.id
    ), weighed AS (
        UPDATE graph_edges e
           SET weight = said.weight, occurred_at = said.occurred_at
          FROM said WHERE e.id = said.id AND said.pieces > 0
           AND (e.weight, e.occurred_at) IS DISTINCT FROM (said.weight, said.occurred_at)
    )
    SELECT said.id, said.pieces, said.audiences, e.audience_id, e.source_id,
           e.target_id, e.position
      FROM said JOIN graph_edges e ON e.id = said.id
"""
# Items at a touched position of a sequence and those just after it, each with the
# item before it: by position, ties by key.
SEQUENCE_AROUND = """
    WITH touched (scope_id, position) AS (
        SELECT DISTINCT t.scope_id, t.position
          FROM unnest(%(scopes)s::bigint[], %(positions)s::numeric[])
               AS t (scope_id, position)
    ), place (scope_id, position) AS (
        SELECT touched.scope_id, touched.position FROM touched
        UNION
        SELECT touched.scope_id, following.position
          FROM touched CROSS JOIN LATERAL (
               SELECT e.position FROM graph_edges e
                WHERE e.tenant_id = %(tenant)s AND e.project_id = %(project)s
                  AND e.target_id = touched.scope_id
                  AND e.position > touched.position AND e.valid_to IS NULL
                ORDER BY e.position LIMIT 1) following
    )
    SELECT n.id, place.scope_id, previous.source_id, n.record_id, n.audience_id,
           n.occurred_at
      FROM place
      JOIN graph_edges e ON e.tenant_id = %(tenant)s AND e.project_id = %(project)s
       AND e.target_id = place.scope_id AND e.position = place.position
       AND e.valid_to IS NULL
      JOIN graph_nodes n ON n.id = e.source_id
      LEFT JOIN LATERAL (
           SELECT b.position FROM graph_edges b
            WHERE b.tenant_id = %(tenant)s AND b.project_id = %(project)s
              AND b.target_id = place.scope_id AND b.position < place.position
              AND b.valid_to IS NULL
            ORDER BY b.position DESC LIMIT 1) before ON true
      LEFT JOIN LATERAL (
           SELECT m.source_id FROM graph_edges m JOIN graph_nodes k ON k.id = m.source_id
            WHERE m.tenant_id = %(tenant)s AND m.project_id = %(project)s
              AND m.target_id = place.scope_id AND m.valid_to IS NULL
              AND m.position IN (place.position, before.position)
              AND (m.position < place.position
                   OR k.key COLLATE "C" < n.key COLLATE "C")
            ORDER BY m.position DESC, k.key COLLATE "C" DESC LIMIT 1) previous ON true
"""
# Who sees an item sees what it follows, as far as they see that too.
OPEN_FOLLOWS = """
    UPDATE graph_edges e SET audience_id = n.audience_id FROM graph_nodes n
     WHERE e.tenant_id = %s AND e.project_id = %s AND e.source_id = ANY(%s)
       AND e.relation = 'follows' AND n.id = e.source_id
       AND e.audience_id <> n.audience_id
"""
FOLLOWS_OF = """
    SELECT e.id, e.source_id, e.scope_id, e.target_id FROM graph_edges e
     WHERE e.tenant_id = %s AND e.project_id = %s AND e.relation = 'follows'
       AND e.scope_id = ANY(%s) AND e.source_id = ANY(%s)
"""
SEEN_BELOW = """
    INSERT INTO seen_by_run (key)
    SELECT r.key FROM graph_records r WHERE r.source_id = %s AND starts_with(r.key, %s)
"""
COUNT_VANISHED = """
    SELECT count(*), count(*) FILTER (WHERE s.key IS NULL)
      FROM graph_records r LEFT JOIN (SELECT DISTINCT key FROM seen_by_run) s
        ON s.key = r.key
     WHERE r.tenant_id = %s AND r.project_id = %s AND r.source_id = %s
       AND r.gone_at IS NULL AND r.counted
"""
MARK_VANISHED = """
    UPDATE graph_records r SET gone_at = now()
     WHERE r.tenant_id = %s AND r.project_id = %s AND r.source_id = %s
       AND r.gone_at IS NULL
       AND NOT EXISTS (SELECT 1 FROM seen_by_run s WHERE s.key = r.key)
    RETURNING r.id, r.counted::int
"""
# A vanished file whose bytes came under another name in this run has moved there.
MARK_MOVED = """
    UPDATE graph_records r SET moved_to = new.key
      FROM graph_records new
     WHERE new.run_id = %s AND new.source_id = %s AND new.gone_at IS NULL
       AND new.raw_sha256 = r.raw_sha256 AND r.raw_sha256 <> '' AND r.id = ANY(%s)
"""
NODES_SAID_BY = """
    SELECT DISTINCT v.node_id FROM graph_evidence v
     WHERE v.tenant_id = %s AND v.project_id = %s AND v.record_id = ANY(%s)
       AND v.node_id IS NOT NULL
"""
MARK_NODES_GONE = """
    UPDATE graph_nodes n
       SET gone_at = now(),
           valid_to = CASE WHEN r.moved_to <> '' THEN now() ELSE n.valid_to END
      FROM graph_evidence v JOIN graph_records r ON r.id = v.record_id
     WHERE v.tenant_id = %s AND v.project_id = %s AND v.record_id = ANY(%s)
       AND v.kind = 'said' AND n.id = v.node_id AND n.gone_at IS NULL
       AND NOT EXISTS (SELECT 1 FROM graph_evidence o
                         JOIN graph_records live ON live.id = o.record_id
                        WHERE o.tenant_id = n.tenant_id AND o.project_id = n.project_id
                          AND o.node_id = n.id AND o.kind = 'said'
                          AND live.gone_at IS NULL)
"""

STAND_INS_WANTED = """
    SELECT p.record_id, s.id, p.relation, near.id, p.target_key, r.audience_id,
           (p.draft->>'occurred_at')::timestamptz
      FROM graph_pending_edges p
      JOIN graph_records r ON r.id = p.record_id
      JOIN graph_nodes s ON s.tenant_id = p.tenant_id AND s.project_id = p.project_id
       AND s.key = p.source_key
     CROSS JOIN LATERAL (
           SELECT n.id
             FROM jsonb_array_elements_text(p.draft->'otherwise')
                  WITH ORDINALITY AS named (key, place)
             JOIN graph_nodes n ON n.tenant_id = p.tenant_id
              AND n.project_id = p.project_id AND n.key = named.key
            WHERE n.valid_to IS NULL AND n.trashed_at IS NULL
            ORDER BY named.place LIMIT 1) near
     WHERE p.tenant_id = %s AND p.project_id = %s AND s.id <> near.id
"""
STAND_INS = """
    SELECT v.id, e.id, v.record_id, e.source_id, e.relation, e.target_id, v.via_target
      FROM graph_evidence v JOIN graph_edges e ON e.id = v.edge_id
     WHERE v.tenant_id = %s AND v.project_id = %s AND v.kind = 'derived'
       AND v.via_target <> '' AND v.edge_id IS NOT NULL
"""
