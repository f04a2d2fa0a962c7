"""SQL that deletes what may not be seen of a schema: text only, one caller each."""

DELETE_NODES_OF = """
    DELETE FROM graph_nodes n USING graph_records r
     WHERE n.tenant_id = %s AND n.project_id = %s
       AND n.tenant_id = r.tenant_id AND n.project_id = r.project_id
       AND n.record_id = r.id AND r.source_id = %s AND r.key = ANY(%s)
"""
DELETE_NODES = """
    DELETE FROM graph_nodes n
     WHERE n.tenant_id = %s AND n.project_id = %s AND n.node_type = 'db_column'
       AND n.key = ANY(%s)
"""
DELETE_RECORDS = """
    DELETE FROM graph_records r
     WHERE r.tenant_id = %s AND r.project_id = %s AND r.source_id = %s
       AND r.key = ANY(%s)
"""
DELETE_NODES_OF_SOURCE = """
    DELETE FROM graph_nodes n USING graph_records r
     WHERE n.tenant_id = %s AND n.project_id = %s AND n.tenant_id = r.tenant_id
       AND n.project_id = r.project_id AND n.record_id = r.id AND r.source_id = %s
"""
