"""What the ORM cannot say of model keys and their cost: a project is its tenant's."""

from django.db import migrations

TABLES = ("model_credentials", "model_usage")


def key(table: str) -> tuple[str, str]:
    name = f"{table}_project_of_tenant"
    return (
        f"ALTER TABLE {table} ADD CONSTRAINT {name} FOREIGN KEY (tenant_id, project_id)"
        " REFERENCES connections_project (tenant_id, id)"
        " DEFERRABLE INITIALLY DEFERRED",
        f"ALTER TABLE {table} DROP CONSTRAINT {name}",
    )


class Migration(migrations.Migration):
    dependencies = [("connections", "0003_model_keys_tables")]
    operations = [migrations.RunSQL(*key(table)) for table in TABLES]
