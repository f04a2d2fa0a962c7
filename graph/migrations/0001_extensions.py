"""Extensions. pgvector is not a trusted one: where it is missing, say the line to run."""

from django.db import DatabaseError, migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

NEEDED = "0.8"
ADVICE = (
    "This database needs the extension pgvector {needed} or newer ({found}). "
    'As a superuser of it run: psql -d {database} -c "CREATE EXTENSION vector" '
    "(or ALTER EXTENSION vector UPDATE), then migrate again."
)


def check_vector(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    connection = schema_editor.connection
    with connection.cursor() as cursor:
        cursor.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
        row = cursor.fetchone()
        if row is None:
            try:
                cursor.execute("SAVEPOINT extension")
                cursor.execute("CREATE EXTENSION vector")
                return
            except DatabaseError:
                cursor.execute("ROLLBACK TO SAVEPOINT extension")
    if row is None or tuple(map(int, row[0].split(".")[:2])) < (0, 8):
        found = f"there is {row[0]}" if row else "there is none"
        database = connection.settings_dict["NAME"]
        raise SystemExit(ADVICE.format(needed=NEEDED, found=found, database=database))


class Migration(migrations.Migration):
    dependencies = []
    operations = [
        migrations.RunPython(check_vector, migrations.RunPython.noop),
        migrations.RunSQL(
            "CREATE EXTENSION IF NOT EXISTS pg_trgm", migrations.RunSQL.noop
        ),
    ]
