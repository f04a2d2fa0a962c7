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
