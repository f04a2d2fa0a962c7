"""Names that are erased from somebody's own messages alone, and bare first names."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("graph", "0020_queue_orders")]
    operations = [
        migrations.AddField(
            model_name="erasedname",
            name="anonymous",
            field=models.BooleanField(
                default=False,
                help_text="Of a key: what it writes is read, without its author. Of a "
                "name: it is taken out of that alone.",
            ),
        ),
        migrations.AddField(
            model_name="erasedname",
            name="as_written",
            field=models.BooleanField(
                default=False,
                help_text="A first name: taken out only in these very letters.",
            ),
        ),
    ]
