# Generated: the admin's proxy of nodes that are persons. It changes no table.

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("graph", "0003_integrity")]

    operations = [
        migrations.CreateModel(
            name="Person",
            fields=[],
            options={"proxy": True, "indexes": [], "constraints": []},
            bases=("graph.node",),
        ),
    ]
