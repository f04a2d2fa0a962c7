"""Indexes that hold all a walk asks, so that it reads no rows; a tie goes by id."""

from django.db import migrations, models
from django.db.models import F, OrderBy


def _edges(near: str, far: str, name: str) -> migrations.AddIndex:
    return migrations.AddIndex(
        model_name="edge",
        index=models.Index(
            F("tenant"),
            F("project"),
            F(near),
            OrderBy(F("weight"), descending=True),
            OrderBy(F("occurred_at"), descending=True, nulls_last=True),
            F("id"),
            include=(far, "audience", "relation", "valid_from", "valid_to"),
            name=name,
        ),
    )


class Migration(migrations.Migration):
    dependencies = [("graph", "0005_extraction")]
    operations = [
        migrations.RemoveIndex(model_name="edge", name="graph_edges_out"),
        migrations.RemoveIndex(model_name="edge", name="graph_edges_in"),
        _edges("source", "target", "graph_edges_out"),
        _edges("target", "source", "graph_edges_in"),
        migrations.AddIndex(
            model_name="node",
            index=models.Index(
                fields=["id"],
                include=(
                    "tenant",
                    "project",
                    "audience",
                    "trashed_at",
                    "valid_from",
                    "valid_to",
                ),
                name="graph_nodes_walk",
            ),
        ),
    ]
