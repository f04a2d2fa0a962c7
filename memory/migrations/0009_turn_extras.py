"""What a turn read besides what it cites, and what could be asked next."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memory", "0008_example_reading")]

    operations = [
        migrations.AddField(
            model_name="turn",
            name="also_read",
            field=models.JSONField(
                default=list, help_text="The nodes that were read and not cited, by id."
            ),
        ),
        migrations.AddField(
            model_name="turn",
            name="followups",
            field=models.JSONField(default=list, help_text="What could be asked next."),
        ),
    ]
