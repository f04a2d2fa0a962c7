"""The letters that words of a project are written in, for what a slip may have meant."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("retrieval", "0004_hint_names"),
    ]

    operations = [
        migrations.AddField(
            model_name="lexemecount",
            name="letters",
            field=models.TextField(default="abcdefghijklmnopqrstuvwxyz"),
        ),
    ]
