"""SQL of erasing what memory holds: text only, one caller each."""

# Answers that cite or were given from one of the nodes, and all later ones of their
# conversations, which were written with these in view.
TURNS_FROM = """
    WITH named (key) AS (
        SELECT n.key FROM graph_nodes n WHERE n.id = ANY(%(nodes)s)
    ), resting (conversation_id, id) AS (
        SELECT t.conversation_id, t.id
          FROM turns t JOIN conversations c ON c.id = t.conversation_id
         WHERE c.tenant_id = %(tenant)s AND c.project_id = %(project)s
           AND (EXISTS (SELECT 1 FROM citations q
                         WHERE q.turn_id = t.id
                           AND (q.node_id = ANY(%(nodes)s)
                                OR q.key IN (SELECT k.key FROM named k)))
                OR EXISTS (SELECT 1 FROM jsonb_array_elements_text(t.also_read)
                                    AS read (node)
                            WHERE read.node ~ '^[0-9]+$'
                              AND read.node::bigint = ANY(%(nodes)s)))
    )
    SELECT t.id FROM turns t
      JOIN (SELECT r.conversation_id, min(r.id) AS first FROM resting r
             GROUP BY r.conversation_id) since
        ON since.conversation_id = t.conversation_id AND t.id >= since.first
"""
TURNS_UNSAID = """
    WITH unsaid (conversation_id, id) AS (
        SELECT t.conversation_id, t.id FROM citations q
          JOIN turns t ON t.id = q.turn_id
          JOIN graph_nodes n ON n.id = q.node_id
         WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
           AND q.node_id = ANY(%(nodes)s) AND q.quote <> ''
           AND strpos(regexp_replace(n.title || ' ' || n.content, '\\s+', ' ', 'g'),
                      regexp_replace(q.quote, '\\s+', ' ', 'g')) = 0
    )
    SELECT t.id FROM turns t
      JOIN (SELECT u.conversation_id, min(u.id) AS first FROM unsaid u
             GROUP BY u.conversation_id) since
        ON since.conversation_id = t.conversation_id AND t.id >= since.first
"""
# Of the observations at what goes: those with no proof but from it, that nobody wrote
# by hand. What was closed for want of proof has had its last one from here or nowhere.
UNSUPPORTED_BY = """
    SELECT o.node_id FROM observations o
     WHERE o.tenant_id = %(tenant)s AND o.project_id = %(project)s
       AND (o.origin <> 'hand' OR o.node_id = ANY(%(gone)s))
       AND (o.node_id = ANY(%(nodes)s) OR o.left_because = 'unsupported'
            OR o.turn_id = ANY(%(turns)s))
       AND NOT EXISTS (SELECT 1 FROM graph_evidence v
                        WHERE v.tenant_id = o.tenant_id
                          AND v.project_id = o.project_id AND v.node_id = o.node_id
                          AND v.record_id <> ALL(%(records)s))
"""
DETAILS_OF = """
    DELETE FROM audit_details d USING audit a
     WHERE a.id = d.audit_id AND a.tenant_id = %(tenant)s
       AND a.project_id = %(project)s AND a.target = ANY(%(targets)s)
"""
REVIEW_OF_TURNS = """
    DELETE FROM graph_review_items i
     WHERE i.tenant_id = %(tenant)s AND i.project_id = %(project)s
       AND i.kind = 'feedback'
       AND i.subject IN (SELECT 'turn:' || t FROM unnest(%(turns)s::bigint[]) AS t
                         UNION SELECT 'feedback:' || f.id FROM turn_feedback f
                                WHERE f.turn_id = ANY(%(turns)s))
"""
