"""The composite foreign keys of the review's tables, as those of 0003."""

from django.db import migrations

FOREIGN_KEYS = (
    ("graph_review_items", "audience_id", "audiences", "NO ACTION"),
    ("graph_review_items", "node_id", "graph_nodes", "CASCADE"),
    ("graph_review_items", "other_id", "graph_nodes", "CASCADE"),
    ("graph_review_decisions", "item_id", "graph_review_items", "CASCADE"),
    ("graph_trash", "audience_id", "audiences", "NO ACTION"),
    ("graph_trash", "node_id", "graph_nodes", "CASCADE"),
    (
        "graph_trash",
        "decision_id",
        "graph_review_decisions",
        "SET NULL (decision_id)",
    ),
)


def _foreign_key(table: str, column: str, parent: str, action: str) -> tuple[str, str]:
    name = f"{table}_{column}_in_project"
    return (
        f"ALTER TABLE {table} ADD CONSTRAINT {name} "
        f"FOREIGN KEY (tenant_id, project_id, {column}) "
        f"REFERENCES {parent} (tenant_id, project_id, id) ON DELETE {action}",
        f"ALTER TABLE {table} DROP CONSTRAINT {name}",
    )


THRESHOLDS = (
    "ALTER TABLE graph_stale_thresholds "
    "ADD CONSTRAINT graph_stale_thresholds_project_of_tenant "
    "FOREIGN KEY (tenant_id, project_id) REFERENCES connections_project (tenant_id, id)",
    "ALTER TABLE graph_stale_thresholds "
    "DROP CONSTRAINT graph_stale_thresholds_project_of_tenant",
)


class Migration(migrations.Migration):
    dependencies = [("graph", "0011_review_tables")]
    operations = [
        *(migrations.RunSQL(*_foreign_key(*key)) for key in FOREIGN_KEYS),
        migrations.RunSQL(*THRESHOLDS),
    ]
