"""SQL of the queue's items: text only, one caller each."""

from __future__ import annotations

# What a finder found, as rows. A node that went meanwhile leaves nothing to decide.
_FOUND = """
    WITH found AS (
        SELECT f.* FROM unnest(
            %(subjects)s::text[], %(fingerprints)s::text[], %(whys)s::text[],
            %(audiences)s::bigint[], %(nodes)s::bigint[], %(others)s::bigint[],
            %(details)s::jsonb[], %(ages)s::int[], %(thresholds)s::int[],
            %(uses)s::int[], %(priorities)s::float8[])
            AS f (subject, fingerprint, why, audience_id, node_id, other_id, detail,
                  age_days, threshold, uses, priority)
         WHERE (f.node_id IS NULL OR EXISTS (
                    SELECT 1 FROM graph_nodes n
                     WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
                       AND n.id = f.node_id))
           AND (f.other_id IS NULL OR EXISTS (
                    SELECT 1 FROM graph_nodes n
                     WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
                       AND n.id = f.other_id))
    )
"""
# Items there are: an open or snoozed one learns what is known now. What was decided
# comes back with other evidence only; what was withdrawn, unless somebody decided on
# just this evidence before. Each is looked up by its key, whatever the planner thinks
# of a table that was empty a moment ago.
MEET = f"""
    {_FOUND}, held AS (
        SELECT i.id, i.state AS was, f.*,
               CASE WHEN i.state = 'decided' AND i.fingerprint <> f.fingerprint
                      THEN 'open'
                    WHEN i.state = 'withdrawn' AND NOT EXISTS (
                           SELECT 1 FROM graph_review_decisions d
                            WHERE d.tenant_id = i.tenant_id
                              AND d.project_id = i.project_id AND d.item_id = i.id
                              AND d.fingerprint = f.fingerprint AND d.undone_at IS NULL
                              AND d.verb NOT IN ('snooze', 'assign'))
                      THEN 'open'
                    ELSE i.state END AS becomes
          FROM found f CROSS JOIN LATERAL (
               SELECT g.* FROM graph_review_items g
                WHERE g.tenant_id = %(tenant)s AND g.project_id = %(project)s
                  AND g.kind = %(kind)s AND g.subject = f.subject
                  FOR NO KEY UPDATE OF g) i
    ), changed AS (
        UPDATE graph_review_items i
           SET state = h.becomes, fingerprint = h.fingerprint, why = h.why,
               audience_id = h.audience_id, node_id = h.node_id,
               other_id = h.other_id, detail = h.detail, age_days = h.age_days,
               threshold = h.threshold, uses = h.uses, priority = h.priority,
               flagged_at = CASE WHEN h.was = h.becomes THEN i.flagged_at
                                 ELSE %(now)s END,
               version = i.version + 1, changed_at = clock_timestamp()
          FROM held h
         WHERE i.id = h.id AND h.becomes IN ('open', 'snoozed')
           AND (i.state, i.fingerprint, i.why, i.audience_id, i.node_id, i.other_id,
                i.detail, i.age_days, i.threshold, i.uses, i.priority)
               IS DISTINCT FROM
               (h.becomes, h.fingerprint, h.why, h.audience_id, h.node_id, h.other_id,
                h.detail, h.age_days, h.threshold, h.uses, h.priority)
        RETURNING i.id
    )
    SELECT h.id, h.subject, h.was <> h.becomes, c.id IS NOT NULL
      FROM held h LEFT JOIN changed c ON c.id = h.id
"""  # noqa: S608
MAKE = f"""
    {_FOUND}
    INSERT INTO graph_review_items (
        tenant_id, project_id, audience_id, kind, subject, node_id, other_id,
        fingerprint, why, detail, age_days, threshold, uses, priority, state, version,
        flagged_at, changed_at)
    SELECT %(tenant)s, %(project)s, f.audience_id, %(kind)s, f.subject, f.node_id,
           f.other_id, f.fingerprint, f.why, f.detail, f.age_days, f.threshold, f.uses,
           f.priority, 'open', 0, %(now)s, clock_timestamp()
      FROM found f
    ON CONFLICT (tenant_id, project_id, kind, subject) DO NOTHING
    RETURNING id
"""  # noqa: S608
CLOCK = "SELECT clock_timestamp()"
WAITING = """
    SELECT i.id FROM graph_review_items i
     WHERE i.tenant_id = %(tenant)s AND i.project_id = %(project)s
       AND i.kind = %(kind)s AND i.state IN ('open', 'snoozed') AND i.id > %(after)s
     ORDER BY i.id LIMIT %(most)s
"""
# Not what came or was touched since the search began: the search may not have seen it.
WITHDRAW = """
    UPDATE graph_review_items i
       SET state = 'withdrawn', snoozed_until = NULL, version = i.version + 1,
           changed_at = clock_timestamp()
     WHERE i.tenant_id = %(tenant)s AND i.project_id = %(project)s
       AND i.id = ANY(%(ids)s) AND i.state IN ('open', 'snoozed')
       AND i.changed_at < %(began)s
"""
WAKE = """
    UPDATE graph_review_items i
       SET state = 'open', snoozed_until = NULL, version = i.version + 1,
           changed_at = clock_timestamp()
     WHERE i.tenant_id = %s AND i.project_id = %s AND i.state = 'snoozed'
       AND i.snoozed_until <= %s
"""
