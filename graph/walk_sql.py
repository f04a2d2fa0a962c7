"""SQL of walks: text only; `{allowed}` is a compiled queryset of nodes.

`LIVE` is what makes an edge one to walk, `WAY` the capped edges of one node in one
direction, `HOP` both directions; all walks are made of these.
"""

LIVE = """
    e.tenant_id = %s AND e.project_id = %s
    AND (%s::bigint[] IS NULL OR e.audience_id = ANY(%s::bigint[]))
    AND (%s::text[] IS NULL OR e.relation = ANY(%s::text[]))
    AND (e.valid_from IS NULL OR e.valid_from <= %s)
    AND (e.valid_to IS NULL OR e.valid_to > %s)
"""
ALLOWED = "(SELECT true FROM allowed WHERE allowed.id = e.{far})"

# The index gives the best edges first and has all that is asked of an edge. To look at
# the other end costs more than all else. Where the cap leaves nothing out it can wait
# until all ends are looked at together, so there are two {checked}: `always`, and only
# where the node has `more` edges than the cap. OFFSET 0 keeps a subquery to one run.
MORE = "crowd.is_over"
ALWAYS = "true"
WAY = """
    (SELECT way.far, way.edge, way.relation, {forward} AS forward, way.weight
       FROM (SELECT (SELECT true FROM graph_edges e
                      WHERE e.{near} = near.id AND {live} OFFSET %s LIMIT 1)
             OFFSET 0) AS crowd (is_over)
      CROSS JOIN LATERAL (
        SELECT e.{far} AS far, e.id AS edge, e.relation, e.weight
          FROM graph_edges e
         WHERE e.{near} = near.id AND {live}
           AND CASE WHEN {checked} THEN {is_allowed} ELSE true END
         ORDER BY e.weight DESC, e.occurred_at DESC NULLS LAST, e.id LIMIT %s) way)
"""


def _way(near: str, far: str, forward: str, checked: str) -> str:
    return WAY.format(
        near=near,
        far=far,
        forward=forward,
        live=LIVE,
        checked=checked,
        is_allowed=ALLOWED.format(far=far),
    )


def _hop(checked: str) -> str:
    out = _way("source_id", "target_id", "true", checked)
    return out + " UNION ALL " + _way("target_id", "source_id", "false", checked)


# Breadth first, a level a row: no node is walked from twice. What a level reached is
# looked at when the next one walks from it; the last level is left to the queryset
# that this becomes a condition of.
_REACHABLE = """
    WITH RECURSIVE allowed (id) AS NOT MATERIALIZED ({{allowed}}),
    walk (depth, reached, seen) AS (
        SELECT 0, seed.ids, seed.ids FROM (SELECT %s::bigint[]) AS seed (ids)
        UNION ALL
        SELECT walk.depth + 1, level.ids, walk.seen || level.ids
          FROM walk CROSS JOIN LATERAL (
            SELECT ARRAY(
                SELECT hop.far
                  FROM (SELECT allowed.id FROM allowed
                         WHERE allowed.id = ANY(walk.reached)) near
                 CROSS JOIN LATERAL ({hop}) hop
                EXCEPT SELECT unnest(walk.seen))
            OFFSET 0) AS level (ids)
         WHERE walk.depth < %s AND cardinality(walk.reached) > 0
    ) SELECT found.id FROM walk CROSS JOIN LATERAL unnest(walk.reached) AS found (id)
"""
_HOPS = """
    WITH allowed (id) AS NOT MATERIALIZED ({{allowed}})
    SELECT near.id, hop.far, hop.edge, hop.relation, hop.forward, hop.weight
      FROM (SELECT DISTINCT allowed.id FROM allowed
             WHERE allowed.id = ANY(%s::bigint[])) near
     CROSS JOIN LATERAL ({hop}) hop
     ORDER BY hop.weight DESC, hop.edge, near.id LIMIT %s
"""
# How many edges a node has in a direction, each counted no further than to a bound.
_COUNTS = """
    WITH allowed (id) AS NOT MATERIALIZED ({{allowed}})
    SELECT near.id, near.forward, counted.edges
      FROM unnest(%s::bigint[], %s::boolean[]) AS near (id, forward)
     CROSS JOIN LATERAL (
        SELECT count(*) FROM (
            (SELECT FROM graph_edges e
              WHERE near.forward AND e.source_id = near.id AND {live}
                AND {target_allowed} LIMIT %s)
            UNION ALL
            (SELECT FROM graph_edges e
              WHERE NOT near.forward AND e.target_id = near.id AND {live}
                AND {source_allowed} LIMIT %s)) edge
     ) AS counted (edges)
"""

# The edges within some steps of many nodes, each once, by their ends. Whether an end
# may be seen is not asked here: who reads the nodes themselves asks it once for all.
_WAYS = """
    WITH RECURSIVE walk (near, far, depth) AS (
        SELECT NULL::bigint, seed.id, 0 FROM unnest(%s::bigint[]) AS seed (id)
        UNION
        SELECT walk.far, hop.far, walk.depth + 1
          FROM walk CROSS JOIN LATERAL (
            (SELECT e.target_id AS far FROM graph_edges e
              WHERE e.source_id = walk.far AND {live}
              ORDER BY e.weight DESC, e.occurred_at DESC NULLS LAST, e.id LIMIT %s)
            UNION ALL
            (SELECT e.source_id FROM graph_edges e
              WHERE e.target_id = walk.far AND {live}
              ORDER BY e.weight DESC, e.occurred_at DESC NULLS LAST, e.id LIMIT %s)
          ) hop
         WHERE walk.depth < %s AND hop.far IS DISTINCT FROM walk.near
    )
    SELECT DISTINCT walk.near, walk.far FROM walk WHERE walk.near IS NOT NULL
"""
# Of many nodes those with an edge to one of some others.
_TIED = """
    SELECT DISTINCT e.source_id FROM graph_edges e
     WHERE e.source_id = ANY(%s::bigint[]) AND e.target_id = ANY(%s::bigint[]) AND {live}
"""

WAYS = _WAYS.format(live=LIVE)
TIED = _TIED.format(live=LIVE)
REACHABLE = _REACHABLE.format(hop=_hop(MORE))
HOPS = _HOPS.format(hop=_hop(ALWAYS))
COUNTS = _COUNTS.format(
    live=LIVE,
    target_allowed=ALLOWED.format(far="target_id"),
    source_allowed=ALLOWED.format(far="source_id"),
)
