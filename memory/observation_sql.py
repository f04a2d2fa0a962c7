"""SQL of observations: text only, one caller each."""

SCOPE = """
    INSERT INTO memory_scopes (tenant_id, project_id, user_id, ticks)
    VALUES (%s, %s, %s, 0)
    ON CONFLICT (tenant_id, project_id, user_id) DO NOTHING
"""
# An end of the conversation waits for none of this, and deleting it waits for all.
HOLD_CONVERSATION = """
    SELECT c.id FROM conversations c WHERE c.id = %s FOR KEY SHARE OF c
"""
# The candidates of which one may say nearly the same.
NEARLY_SAID = """
    SELECT o.node_id, n.content
      FROM observations o JOIN graph_nodes n ON n.id = o.node_id
     WHERE o.scope_id = %(scope)s AND o.observation_type = %(type)s
       AND o.left_at IS NULL AND o.superseded_by_id IS NULL
       AND (o.leaves_at IS NULL OR o.leaves_at > %(ticks)s)
       AND n.valid_to IS NULL AND n.trashed_at IS NULL
       AND n.search_vector @@ %(words)s::tsquery
     ORDER BY o.node_id LIMIT %(most)s
"""
REFER = """
    INSERT INTO observation_references (observation_id, conversation_id, created_at)
    SELECT o.node_id, c.id, %(now)s
      FROM conversations c
      JOIN observations o ON o.tenant_id = c.tenant_id AND o.project_id = c.project_id
      JOIN memory_scopes s ON s.id = o.scope_id
     WHERE c.id = %(conversation)s AND o.node_id = ANY(%(nodes)s)
       AND (s.user_id IS NULL OR s.user_id = c.user_id)
       AND o.left_at IS NULL AND o.superseded_by_id IS NULL
       AND (o.leaves_at IS NULL OR o.leaves_at > s.ticks)
     ORDER BY o.node_id
    ON CONFLICT (observation_id, conversation_id) DO NOTHING
"""
# The end of a conversation.
NOT_ENDED = """
    SELECT c.tenant_id, c.project_id, c.user_id FROM conversations c
     WHERE c.id = %s AND c.ended_at IS NULL FOR NO KEY UPDATE OF c
"""
# The user's before the project's, as everywhere: nobody waits in a circle.
SCOPES_OF = """
    SELECT s.id, s.user_id IS NULL, s.ticks, s.last_tick_on FROM memory_scopes s
     WHERE s.tenant_id = %s AND s.project_id = %s
       AND (s.user_id = %s OR s.user_id IS NULL)
     ORDER BY s.user_id NULLS LAST FOR NO KEY UPDATE OF s
"""
IN_CONVERSATION = """
    SELECT o.node_id, o.scope_id, o.strength, o.counted_at, o.is_pinned,
           o.is_protected, o.conversation_id = %(conversation)s AS is_born, true
      FROM observations o
     WHERE o.left_at IS NULL AND o.superseded_by_id IS NULL AND o.node_id IN (
           SELECT r.observation_id FROM observation_references r
            WHERE r.conversation_id = %(conversation)s)
    UNION ALL
    SELECT o.node_id, o.scope_id, o.strength, o.counted_at, o.is_pinned,
           o.is_protected, true, false
      FROM observations o
     WHERE o.conversation_id = %(conversation)s AND o.left_at IS NULL
       AND o.superseded_by_id IS NULL AND NOT EXISTS (
           SELECT 1 FROM observation_references r
            WHERE r.conversation_id = %(conversation)s
              AND r.observation_id = o.node_id)
     ORDER BY 1
"""
END = """
    WITH clock AS (
        UPDATE memory_scopes s SET ticks = d.ticks, last_tick_on = d.last_tick_on
          FROM unnest(%(scopes)s::bigint[], %(ticks)s::bigint[], %(days)s::date[])
               AS d (id, ticks, last_tick_on)
         WHERE s.id = d.id AND s.ticks <> d.ticks
    ), counted AS (
        UPDATE observations o
           SET strength = d.strength, counted_at = d.counted_at,
               leaves_at = d.leaves_at, updated_at = %(now)s,
               conversations = o.conversations + d.referenced
          FROM unnest(%(nodes)s::bigint[], %(strengths)s::float8[],
                      %(counted_at)s::bigint[], %(leaves_at)s::bigint[],
                      %(referenced)s::int[])
               AS d (node_id, strength, counted_at, leaves_at, referenced)
         WHERE o.node_id = d.node_id
    )
    UPDATE conversations c SET ended_at = %(now)s WHERE c.id = %(conversation)s
"""
# Co-occurrence.
COUNT_PAIRS = """
    INSERT INTO observation_pairs AS p (one_id, other_id, together)
    SELECT a.id, b.id, 1
      FROM unnest(%(nodes)s::bigint[]) AS a (id)
      JOIN unnest(%(nodes)s::bigint[]) AS b (id) ON a.id < b.id
     ORDER BY a.id, b.id
    ON CONFLICT (one_id, other_id) DO UPDATE SET together = p.together + 1
"""
# Pairs of which either was referenced: one alone makes their weight less. Only those
# whose edge is missing or has drifted: an end must not rewrite all that it touches.
UNWEIGHED_PAIRS = """
    SELECT n.project_id, p.one_id, p.other_id, w.weight, n.audience_id, m.audience_id
      FROM observation_pairs p
      JOIN observations a ON a.node_id = p.one_id
      JOIN observations b ON b.node_id = p.other_id
      JOIN graph_nodes n ON n.id = p.one_id
      JOIN graph_nodes m ON m.id = p.other_id
     CROSS JOIN LATERAL (
           SELECT p.together::float8 / (a.conversations + b.conversations - p.together)
                  AS weight) w
      LEFT JOIN graph_edges e
        ON e.tenant_id = n.tenant_id AND e.project_id = n.project_id
       AND e.source_id = p.one_id AND e.target_id = p.other_id
       AND e.relation = %(relation)s AND e.valid_to IS NULL
     WHERE (p.one_id = ANY(%(nodes)s) OR p.other_id = ANY(%(nodes)s))
       AND p.together >= %(least)s
       AND (e.id IS NULL OR abs(e.weight - w.weight) > %(drift)s * w.weight)
     ORDER BY p.one_id, p.other_id
"""
# What has faded.
LEAVE = """
    WITH due (node_id) AS (
        SELECT o.node_id FROM observations o
          JOIN memory_scopes s ON s.id = o.scope_id
         WHERE o.scope_id = %(scope)s AND o.left_at IS NULL
           AND o.leaves_at <= s.ticks
         ORDER BY o.leaves_at LIMIT %(most)s FOR UPDATE OF o SKIP LOCKED
    ), gone (node_id) AS (
        UPDATE observations o SET left_at = %(now)s, left_because = 'faded'
          FROM due WHERE o.node_id = due.node_id RETURNING o.node_id
    )
    UPDATE graph_nodes n SET valid_to = %(now)s, updated_at = now()
      FROM gone WHERE n.id = gone.node_id
"""
SCOPES_WITH_DUE = """
    SELECT s.id FROM memory_scopes s
     WHERE EXISTS (SELECT 1 FROM observations o
                    WHERE o.scope_id = s.id AND o.left_at IS NULL
                      AND o.leaves_at <= s.ticks)
     ORDER BY s.id
"""
DUE_NODES = """
    SELECT o.node_id FROM memory_scopes s
      JOIN observations o ON o.scope_id = s.id
     WHERE s.tenant_id = %(tenant)s AND s.project_id = %(project)s
       AND (%(user)s::bigint IS NULL OR s.user_id IS NULL OR s.user_id = %(user)s)
       AND o.left_at IS NULL AND o.leaves_at <= s.ticks
     ORDER BY o.leaves_at DESC LIMIT %(most)s
"""
# What superseded them goes: they do not come back, and have their 30 days.
ORPHANED_BY = """
    UPDATE observations o
       SET left_at = %(now)s, left_because = 'superseded', superseded_by_id = NULL,
           leaves_at = NULL
     WHERE o.superseded_by_id = ANY(%(nodes)s) AND o.left_at IS NULL
"""
EXPIRED = """
    SELECT o.node_id FROM observations o
     WHERE o.left_at < %s ORDER BY o.left_at LIMIT %s
"""
# Support: the cited node is named in the part of the evidence, after `memory:`. One in
# the trash may come back, and goes on to support until it is deleted.
UNSAID = """
    SELECT v.id, v.quote, coalesce(c.content, ''), coalesce(c.title, ''), r.body
      FROM graph_evidence v
      JOIN graph_records r ON r.id = v.record_id
      LEFT JOIN graph_nodes c ON c.tenant_id = v.tenant_id
       AND c.project_id = v.project_id AND c.key = substr(v.part, 8)
       AND (c.valid_to IS NULL OR c.gone_at IS NOT NULL)
     WHERE v.tenant_id = %s AND v.project_id = %s AND v.kind = 'derived'
       AND starts_with(v.part, 'memory:')
       AND (c.id IS NULL OR strpos(c.content, v.quote) = 0)
"""
FORGET_PROOFS = "DELETE FROM graph_evidence v WHERE v.id = ANY(%s)"
# No proof is left, nor a memory of people that it was taken from.
UNSUPPORTED = """
    SELECT o.node_id FROM observations o JOIN graph_nodes n ON n.id = o.node_id
     WHERE (%(project)s::bigint IS NULL OR o.project_id = %(project)s)
       AND o.origin <> 'hand' AND o.left_at IS NULL
       AND o.superseded_by_id IS NULL
       AND NOT EXISTS (SELECT 1 FROM graph_evidence v
                        WHERE v.tenant_id = o.tenant_id
                          AND v.project_id = o.project_id AND v.node_id = o.node_id)
       AND NOT EXISTS (SELECT 1 FROM graph_edges e
                         JOIN graph_nodes t ON t.id = e.target_id
                        WHERE e.tenant_id = o.tenant_id
                          AND e.project_id = o.project_id AND e.source_id = o.node_id
                          AND e.relation = 'supported_by' AND e.valid_to IS NULL
                          AND t.origin = 'memory' AND t.valid_to IS NULL)
"""
DROP_UNSUPPORTED = """
    UPDATE observations o SET left_at = %s, left_because = 'unsupported'
     WHERE o.node_id = ANY(%s) AND o.left_at IS NULL
"""
END_UNPROVEN_SUPPORT = """
    UPDATE graph_edges e SET valid_to = %(now)s
     WHERE (%(project)s::bigint IS NULL OR e.project_id = %(project)s)
       AND e.relation = 'supported_by' AND e.origin = 'memory' AND e.valid_to IS NULL
       AND NOT EXISTS (SELECT 1 FROM graph_evidence v
                        WHERE v.tenant_id = e.tenant_id
                          AND v.project_id = e.project_id AND v.edge_id = e.id)
       AND NOT EXISTS (SELECT 1 FROM graph_nodes t
                        WHERE t.id = e.target_id AND t.origin = 'memory')
"""
# Who may see what observations rest on, in groups that are alike.
AUDIENCES = """
    SELECT o.owner_id, o.is_shared, o.evidence_audience_id, n.audience_id, given.cited,
           array_agg(o.node_id ORDER BY o.node_id)
      FROM observations o
      JOIN graph_nodes n ON n.id = o.node_id
     CROSS JOIN LATERAL (
           SELECT coalesce(array_agg(DISTINCT t.audience_id ORDER BY t.audience_id),
                           '{}') AS cited
             FROM graph_edges e JOIN graph_nodes t ON t.id = e.target_id
            WHERE e.tenant_id = o.tenant_id AND e.project_id = o.project_id
              AND e.source_id = o.node_id AND e.relation = 'supported_by') given
     WHERE o.tenant_id = %(tenant)s AND o.project_id = %(project)s
       AND (%(nodes)s::bigint[] IS NULL OR o.node_id = ANY(%(nodes)s))
     GROUP BY 1, 2, 3, 4, 5
"""
SHOW_OBSERVATIONS = """
    WITH narrowed AS (
        UPDATE observations o SET evidence_audience_id = %(evidence)s
         WHERE o.node_id = ANY(%(nodes)s)
           AND o.evidence_audience_id IS DISTINCT FROM %(evidence)s
    )
    UPDATE graph_nodes n SET audience_id = %(audience)s, updated_at = now()
     WHERE n.id = ANY(%(nodes)s) AND n.audience_id <> %(audience)s
"""
