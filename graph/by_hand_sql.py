"""SQL of what people, agents and the API write: text only, one caller each."""

WRITE_RECORD = """
    INSERT INTO graph_records AS r (tenant_id, project_id, audience_id, source_id, key,
           kind, body, content_hash, raw_sha256, permalink, occurred_at, version,
           counted, moved_to, first_fetched_at)
    VALUES (%(tenant)s, %(project)s, %(audience)s, %(source)s, %(key)s, 'hand',
            %(body)s, %(hash)s, '', '', %(now)s, 0, false, '', %(now)s)
    ON CONFLICT (tenant_id, project_id, source_id, key)
    DO UPDATE SET body = excluded.body, content_hash = excluded.content_hash,
                  occurred_at = excluded.occurred_at, gone_at = NULL,
                  audience_id = excluded.audience_id
    RETURNING r.id
"""
PROVE_NODE = """
    INSERT INTO graph_evidence AS v (tenant_id, project_id, record_id, node_id, kind,
           part, quote, weight, via_source, via_target, assertion)
    VALUES (%(tenant)s, %(project)s, %(record)s, %(node)s, 'said', '', %(quote)s, 1,
            '', %(via)s, %(assertion)s)
    ON CONFLICT (tenant_id, project_id, record_id, node_id, edge_id, part, via_source,
                 via_target)
    DO UPDATE SET assertion = excluded.assertion
"""
# What was made for an edge has its own record now.
NO_LONGER_IMPLIED = """
    WITH met (id) AS (
        UPDATE graph_nodes n SET origin = %(origin)s
         WHERE n.id = %(node)s AND n.origin = 'implied' RETURNING n.id
    )
    DELETE FROM graph_evidence v USING met
     WHERE v.tenant_id = %(tenant)s AND v.project_id = %(project)s
       AND v.node_id = met.id AND v.kind = 'implied'
"""
MEET_NODE = """
    UPDATE graph_nodes n
       SET valid_to = NULL, gone_at = NULL, audience_id = %(audience)s,
           last_evidence_at = greatest(n.last_evidence_at, %(now)s), updated_at = now()
     WHERE n.id = %(node)s
"""
EDGE_THERE = """
    SELECT e.id FROM graph_edges e
     WHERE e.source_id = %s AND e.relation = %s AND e.target_id = %s
       AND e.tenant_id = %s AND e.project_id = %s AND e.scope_id IS NULL
       AND e.valid_from IS NULL AND e.valid_to IS NULL
"""
# Who says a node or an edge, and how: in words of their own, or read out of theirs.
SAYERS_OF_NODE = """
    SELECT s.kind = 'hand', v.kind = 'said', s.name,
           bool_or(r.audience_id = ANY(%(audiences)s))
      FROM graph_evidence v JOIN graph_records r ON r.id = v.record_id
      JOIN connections_source s ON s.id = r.source_id
     WHERE v.tenant_id = %(tenant)s AND v.project_id = %(project)s
       AND v.node_id = %(id)s
     GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
"""
SAYERS_OF_EDGE = SAYERS_OF_NODE.replace("v.node_id", "v.edge_id")
WORDS_ON_EDGE = """
    SELECT v.record_id, v.quote FROM graph_evidence v
     WHERE v.tenant_id = %(tenant)s AND v.project_id = %(project)s
       AND v.edge_id = %(id)s AND v.record_id IS NOT NULL
     ORDER BY v.id DESC
"""
# All of it is people's: who calls has looked.
TAKE_BACK_EDGE = """
    WITH said (record_id) AS (
        DELETE FROM graph_evidence v
         WHERE v.tenant_id = %(tenant)s AND v.project_id = %(project)s
           AND v.edge_id = %(id)s
        RETURNING v.record_id
    )
    UPDATE graph_records r SET gone_at = %(now)s FROM said WHERE r.id = said.record_id
"""
