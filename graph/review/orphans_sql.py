"""SQL of what nothing leads to and nobody says: text only, one caller each."""

# Nothing leads to it but what is in the trash, and nobody who is there says it.
_BARE = """
       AND n.valid_to IS NULL AND n.trashed_at IS NULL
       AND (n.origin = ANY(%(origins)s) OR n.node_type IN ('tag', 'topic'))
       AND n.origin <> 'memory'
       AND NOT EXISTS (SELECT 1 FROM graph_edges e
                         JOIN graph_nodes o ON o.id = e.target_id
                          AND o.trashed_at IS NULL
                        WHERE e.tenant_id = n.tenant_id
                          AND e.project_id = n.project_id AND e.source_id = n.id
                          AND (e.valid_to IS NULL OR e.valid_to > %(now)s))
       AND NOT EXISTS (SELECT 1 FROM graph_edges e
                         JOIN graph_nodes o ON o.id = e.source_id
                          AND o.trashed_at IS NULL
                        WHERE e.tenant_id = n.tenant_id
                          AND e.project_id = n.project_id AND e.target_id = n.id
                          AND (e.valid_to IS NULL OR e.valid_to > %(now)s))
       AND NOT EXISTS (SELECT 1 FROM graph_evidence v
                         JOIN graph_records r ON r.id = v.record_id
                        WHERE v.tenant_id = n.tenant_id
                          AND v.project_id = n.project_id AND v.node_id = n.id
                          AND r.gone_at IS NULL)
"""
ORPHANS = f"""
    SELECT n.id, n.key, n.node_type, n.title, n.content, n.origin, n.audience_id,
           (SELECT count(*) FROM graph_evidence v
             WHERE v.tenant_id = n.tenant_id AND v.project_id = n.project_id
               AND v.node_id = n.id AND v.record_id IS NOT NULL)
      FROM graph_nodes n
     WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
       AND (%(nodes)s::bigint[] IS NULL OR n.id = ANY(%(nodes)s))
       {_BARE}
     ORDER BY n.id
"""  # noqa: S608
NAMED_ORPHANS = f"""
    SELECT n.id, n.key FROM graph_nodes n
     WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
       {_BARE}
"""  # noqa: S608
WAITING = """
    SELECT i.node_id FROM graph_review_items i
     WHERE i.tenant_id = %(tenant)s AND i.project_id = %(project)s
       AND i.kind = 'orphan' AND i.state IN ('open', 'snoozed')
       AND i.node_id IS NOT NULL
     ORDER BY i.id DESC LIMIT %(most)s
"""
WITHDRAW_OTHERS = """
    UPDATE graph_review_items i
       SET state = 'withdrawn', snoozed_until = NULL, version = i.version + 1,
           changed_at = clock_timestamp()
     WHERE i.tenant_id = %(tenant)s AND i.project_id = %(project)s
       AND i.kind = 'orphan' AND i.state IN ('open', 'snoozed')
       AND i.node_id = ANY(%(nodes)s) AND i.node_id <> ALL(%(found)s)
"""
