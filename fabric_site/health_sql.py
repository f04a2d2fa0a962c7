"""SQL of the health pages: text only, one caller each."""

TABLE_ROWS = """
    SELECT t.relname::text, t.n_live_tup FROM pg_stat_user_tables t
     WHERE t.relname IN ('graph_nodes', 'graph_edges', 'graph_records',
                         'graph_evidence', 'conversations', 'turns')
     ORDER BY t.relname
"""
RUNS_BY_STATE = """
    SELECT r.state, count(*) FROM connections_syncrun r
     GROUP BY r.state ORDER BY r.state
"""
