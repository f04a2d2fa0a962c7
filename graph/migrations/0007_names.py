"""Things by the first and the last word of their name, for finding them in texts."""

from django.db import migrations, models
from django.db.models import functions


class Migration(migrations.Migration):
    dependencies = [
        ("graph", "0006_walk_indexes"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="node",
            index=models.Index(
                models.F("tenant"),
                models.F("project"),
                models.Func(
                    functions.Lower(functions.Left("title", 100)),
                    models.Value("\\w+"),
                    function="substring",
                ),
                models.Func(
                    functions.Lower(functions.Left("title", 100)),
                    models.Value("(\\w+)\\W*$"),
                    function="substring",
                ),
                condition=models.Q(
                    (
                        "node_type__in",
                        (
                            "account",
                            "address",
                            "community",
                            "db_column",
                            "db_table",
                            "domain",
                            "email",
                            "episode",
                            "folder",
                            "message",
                            "name",
                            "section",
                            "sentence",
                            "thread",
                        ),
                    ),
                    _negated=True,
                ),
                name="graph_nodes_named",
            ),
        ),
    ]
