"""A place in the picture holds for the audience it was found for."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("graph", "0017_claims_and_gone")]

    operations = [
        migrations.AddField(
            model_name="nodeposition",
            name="seen_by",
            field=models.BigIntegerField(default=0),
        ),
    ]
