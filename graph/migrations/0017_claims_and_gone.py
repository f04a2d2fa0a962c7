"""Indexes of the nodes that the review looks through: claims, and what is gone."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("graph", "0016_positions"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="node",
            index=models.Index(
                condition=models.Q(
                    (
                        "node_type__in",
                        (
                            "blocker",
                            "commitment",
                            "decision",
                            "fact",
                            "insight",
                            "pattern",
                            "preference",
                            "risk",
                            "technology",
                        ),
                    )
                ),
                fields=["tenant", "project", "id"],
                name="graph_nodes_claims",
            ),
        ),
        migrations.AddIndex(
            model_name="node",
            index=models.Index(
                condition=models.Q(("gone_at__isnull", False)),
                fields=["tenant", "project", "id"],
                name="graph_nodes_gone",
            ),
        ),
    ]
