"""SQL of what people, agents and memory write of their own: text only."""

from graph.sql import WORDS

EDGES = """
    INSERT INTO graph_edges AS e (tenant_id, project_id, audience_id, source_id,
           relation, target_id, weight, origin, occurred_at, created_at)
    SELECT %(tenant)s, %(project)s, d.audience, d.source, d.relation, d.target,
           d.weight, d.origin, d.occurred_at, %(now)s
      FROM unnest(%(audiences)s::bigint[], %(sources)s::bigint[],
                  %(relations)s::text[], %(targets)s::bigint[], %(weights)s::float8[],
                  %(origins)s::text[], %(moments)s::timestamptz[])
           AS d (audience, source, relation, target, weight, origin, occurred_at)
    ON CONFLICT (tenant_id, project_id, source_id, relation, target_id, scope_id,
                 valid_from)
    DO UPDATE SET weight = excluded.weight, audience_id = excluded.audience_id,
                  occurred_at = excluded.occurred_at, valid_to = NULL
    RETURNING e.id
"""
PROOF = """
    INSERT INTO graph_evidence (tenant_id, project_id, record_id, node_id, edge_id,
           kind, part, start, "end", quote)
    VALUES (%(tenant)s, %(project)s, %(record)s, %(node)s, %(edge)s, 'derived',
            %(part)s, %(start)s, %(end)s, %(quote)s)
    ON CONFLICT (tenant_id, project_id, record_id, node_id, edge_id, part, via_source,
                 via_target)
    DO UPDATE SET start = excluded.start, "end" = excluded."end",
                  quote = excluded.quote
"""
# The record that a node is described by, else the latest that proves it.
RECORDS_OF_NODES = """
    SELECT n.id, n.key, n.audience_id, n.title, n.content, r.id,
           coalesce(r.body, '')
      FROM graph_nodes n
      LEFT JOIN LATERAL (
           SELECT v.record_id FROM graph_evidence v
            WHERE v.tenant_id = n.tenant_id AND v.project_id = n.project_id
              AND v.node_id = n.id AND v.record_id IS NOT NULL
            ORDER BY v.record_id DESC LIMIT 1) proof ON n.record_id IS NULL
      LEFT JOIN graph_records r ON r.id = coalesce(n.record_id, proof.record_id)
     WHERE n.tenant_id = %s AND n.project_id = %s AND n.id = ANY(%s)
     ORDER BY n.id
"""
WAITING_AMONG = f"""
    SELECT n.id, {WORDS}, n.node_type, n.title, n.content, n.context
      FROM graph_nodes n
     WHERE n.id = ANY(%s) AND n.embedding_model_id IS NULL
     ORDER BY n.id
"""  # noqa: S608
CLOSE_NODES = """
    UPDATE graph_nodes n SET valid_to = %s, updated_at = now()
     WHERE n.id = ANY(%s) AND n.valid_to IS NULL
"""
REOPEN_NODE = """
    UPDATE graph_nodes n SET valid_to = NULL, updated_at = now() WHERE n.id = %s
"""
# An edge between what somebody wrote is seen by those who see both of its ends.
ENDS_OF_EDGES = """
    SELECT e.id, e.audience_id, s.audience_id, t.audience_id
      FROM graph_edges e
      JOIN graph_nodes s ON s.id = e.source_id
      JOIN graph_nodes t ON t.id = e.target_id
     WHERE e.tenant_id = %(tenant)s AND e.project_id = %(project)s
       AND e.origin = %(origin)s
       AND (e.source_id = ANY(%(nodes)s) OR e.target_id = ANY(%(nodes)s))
"""
SHOW_EDGES = """
    UPDATE graph_edges e SET audience_id = d.audience_id
      FROM unnest(%s::bigint[], %s::bigint[]) AS d (id, audience_id)
     WHERE e.id = d.id
"""
