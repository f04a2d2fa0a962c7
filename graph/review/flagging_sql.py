"""SQL of the queue's items: text only, one caller each."""

from __future__ import annotations

# What a finder found, as rows of one text: arrays are quoted element by element. A node
# that went meanwhile leaves nothing to decide.
_FOUND = """
    WITH found AS MATERIALIZED (
        SELECT f.* FROM json_to_recordset(%(found)s::json)
            AS f (subject text, fingerprint text, why text, audience_id bigint,
                  node_id bigint, other_id bigint, detail jsonb, age_days int,
                  threshold int, uses int, priority float8)
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
# What is shown of a thing, on two sides.
_TOLD = (
    "fingerprint",
    "why",
    "audience_id",
    "node_id",
    "other_id",
    "detail",
    "age_days",
    "threshold",
    "uses",
    "priority",
)


def _is_told(there: str, new: str) -> str:
    """Return the condition that `there` tells another thing than `new`."""
    ours, theirs = (", ".join(f"{of}.{name}" for name in _TOLD) for of in (there, new))
    return f"({ours}) IS DISTINCT FROM ({theirs})"


# Nobody decided on just this evidence, to snooze or assign aside.
_IS_NEWS = """
    NOT EXISTS (
        SELECT 1 FROM graph_review_decisions d
         WHERE d.tenant_id = i.tenant_id AND d.project_id = i.project_id
           AND d.item_id = i.id AND d.fingerprint = excluded.fingerprint
           AND d.undone_at IS NULL AND d.verb NOT IN ('snooze', 'assign'))
"""
_WAITS = "i.state IN ('open', 'snoozed')"
# What a conflict would leave as it is. It is left out before: to meet a conflict locks
# the row, and so writes it. Not where the kind had no item when the search began: the
# planner, which knows of none, would go through all of them for each.
_KNOWN = f"""
    NOT %(is_first)s AND EXISTS (
        SELECT 1 FROM graph_review_items i
         WHERE i.tenant_id = %(tenant)s AND i.project_id = %(project)s
           AND i.kind = %(kind)s AND i.subject = f.subject
           AND (i.state = 'decided' AND i.fingerprint = f.fingerprint
                OR {_WAITS} AND NOT {_is_told("i", "f")}))
"""  # noqa: S608
# Makes what is new. An open or snoozed one learns what is known now; what was decided
# comes back with other evidence only; what was withdrawn, unless somebody decided on
# just this evidence before. What is there is looked up by the key's own index, as a
# conflict: the planner of a table that was empty a moment ago would take another.
PUT = f"""
    {_FOUND}, put AS (
    INSERT INTO graph_review_items AS i (
        tenant_id, project_id, audience_id, kind, subject, node_id, other_id,
        fingerprint, why, detail, age_days, threshold, uses, priority, state, version,
        flagged_at, changed_at)
    SELECT %(tenant)s, %(project)s, f.audience_id, %(kind)s, f.subject, f.node_id,
           f.other_id, f.fingerprint, f.why, f.detail, f.age_days, f.threshold, f.uses,
           f.priority, 'open', 0, %(now)s, clock_timestamp()
      FROM found f WHERE NOT ({_KNOWN})
    ON CONFLICT (tenant_id, project_id, kind, subject) DO UPDATE
       SET state = CASE WHEN {_WAITS} THEN i.state ELSE 'open' END,
           fingerprint = excluded.fingerprint, why = excluded.why,
           audience_id = excluded.audience_id, node_id = excluded.node_id,
           other_id = excluded.other_id, detail = excluded.detail,
           age_days = excluded.age_days, threshold = excluded.threshold,
           uses = excluded.uses, priority = excluded.priority,
           flagged_at = CASE WHEN {_WAITS} THEN i.flagged_at
                             ELSE excluded.flagged_at END,
           version = i.version + 1, changed_at = clock_timestamp()
     WHERE CASE i.state
           WHEN 'decided' THEN i.fingerprint <> excluded.fingerprint
           WHEN 'withdrawn' THEN {_IS_NEWS}
           ELSE {_is_told("i", "excluded")} END
    -- As it was when the statement began.
    RETURNING i.version = 0 AS is_new, (
        SELECT was.state FROM graph_review_items was WHERE was.id = i.id) AS was)
    SELECT (SELECT count(*) FROM found),
           (SELECT coalesce(array_agg(hashtextextended(f.subject, 0)), '{{}}')
              FROM found f),
           count(*) FILTER (WHERE p.is_new),
           count(*) FILTER (WHERE p.was IN ('decided', 'withdrawn')), count(*)
      FROM put p
"""  # noqa: S608
CLOCK = """
    SELECT clock_timestamp(), NOT EXISTS (
        SELECT 1 FROM graph_review_items i
         WHERE i.tenant_id = %(tenant)s AND i.project_id = %(project)s
           AND i.kind = %(kind)s)
"""
WAITING = """
    SELECT i.id, hashtextextended(i.subject, 0) FROM graph_review_items i
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
