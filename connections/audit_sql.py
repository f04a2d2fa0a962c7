"""SQL of the audit: text only, one caller each."""

# Chains with rows that wait. By the partial index of those, one step a tenant.
WAITING_CHAINS = """
    SELECT DISTINCT a.tenant_id FROM audit a WHERE a.position IS NULL ORDER BY 1
"""

_ROW = """
    a.id, a.tenant_id, a.project_id, a.at, a.actor_id, a.token_id, a.verb, a.target,
    a.detail_sha256
"""

WAITING = f"""
    SELECT {_ROW} FROM audit a
     WHERE a.position IS NULL AND a.tenant_id IS NOT DISTINCT FROM %(tenant)s
     ORDER BY a.id LIMIT %(limit)s
"""  # noqa: S608 # columns of ours

SEAL = """
    UPDATE audit SET position = given.position, seal = given.seal
      FROM unnest(%(ids)s::bigint[], %(positions)s::bigint[], %(seals)s::text[])
           AS given (id, position, seal)
     WHERE audit.id = given.id AND audit.position IS NULL
"""

# The next rows of a chain with their details; both by an index, in the chain's order.
SEALED = f"""
    SELECT {_ROW}, a.position, a.seal, d.salt, d.detail::text
      FROM audit a LEFT JOIN audit_details d ON d.audit_id = a.id
     WHERE a.tenant_id = %(tenant)s AND a.position IS NOT NULL
       AND (a.position, a.id) > (%(position)s, %(id)s)
       AND a.position <= %(last)s
     ORDER BY a.position, a.id LIMIT %(limit)s
"""  # noqa: S608 # columns of ours
SEALED_OF_NOBODY = SEALED.replace("a.tenant_id = %(tenant)s", "a.tenant_id IS NULL")

# Both in one statement: what is sealed meanwhile is never seen without its head.
BEYOND = """
    SELECT count(*) FILTER (WHERE a.position IS NULL),
           count(*) FILTER (WHERE a.position > coalesce(h.position, 0)),
           min(a.position) FILTER (WHERE a.position > coalesce(h.position, 0))
      FROM audit a LEFT JOIN audit_heads h ON h.chain = %(chain)s
     WHERE a.tenant_id IS NOT DISTINCT FROM %(tenant)s
       AND (a.position IS NULL OR a.position > coalesce(h.position, 0))
"""

CHAINS = """
    WITH RECURSIVE chain (tenant_id) AS (
        SELECT min(a.tenant_id) FROM audit a
        UNION ALL
        SELECT (SELECT min(a.tenant_id) FROM audit a WHERE a.tenant_id > chain.tenant_id)
          FROM chain WHERE chain.tenant_id IS NOT NULL
    )
    SELECT chain.tenant_id FROM chain WHERE chain.tenant_id IS NOT NULL
    UNION
    SELECT h.chain FROM audit_heads h WHERE h.chain > 0
    UNION
    SELECT 0 WHERE EXISTS (SELECT 1 FROM audit a WHERE a.tenant_id IS NULL)
                OR EXISTS (SELECT 1 FROM audit_heads h WHERE h.chain = 0)
    ORDER BY 1
"""

# The verbs of a tenant: one step of the index each, whatever the number of rows.
VERBS = """
    WITH RECURSIVE known (verb) AS (
        SELECT min(a.verb) FROM audit a WHERE a.tenant_id = %(tenant)s
        UNION ALL
        SELECT (SELECT min(a.verb) FROM audit a
                 WHERE a.tenant_id = %(tenant)s AND a.verb > known.verb)
          FROM known WHERE known.verb IS NOT NULL
    ) SELECT known.verb FROM known WHERE known.verb IS NOT NULL
"""
VERBS_OF_NOBODY = VERBS.replace("a.tenant_id = %(tenant)s", "a.tenant_id IS NULL")

# As the index of migration 0009 has it, to the letter.
WITH_WORDS = """
    (SELECT d.audit_id FROM audit_details d
      WHERE to_tsvector('simple', left(d.detail::text, 100000))
            @@ plainto_tsquery('simple', %s))
"""

# Details past their time, the oldest first; only of rows that the chain holds.
ERASE = """
    WITH due (id) AS (
        SELECT d.audit_id FROM audit_details d JOIN audit a ON a.id = d.audit_id
         WHERE a.at < %(before)s AND a.position IS NOT NULL
         ORDER BY d.audit_id LIMIT %(limit)s
    ), gone (id) AS (
        DELETE FROM audit_details d USING due WHERE d.audit_id = due.id
        RETURNING d.audit_id
    )
    SELECT a.tenant_id, count(*) FROM gone JOIN audit a ON a.id = gone.id
     GROUP BY a.tenant_id ORDER BY 1
"""

EXPORTED = f"""
    SELECT {_ROW}, a.position, a.seal, d.salt, d.detail::text
      FROM audit a LEFT JOIN audit_details d ON d.audit_id = a.id
     WHERE a.id > %(after)s AND a.at >= %(since)s AND a.at < %(until)s
       AND {{which}}
     ORDER BY a.id LIMIT %(limit)s
"""  # noqa: S608 # columns of ours

# A row with its detail; `commit` is what this transaction's commit is to wait for.
NOTE = """
    WITH row (id) AS (
        INSERT INTO audit (tenant_id, project_id, at, actor_id, token_id, verb, target,
               detail_sha256, seal)
        VALUES (%(tenant)s, %(project)s, now(), %(actor)s, %(token)s, %(verb)s,
                %(target)s, %(hash)s, '')
        RETURNING id
    )
    INSERT INTO audit_details (audit_id, salt, detail)
    SELECT row.id, %(salt)s, %(detail)s::jsonb
      FROM row
     CROSS JOIN (SELECT CASE WHEN %(commit)s <> '' THEN
                        set_config('synchronous_commit', %(commit)s, true) END) AS asked
    RETURNING audit_id
"""
