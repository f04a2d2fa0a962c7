"""Observations held in their project by composite foreign keys, and read with their
text by any SQL client."""

from django.db import migrations

# A node takes its observation with it.
KEYS = """
ALTER TABLE observations ADD CONSTRAINT observations_node_id_in_project
    FOREIGN KEY (tenant_id, project_id, node_id)
    REFERENCES graph_nodes (tenant_id, project_id, id) ON DELETE CASCADE;
ALTER TABLE observations ADD CONSTRAINT observations_project_of_tenant
    FOREIGN KEY (tenant_id, project_id)
    REFERENCES connections_project (tenant_id, id);
ALTER TABLE memory_scopes ADD CONSTRAINT memory_scopes_project_of_tenant
    FOREIGN KEY (tenant_id, project_id)
    REFERENCES connections_project (tenant_id, id);
"""
NO_KEYS = """
ALTER TABLE observations DROP CONSTRAINT observations_node_id_in_project;
ALTER TABLE observations DROP CONSTRAINT observations_project_of_tenant;
ALTER TABLE memory_scopes DROP CONSTRAINT memory_scopes_project_of_tenant;
"""
VIEW = """
CREATE VIEW observations_with_text AS
SELECT o.node_id AS id, o.tenant_id, o.project_id, n.audience_id, n.key,
       o.observation_type, n.title, n.content, n.context, n.language, n.tags,
       n.metadata, n.occurred_at, n.valid_from, n.valid_to, n.search_vector,
       o.rationale, o.who, o.due_at, o.status,
       CASE WHEN o.is_pinned THEN o.strength
            ELSE o.strength * power(0.9, s.ticks - o.counted_at) END AS importance,
       o.is_pinned, o.is_shared, s.user_id, o.conversation_id, o.turn_id, o.origin,
       o.superseded_by_id, o.left_at, o.created_at, o.updated_at
  FROM observations o
  JOIN memory_scopes s ON s.id = o.scope_id
  JOIN graph_nodes n ON n.id = o.node_id
"""


class Migration(migrations.Migration):
    dependencies = [("memory", "0002_observations_tables")]
    operations = [
        migrations.RunSQL(KEYS, NO_KEYS),
        migrations.RunSQL(VIEW, "DROP VIEW observations_with_text"),
    ]
