"""SQL of erasing what retrieval holds: text only, one caller each."""

TAKE_TEXTS = """
    UPDATE retrieval_communities AS c
       SET title = '', summary = '[]', lexemes = '{}', title_lexemes = '{}',
           embedding = NULL
     WHERE c.tenant_id = %(tenant)s AND c.project_id = %(project)s
       AND c.id IN (SELECT m.community_id FROM retrieval_community_members m
                     WHERE m.tenant_id = %(tenant)s AND m.project_id = %(project)s
                       AND m.node_id = ANY(%(nodes)s))
       AND (c.title <> '' OR c.embedding IS NOT NULL)
"""
