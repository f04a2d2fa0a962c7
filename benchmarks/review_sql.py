"""SQL that fills a queue of reviews for its benchmark: text only."""

NODES = """
    INSERT INTO graph_nodes (tenant_id, project_id, audience_id, key, node_type, content,
           origin, embedding_model_id)
    SELECT %(tenant)s, %(project)s,
           CASE WHEN i %% 10 = 0 THEN %(closed)s ELSE %(public)s END,
           'decision:' || i, 'decision', 'We decided on number ' || i || '.',
           'extraction', %(model)s
      FROM generate_series(1, %(nodes)s) AS i
"""
ITEMS = """
    INSERT INTO graph_review_items (tenant_id, project_id, audience_id, kind, subject,
           node_id, fingerprint, why, detail, age_days, threshold, uses, priority,
           state, version, assigned_to_id, flagged_at, changed_at)
    SELECT n.tenant_id, n.project_id, n.audience_id,
           (%(kinds)s::text[])[1 + i %% cardinality(%(kinds)s::text[])],
           'item:' || i, n.id, md5(i::text), 'It is old.', '{}', 90 + i %% 400, 90,
           i %% 50, (1 + ln(1 + i %% 50)) * (90 + i %% 400) / 90.0, 'open', 0,
           CASE WHEN i %% 20 = 0 THEN %(user)s END, now(), now()
      FROM generate_series(1, %(items)s) AS i
      JOIN graph_nodes n ON n.tenant_id = %(tenant)s AND n.project_id = %(project)s
       AND n.key = 'decision:' || (1 + i %% %(nodes)s)
"""
