"""What the ORM cannot say of communities: keys within a project, and their text gone
at once when the words it was made from change, vanish or may be seen by others.

A community's text quotes nodes. Between two refreshes a node may be corrected, pruned,
erased or get another audience; a trigger is what no writer of nodes can forget.
"""

from django.db import migrations

FOREIGN_KEYS = (
    ("retrieval_communities", "audience_id", "audiences", "NO ACTION"),
    (
        "retrieval_community_members",
        "community_id",
        "retrieval_communities",
        "CASCADE",
    ),
    ("retrieval_community_members", "node_id", "graph_nodes", "CASCADE"),
)
RUNS_KEY = (
    "ALTER TABLE retrieval_community_runs"
    " ADD CONSTRAINT retrieval_community_runs_project_of_tenant"
    " FOREIGN KEY (tenant_id, project_id)"
    " REFERENCES connections_project (tenant_id, id)",
    "ALTER TABLE retrieval_community_runs"
    " DROP CONSTRAINT retrieval_community_runs_project_of_tenant",
)
TRIGGERS = """
CREATE FUNCTION retrieval_take_community_text(
    of_tenant bigint, of_project bigint, of_community bigint
) RETURNS void LANGUAGE sql AS $$
    UPDATE retrieval_communities AS c
       SET title = '', summary = '[]', lexemes = '{}', title_lexemes = '{}',
           embedding = NULL
     WHERE c.tenant_id = of_tenant AND c.project_id = of_project
       AND c.id = of_community;
    UPDATE retrieval_community_runs AS r SET due_since = clock_timestamp()
     WHERE r.tenant_id = of_tenant AND r.project_id = of_project;
$$;

CREATE FUNCTION retrieval_node_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM retrieval_take_community_text(m.tenant_id, m.project_id, m.community_id)
       FROM retrieval_community_members m
      WHERE m.tenant_id = OLD.tenant_id AND m.project_id = OLD.project_id
        AND m.node_id = OLD.id AND m.is_evidence;
    IF NEW.trashed_at IS NOT NULL OR NEW.audience_id <> OLD.audience_id THEN
        DELETE FROM retrieval_community_members m
         WHERE m.tenant_id = OLD.tenant_id AND m.project_id = OLD.project_id
           AND m.node_id = OLD.id;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER retrieval_node_changed
    AFTER UPDATE OF title, content, audience_id, trashed_at ON graph_nodes
    FOR EACH ROW WHEN (
        (OLD.title, OLD.content, OLD.audience_id, OLD.trashed_at)
        IS DISTINCT FROM (NEW.title, NEW.content, NEW.audience_id, NEW.trashed_at)
    ) EXECUTE FUNCTION retrieval_node_changed();

CREATE FUNCTION retrieval_member_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM retrieval_take_community_text(
        OLD.tenant_id, OLD.project_id, OLD.community_id);
    RETURN NULL;
END $$;
CREATE TRIGGER retrieval_member_gone AFTER DELETE ON retrieval_community_members
    FOR EACH ROW WHEN (OLD.is_evidence) EXECUTE FUNCTION retrieval_member_gone();
"""
DROP_TRIGGERS = """
DROP TRIGGER retrieval_member_gone ON retrieval_community_members;
DROP FUNCTION retrieval_member_gone();
DROP TRIGGER retrieval_node_changed ON graph_nodes;
DROP FUNCTION retrieval_node_changed();
DROP FUNCTION retrieval_take_community_text(bigint, bigint, bigint);
"""
# Of things with a name only: the titles of a million mails would be most of the index
# of titles, and every word of a question is in thousands of them.
NAMES = """
CREATE INDEX retrieval_names_trigram ON graph_nodes
    USING gin ((title || ' ' || coalesce(metadata ->> 'path', '')) gin_trgm_ops)
    WHERE node_type IN ('file', 'meeting')
       OR (node_type = 'email' AND key LIKE '%#attachment-%');
"""


def _foreign_key(table: str, column: str, parent: str, action: str) -> tuple[str, str]:
    name = f"{table}_{column}_in_project"
    return (
        f"ALTER TABLE {table} ADD CONSTRAINT {name} "
        f"FOREIGN KEY (tenant_id, project_id, {column}) "
        f"REFERENCES {parent} (tenant_id, project_id, id) ON DELETE {action}",
        f"ALTER TABLE {table} DROP CONSTRAINT {name}",
    )


class Migration(migrations.Migration):
    dependencies = [("retrieval", "0002_communities_tables")]
    operations = [
        *(migrations.RunSQL(*_foreign_key(*key)) for key in FOREIGN_KEYS),
        migrations.RunSQL(*RUNS_KEY),
        migrations.RunSQL(TRIGGERS, DROP_TRIGGERS),
        migrations.RunSQL(NAMES, "DROP INDEX retrieval_names_trigram"),
    ]
