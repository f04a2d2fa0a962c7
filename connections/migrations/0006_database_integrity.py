"""What the ORM cannot say of databases: all of a row is of one project."""

from django.db import migrations

PROJECT = (
    "FOREIGN KEY (tenant_id, project_id) REFERENCES connections_project (tenant_id, id)"
)
AUDIENCE = (
    "FOREIGN KEY (tenant_id, project_id, audience_id)"
    " REFERENCES audiences (tenant_id, project_id, id)"
)
KEYS = (
    ("databases", "databases_project_of_tenant", PROJECT),
    ("databases", "databases_audience_of_project", AUDIENCE),
    ("database_queries", "database_queries_project_of_tenant", PROJECT),
)


def key(table: str, name: str, refers: str) -> tuple[str, str]:
    return (
        f"ALTER TABLE {table} ADD CONSTRAINT {name} {refers}"
        " DEFERRABLE INITIALLY DEFERRED",
        f"ALTER TABLE {table} DROP CONSTRAINT {name}",
    )


class Migration(migrations.Migration):
    dependencies = [("connections", "0005_databases_tables")]
    operations = [migrations.RunSQL(*key(*one)) for one in KEYS]
