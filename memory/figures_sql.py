"""SQL of the daily figures of answers: text only, one caller each."""

ANSWERS = """
    SELECT (t.created_at AT TIME ZONE %(zone)s)::date AS day,
           CASE WHEN t.state <> 'done' THEN t.state
                WHEN t.grounded THEN 'grounded' ELSE 'without sources' END AS label,
           count(*)
      FROM turns t JOIN conversations c ON c.id = t.conversation_id
     WHERE c.tenant_id = %(tenant)s AND c.project_id = %(project)s
       AND t.created_at >= %(since)s AND t.created_at < %(until)s
     GROUP BY day, label
     ORDER BY day, label
"""

FEEDBACK = """
    SELECT (f.created_at AT TIME ZONE %(zone)s)::date AS day, f.verdict, count(*)
      FROM turn_feedback f
      JOIN turns t ON t.id = f.turn_id
      JOIN conversations c ON c.id = t.conversation_id
     WHERE c.tenant_id = %(tenant)s AND c.project_id = %(project)s
       AND f.created_at >= %(since)s AND f.created_at < %(until)s
     GROUP BY day, f.verdict
     ORDER BY day, f.verdict
"""

# Of each cited passage, the retrievers (arms) that had found it.
ARMS = """
    SELECT (t.created_at AT TIME ZONE %(zone)s)::date AS day, arm.name, count(*)
      FROM citations q
      JOIN turns t ON t.id = q.turn_id
      JOIN conversations c ON c.id = t.conversation_id
     CROSS JOIN LATERAL jsonb_object_keys(q.contributions) arm (name)
     WHERE c.tenant_id = %(tenant)s AND c.project_id = %(project)s
       AND t.created_at >= %(since)s AND t.created_at < %(until)s
       AND jsonb_typeof(q.contributions) = 'object'
     GROUP BY day, arm.name
     ORDER BY day, arm.name
"""
