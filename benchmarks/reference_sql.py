"""The reference statement of search: what is simple, right, and reads every row."""

from __future__ import annotations

_REFERENCE = """
    WITH q AS (SELECT %(vector)s::vector AS v, {question} AS t),
    scored AS (
        SELECT n.id, 1 - (n.embedding <=> q.v) AS sim,
               ts_rank_cd(n.search_vector, q.t) AS txt
          FROM graph_nodes n, q
         WHERE n.project_id = %(project)s
           AND (1 - (n.embedding <=> q.v) > 0.2 OR n.search_vector @@ q.t)),
    ranked AS (
        SELECT id, row_number() OVER (ORDER BY sim DESC NULLS LAST, id) AS v_rank,
                   row_number() OVER (ORDER BY txt DESC, id) AS t_rank FROM scored)
    SELECT id, 1.0 / (60 + v_rank) + 1.0 / (60 + t_rank) AS score
      FROM ranked ORDER BY score DESC, id LIMIT %(limit)s
"""
REQUIRED = _REFERENCE.format(question="websearch_to_tsquery('english', %(question)s)")
ANY_WORD = _REFERENCE.format(question="to_tsquery('english', %(words)s)")

# Of equally near nodes any will do: ids settle it as in the arm.
NEAREST = """
    SELECT n.key FROM graph_nodes n
     WHERE n.project_id = %s AND n.node_type <> ALL(%s) AND n.trashed_at IS NULL
       AND n.embedding IS NOT NULL
     ORDER BY n.embedding <=> %s::vector, n.id LIMIT %s
"""
WALK = """
    WITH RECURSIVE walk (id, depth) AS (
        SELECT %(start)s::bigint, 0
        UNION
        SELECT CASE WHEN e.source_id = walk.id THEN e.target_id ELSE e.source_id END,
               walk.depth + 1
          FROM walk JOIN graph_edges e
            ON e.source_id = walk.id OR e.target_id = walk.id
         WHERE walk.depth < %(depth)s
    ) SELECT DISTINCT walk.id FROM walk
"""
