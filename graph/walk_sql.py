"""SQL of walks: text only; `{allowed}` is a compiled queryset of nodes.

`LIVE` is what makes an edge one to walk, `WAY` the capped edges of one node in one
direction, `HOP` both directions, `LEVEL` those of many nodes; all walks are made of
these.
"""

LIVE = """
    e.tenant_id = %s AND e.project_id = %s
    AND (%s::bigint[] IS NULL OR e.audience_id = ANY(%s::bigint[]))
    AND (%s::text[] IS NULL OR e.relation = ANY(%s::text[]))
    AND (e.valid_from IS NULL OR e.valid_from <= %s)
    AND (e.valid_to IS NULL OR e.valid_to > %s)
"""
# The index gives the best edges first, and has all that is asked of an edge.
WAY = """
    (SELECT e.{far} AS far, e.id AS edge, e.relation, {forward} AS forward, e.weight,
            e.occurred_at
       FROM graph_edges e
      WHERE e.{near} = near.id AND {live}
        AND e.{far} IN (SELECT allowed.id FROM allowed)
      ORDER BY e.weight DESC, e.occurred_at DESC NULLS LAST, e.id LIMIT %s)
"""


def _way(near: str, far: str, forward: str) -> str:
    return WAY.format(near=near, far=far, forward=forward, live=LIVE)


HOP = (
    _way("source_id", "target_id", "true")
    + " UNION ALL "
    + _way("target_id", "source_id", "false")
)
BEST = "{0}.weight DESC, {0}.occurred_at DESC NULLS LAST, {0}.edge"
# A level: out of the nodes in their order, until it has the edges it may have. Ordinals
# come sorted, so the nodes after that are not looked at.
LEVEL = """
    SELECT near.id AS near, hop.*
      FROM {near} WITH ORDINALITY AS near (id, place)
     CROSS JOIN LATERAL ({hop}) hop
     ORDER BY near.place LIMIT %s
"""
SEEDS = """
    ARRAY(SELECT seed.id FROM unnest(%s::bigint[]) WITH ORDINALITY AS seed (id, place)
           WHERE seed.id IN (SELECT allowed.id FROM allowed) ORDER BY seed.place)
"""
# Breadth first, a level a row: no node is walked from twice, those that the best edges
# led to are the first. OFFSET 0 keeps a level to one run, for the planner would write
# it out wherever its ids are used.
_REACHABLE = """
    WITH RECURSIVE allowed (id) AS NOT MATERIALIZED ({{allowed}}),
    walk (depth, reached, seen) AS (
        SELECT 0, seed.ids, seed.ids FROM (SELECT {seeds} OFFSET 0) AS seed (ids)
        UNION ALL
        SELECT walk.depth + 1, level.ids, walk.seen || level.ids
          FROM walk CROSS JOIN LATERAL (
            SELECT ARRAY(
                SELECT new.far
                  FROM (SELECT DISTINCT ON (hop.far)
                               hop.far, hop.weight, hop.occurred_at, hop.edge
                          FROM ({level}) hop
                         WHERE hop.far NOT IN (SELECT unnest(walk.seen))
                         ORDER BY hop.far, {best_hop}) new
                 ORDER BY {best_new})
            OFFSET 0) AS level (ids)
         WHERE walk.depth < %s AND cardinality(walk.reached) > 0
    ) SELECT {found} FROM walk CROSS JOIN LATERAL unnest(walk.reached) AS found (id)
"""
_HOPS = """
    WITH allowed (id) AS NOT MATERIALIZED ({{allowed}})
    SELECT hop.near, hop.far, hop.edge, hop.relation, hop.forward, hop.weight
      FROM ({level}) hop ORDER BY {best_hop}, hop.near
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
                AND e.target_id IN (SELECT allowed.id FROM allowed) LIMIT %s)
            UNION ALL
            (SELECT FROM graph_edges e
              WHERE NOT near.forward AND e.target_id = near.id AND {live}
                AND e.source_id IN (SELECT allowed.id FROM allowed) LIMIT %s)) edge
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
_TEXTS = {
    "seeds": SEEDS,
    "level": LEVEL.format(near="unnest(walk.reached)", hop=HOP),
    "best_hop": BEST.format("hop"),
    "best_new": BEST.format("new"),
}
REACHABLE = _REACHABLE.format(**_TEXTS, found="found.id")
DISTANCES = _REACHABLE.format(**_TEXTS, found="found.id, walk.depth")
HOPS = _HOPS.format(
    level=LEVEL.format(near=f"unnest({SEEDS})", hop=HOP), best_hop=BEST.format("hop")
)
COUNTS = _COUNTS.format(live=LIVE)
